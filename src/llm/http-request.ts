// One HTTP request through Node's own client. Node's fetch parses answers with a WebAssembly module that every process compiles
// anew: 130 ms of a thread, for which a command waits at its end.
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";

/** Redirects are not followed. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Ends the request and its answer; pending promises reject. */
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Bytes, read on demand; rejects when the connection breaks before the end. */
  readonly body: AsyncIterableIterator<Uint8Array>;
}

/** Sends a request to an `http:` or `https:` address; resolves with the head of the answer, rejects when none comes. */
export async function sendHttp(url: URL, { method, headers, body: text, signal }: HttpRequest): Promise<HttpAnswer> {
  const request = url.protocol === "https:" ? requestTls : requestPlain;
  const sent = { ...headers, "accept-encoding": "identity" };
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    signal.throwIfAborted();
    const outgoing = request(url, { method, headers: sent }, resolve);
    outgoing.on("error", reject);
    // Destroyed without an error, and not by the `signal` option: an idle connection has no error listener.
    const end = (): void => void outgoing.destroy();
    signal.addEventListener("abort", end, { once: true });
    // Some connections close without an answer or an error, e.g. when a server switches protocols unasked.
    outgoing.on("close", () => {
      signal.removeEventListener("abort", end);
      reject(new Error("closed without an answer"));
    });
    if (text === null) outgoing.end();
    else outgoing.end(text);
  });
  // A reader of the body gets the error; without a reader it does not matter.
  incoming.on("error", () => undefined);
  const body = decompressed(incoming);
  return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: body.iterator() };
}

/** Some servers compress although `identity` was asked for. */
function decompressed(incoming: IncomingMessage): Readable {
  const packing = /^\s*(?:x-)?(gzip|deflate|br)\s*$/i.exec(incoming.headers["content-encoding"] ?? "")?.[1];
  if (packing === undefined) return incoming;
  // An error of one stream reaches the reader of the other.
  return pipeline(incoming, packing.toLowerCase() === "br" ? createBrotliDecompress() : createUnzip(), () => undefined);
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return headers;
}
