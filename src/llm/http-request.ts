// One HTTP request through Node's own client. Node's fetch reads answers with a WebAssembly parser that every process compiles
// anew: 130 ms of a thread, for which a command waits at its end.
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";

/** What is sent; redirects are not followed. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Ends the request and its answer; what waits for them rejects. */
  readonly signal: AbortSignal;
}

/** The head of an answer, and its body as it comes. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Bytes, read only when they are asked for; rejects when the connection breaks before their end. */
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
    // Without an error, and not by the option of the same name: a connection that is idle by then has nobody who listens.
    const end = (): void => void outgoing.destroy();
    signal.addEventListener("abort", end, { once: true });
    // Some ends bring neither an answer nor an error: a server that switches protocols unasked.
    outgoing.on("close", () => {
      signal.removeEventListener("abort", end);
      reject(new Error("closed without an answer"));
    });
    if (text === null) outgoing.end();
    else outgoing.end(text);
  });
  // Whoever reads the body sees it; an answer that nobody reads may break.
  incoming.on("error", () => undefined);
  const body = decompressed(incoming);
  return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: body.iterator() };
}

/** Some servers pack also what they are asked for as it is. */
function decompressed(incoming: IncomingMessage): Readable {
  const packing = /^\s*(?:x-)?(gzip|deflate|br)\s*$/i.exec(incoming.headers["content-encoding"] ?? "")?.[1];
  if (packing === undefined) return incoming;
  // What breaks the one breaks the other, whose reader sees it.
  return pipeline(incoming, packing.toLowerCase() === "br" ? createBrotliDecompress() : createUnzip(), () => undefined);
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return headers;
}
