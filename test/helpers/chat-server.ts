// A model server on loopback that speaks OpenAI's chat API as a test wants it to: one function answers each request, in
// its own time. Keeps what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request body, as far as tests look at it. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly unknown[];
}

/** The stream of one answer. */
export interface ChatStream {
  /** Sends a piece of text. */
  text(text: string): void;
  /** Sends a call, whole; `args` as they stand on the wire. */
  call(name: string, args: string, index?: number): void;
  /** Ends the answer. */
  finish(reason?: "stop" | "tool_calls" | "length" | "content_filter"): void;
  /** Breaks the connection once what was said has left. */
  cut(): void;
  /** Answers with an error in place of a stream. */
  fail(status: number, message: string, code?: string): void;
  /** Resolves when the other side has gone. */
  readonly closed: Promise<void>;
}

export type ChatAnswer = (stream: ChatStream, body: ChatBody, request: number) => void | Promise<void>;

export interface ChatServer {
  /** With `/v1` at the end. */
  readonly url: string;
  readonly requests: ChatBody[];
  /** Settings that make `test/model-1` of this server the model of every conversation. */
  readonly config: string;
  close(): Promise<void>;
}

/** Starts a server. `windowTokens` = the context window that it tells of its model; absent = it does not say. */
export async function startChatServer(answer: ChatAnswer, windowTokens?: number): Promise<ChatServer> {
  const requests: ChatBody[] = [];
  const model = { id: "model-1", ...(windowTokens === undefined ? {} : { context_length: windowTokens }) };
  const server = createServer((request, response) => {
    if (request.method === "GET") return void sendJson(response, 200, { object: "list", data: [model] });
    void readBody(request).then(async (body) => {
      requests.push(body);
      await answer(createStream(response), body, requests.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    requests,
    config: `[conversation]\nmodel = "test/model-1"\n[providers.test]\nbase_url = "${url}"\napi_key = "invented"\n`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createStream(response: ServerResponse): ChatStream {
  const send = (choice: object, more: object = {}): void => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { id: "chat-1", object: "chat.completion.chunk", created: 1, model: "model-1", ...more };
    response.write(
      `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`,
    );
  };
  return {
    text: (content) => send({ delta: { role: "assistant", content } }),
    call: (name, args, index = 0) =>
      send({
        delta: { tool_calls: [{ index, id: `call-${index}`, type: "function", function: { name, arguments: args } }] },
      }),
    finish: (reason = "stop") => {
      send(
        { delta: {}, finish_reason: reason },
        { usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 } },
      );
      response.end("data: [DONE]\n\n");
    },
    cut: () => void response.write("", () => response.destroy()),
    fail: (status, message, code) =>
      sendJson(response, status, { error: { message, type: "error", code: code ?? null } }),
    closed: new Promise((resolve) => response.on("close", () => resolve())),
  };
}

async function readBody(request: IncomingMessage): Promise<ChatBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatBody;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
