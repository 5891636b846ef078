// A model on loopback that speaks the four APIs that agents speak, plain and streamed. It answers every request with the same words
// and keeps what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export type ModelApi = "anthropic" | "openai-chat" | "openai-responses" | "google";

type Json = Readonly<Record<string, unknown>>;

/** A request that asked for an answer. */
export interface AskedRequest {
  readonly api: ModelApi;
  readonly body: Json;
}

export interface ModelServer {
  /** Without a path. */
  readonly url: string;
  /** In order. */
  readonly requests: readonly AskedRequest[];
  close(): Promise<void>;
}

/** Starts a server; to be closed. */
export async function startModelServer(words = "Understood."): Promise<ModelServer> {
  const requests: AskedRequest[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://model").pathname;
    void readJson(request).then((body) => {
      const api = apiOf(path);
      if (request.method !== "POST") sendOther(response, path);
      else if (/count_?tokens$/i.test(path)) sendJson(response, { input_tokens: 1000, totalTokens: 1000 });
      else if (api === null) sendJson(response, { error: { message: `no such path: ${path}` } }, 404);
      else {
        requests.push({ api, body });
        ANSWERS[api](response, body, { words, path });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function apiOf(path: string): ModelApi | null {
  if (path.endsWith("/messages")) return "anthropic";
  if (path.endsWith("/chat/completions")) return "openai-chat";
  if (path.endsWith("/responses")) return "openai-responses";
  return /:(?:stream)?GenerateContent$/i.test(path) ? "google" : null;
}

/** Models are listed; Codex asks for a WebSocket first, and takes plain requests when told to. */
function sendOther(response: ServerResponse, path: string): void {
  if (path.endsWith("/models"))
    sendJson(response, { object: "list", data: [{ id: "made-up-model", object: "model" }] });
  else sendJson(response, { error: { message: "not here" } }, path.endsWith("/responses") ? 426 : 404);
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  try {
    const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
    return JSON.parse(plain.toString()) as Json;
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

type Row = readonly [event: string | null, data: object | string];

function sendRows(response: ServerResponse, rows: readonly Row[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [event, data] of rows) {
    const name = event === null ? "" : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

type Answer = (response: ServerResponse, body: Json, asked: { readonly words: string; readonly path: string }) => void;

const ANSWERS: Readonly<Record<ModelApi, Answer>> = {
  anthropic(response, { model, stream }, { words }) {
    const usage = { input_tokens: 100, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const message = { id: "msg_made_up", type: "message", role: "assistant", model, stop_sequence: null, usage };
    const block = { type: "text", text: words };
    if (stream !== true) return sendJson(response, { ...message, content: [block], stop_reason: "end_turn" });
    const rows = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: words } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ];
    sendRows(
      response,
      rows.map((row) => [row.type, row]),
    );
  },
  "openai-chat"(response, { model, stream }, { words }) {
    const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
    const message = { role: "assistant", content: words };
    const head = { id: "chat-made-up", created: 1, model };
    if (stream !== true) {
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return sendJson(response, { ...head, object: "chat.completion", choices, usage });
    }
    const chunk = { ...head, object: "chat.completion.chunk" };
    sendRows(response, [
      [null, { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] }],
      [null, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }],
      [null, "[DONE]"],
    ]);
  },
  "openai-responses"(response, { model, stream }, { words }) {
    const usage = { input_tokens: 100, output_tokens: 5, total_tokens: 105 };
    const part = { type: "output_text", text: words, annotations: [] };
    const item = { type: "message", id: "item_made_up", role: "assistant", status: "completed", content: [part] };
    const whole = {
      id: "resp_made_up",
      object: "response",
      created_at: 1,
      status: "completed",
      model,
      output: [item],
      usage,
    };
    if (stream !== true) return sendJson(response, whole);
    const at = { item_id: item.id, output_index: 0, content_index: 0 };
    const rows = [
      { type: "response.created", response: { ...whole, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.output_text.delta", ...at, delta: words },
      { type: "response.output_text.done", ...at, text: words },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: whole },
    ];
    sendRows(
      response,
      rows.map((row, sequence) => [row.type, { ...row, sequence_number: sequence }]),
    );
  },
  google(response, _body, { words, path }) {
    const candidates = [{ content: { role: "model", parts: [{ text: words }] }, finishReason: "STOP", index: 0 }];
    const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 5, totalTokenCount: 105 };
    const whole = { candidates, usageMetadata, modelVersion: "made-up-model" };
    if (/:stream/i.test(path)) sendRows(response, [[null, whole]]);
    else sendJson(response, whole);
  },
};
