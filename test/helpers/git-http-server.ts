// The real `git http-backend` behind a server on loopback, which can be made to fail in the ways that servers do.
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { QUIET_GIT } from "./temp-repository.ts";

/** How a server behaves. */
export interface ServerState {
  /**
   * `cut`: the connection breaks in the middle of what is sent; `vanish`: before any answer; `hang`: no answer ever comes; `slow`: a
   * pack comes in small pieces, until the server is well again.
   */
  fault: "none" | "500" | "cut" | "vanish" | "hang" | "slow";
  /** Called when a request has come. */
  onRequest?: (method: string) => void;
  /** Bytes of all answers so far. */
  sent: number;
  /** Connections so far. */
  connections: number;
  /** `user:password` that it asks for; null = everybody may come in. */
  login: string | null;
}

export interface GitHttpServer {
  readonly url: string;
  /** May be changed at any time. */
  readonly state: ServerState;
  close(): Promise<void>;
}

/** Serves the bare repositories below a folder; `url` is that of the folder. */
export async function startGitHttpServer(folder: string): Promise<GitHttpServer> {
  const state: ServerState = { fault: "none", login: null, sent: 0, connections: 0 };
  const server = createServer((request, response) => answer(folder, { request, response, state }));
  server.on("connection", () => state.connections++);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly state: ServerState;
}

function answer(folder: string, { request, response, state }: Exchange): void {
  const { fault, login } = state;
  state.onRequest?.(request.method ?? "");
  const expected = login === null ? undefined : `Basic ${Buffer.from(login).toString("base64")}`;
  const isTransfer = request.method === "POST";
  if (expected !== undefined && request.headers.authorization !== expected)
    response.writeHead(401, { "www-authenticate": 'Basic realm="talks"' }).end();
  else if (fault === "hang") return;
  else if (fault === "vanish") request.socket.destroy();
  else if (fault === "500" && isTransfer) response.writeHead(500).end("broken");
  else serve(folder, request, { response, state, isCut: fault === "cut" && isTransfer });
}

/** Runs the backend as a CGI program: its environment tells it what is asked, its output begins with headers. */
function serve(
  folder: string,
  request: IncomingMessage,
  { response, state, isCut }: Omit<Exchange, "request"> & { readonly isCut: boolean },
): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const { headers } = request;
  const child = spawn("git", ["-c", "http.receivepack=true", "http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      ...QUIET_GIT,
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: headers["content-type"],
      HTTP_CONTENT_ENCODING: headers["content-encoding"],
      GIT_PROTOCOL: headers["git-protocol"] as string | undefined,
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  const output: Buffer[] = [];
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.on("close", () => {
    const all = Buffer.concat(output);
    state.sent += all.length;
    send(response, all, { isCut, state });
  });
}

function send(
  response: ServerResponse,
  output: Buffer,
  { isCut, state }: { readonly isCut: boolean; readonly state: ServerState },
): void {
  const end = output.indexOf("\r\n\r\n");
  const head = output.toString("latin1", 0, end).split("\r\n");
  const headers = Object.fromEntries(head.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const { Status: status = "200", ...rest } = headers;
  const body = output.subarray(end + 4);
  response.writeHead(Number.parseInt(status, 10), isCut ? { ...rest, "content-length": body.length } : rest);
  if (!isCut) sendPieces(response, body, state);
  else response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
}

/** Bytes of an answer that holds a pack, at least. */
const PACK_BYTES = 4096;
/** What a slow answer comes in, bytes, and the time between two, milliseconds. */
const PIECE_BYTES = 256;
const BETWEEN_MS = 50;

function sendPieces(response: ServerResponse, body: Buffer, state: ServerState): void {
  if (state.fault !== "slow" || body.length < PACK_BYTES) response.end(body);
  else
    response.write(body.subarray(0, PIECE_BYTES), () =>
      setTimeout(() => sendPieces(response, body.subarray(PIECE_BYTES), state), BETWEEN_MS),
    );
}
