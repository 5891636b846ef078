// A server on a real socket whose every byte a test decides: for what a mock of an API cannot do.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed; null without one. */
  readonly body: unknown;
}

export type Responder = (response: ServerResponse, request: RawRequest) => unknown;

export interface RawServer {
  readonly url: string;
  /** What came in, in order. */
  readonly requests: readonly RawRequest[];
  close(): Promise<void>;
}

/** Starts a server that answers each request with the next responder; the last one answers all that follow. */
export async function startRawServer(...responders: readonly Responder[]): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === "" ? null : JSON.parse(text);
      const request = { method: incoming.method!, url: incoming.url!, headers: incoming.headers, body };
      requests.push(request);
      responders[Math.min(requests.length, responders.length) - 1]!(response, request);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Responder {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Starts an event stream and writes blocks, each as one chunk; it stays open. */
export function openStream(response: ServerResponse, blocks: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const block of blocks) response.write(block);
}

/** Answers with a whole event stream. */
export function stream(...blocks: readonly string[]): Responder {
  return (response) => {
    openStream(response, blocks);
    response.end();
  };
}

/** Answers with the beginning of an event stream, then tears the connection. */
export function torn(...blocks: readonly string[]): Responder {
  return (response) => {
    openStream(response, blocks);
    // The bytes must have left before the connection goes.
    response.write("", () => response.destroy());
  };
}

/** Answers with the beginning of an event stream, then says nothing more. */
export function stalled(...blocks: readonly string[]): Responder {
  return (response) => openStream(response, blocks);
}

/** Never answers. */
export const silent: Responder = () => undefined;

/** One block of an event stream. */
export function block(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}
