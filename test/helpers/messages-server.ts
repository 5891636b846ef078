// A model server on loopback that speaks Anthropic's Messages API, as the real agents ask it: one function reads each request that
// offers tools and says what the model does. Keeps what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request body, as far as tests look at it. */
export interface MessagesBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly stream?: boolean;
}

/** What the model does. */
export type MessagesAnswer = { readonly text: string } | { readonly call: string; readonly input: object };

export interface MessagesServer {
  readonly url: string;
  /** The requests that offered tools, in order. */
  readonly requests: readonly MessagesBody[];
  close(): Promise<void>;
}

/** Starts a server; a request without tools (titles and the like) is answered with a word. */
export async function startMessagesServer(answer: (body: MessagesBody) => MessagesAnswer): Promise<MessagesServer> {
  const requests: MessagesBody[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      if (request.method !== "POST") response.writeHead(404).end();
      else if (request.url?.includes("count_tokens") === true) sendJson(response, { input_tokens: 1000 });
      else {
        const body = JSON.parse(text) as MessagesBody;
        const isTalk = (body.tools ?? []).length > 0;
        if (isTalk) requests.push(body);
        send(response, body, isTalk ? answer(body) : { text: "ok" });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

let answered = 0;

function send(response: ServerResponse, { model, stream }: MessagesBody, answer: MessagesAnswer): void {
  answered += 1;
  const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const block =
    "text" in answer
      ? { type: "text", text: answer.text }
      : { type: "tool_use", id: `toolu_asked_${answered}`, name: answer.call, input: answer.input };
  const reason = "text" in answer ? "end_turn" : "tool_use";
  const message = {
    id: `msg_asked_${answered}`,
    type: "message",
    role: "assistant",
    model,
    stop_sequence: null,
    usage,
  };
  if (stream !== true) {
    sendJson(response, { ...message, content: [block], stop_reason: reason });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (type: string, fields: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  const delta =
    "text" in answer
      ? { type: "text_delta", text: answer.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(answer.input) };
  event("message_start", { message: { ...message, content: [], stop_reason: null } });
  event("content_block_start", {
    index: 0,
    content_block: { ...block, ...("text" in block ? { text: "" } : { input: {} }) },
  });
  event("content_block_delta", { index: 0, delta });
  event("content_block_stop", { index: 0 });
  event("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 20 } });
  event("message_stop", {});
  response.end();
}
