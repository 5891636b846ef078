// A model on loopback in Anthropic's API that acts as it is told: the prompt `read a.txt` makes it call Read, `run echo hi` Bash,
// `call NAME {…}` any tool, several lines one after the other; then, or without such a line, it answers in words. It thinks first,
// with a signature.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import type { SentBlock } from "./sent-messages.ts";

interface WireMessage {
  readonly role: string;
  readonly content: string | readonly SentBlock[];
}

/** A request as it came. */
export interface ModelRequest {
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly { readonly name: string }[];
  readonly stream?: boolean;
  readonly model?: string;
}

interface Plan {
  /** Input tokens that the answer reports; default: a quarter of the request's characters. */
  readonly tokens?: number;
  /** Refuses the request, with this text. */
  readonly refuse?: string;
  /** Milliseconds before it answers. */
  readonly delayMs?: number;
}

export interface ActingModel {
  readonly url: string;
  /** Requests of the main conversation: those that offer tools. */
  readonly requests: readonly ModelRequest[];
  /** Requests without tools: summaries, titles. */
  readonly others: readonly ModelRequest[];
  /** What is special about an answer, by the number of its request, from 1, and the request. */
  plan: (number: number, request: ModelRequest) => Plan;
  close(): Promise<void>;
}

/** Starts a model; to be closed. */
export async function startActingModel(): Promise<ActingModel> {
  const requests: ModelRequest[] = [];
  const others: ModelRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const path = new URL(request.url ?? "/", "http://model").pathname;
      if (body === null || !path.endsWith("/messages")) return sendJson(response, { input_tokens: 100 });
      const isMain = (body.tools?.length ?? 0) > 0;
      (isMain ? requests : others).push(body);
      const number = isMain ? requests.length : 0;
      const plan = isMain ? model.plan(number, body) : {};
      setTimeout(() => answer(response, body, { number: number || -others.length, plan }), plan.delayMs ?? 0);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const model: ActingModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    others,
    plan: () => ({}),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return model;
}

async function readBody(request: IncomingMessage): Promise<ModelRequest | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  try {
    const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
    return JSON.parse(plain.toString()) as ModelRequest;
  } catch {
    return null;
  }
}

function sendJson(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

interface Said {
  /** Which request it is; below 0 for one without tools. */
  readonly number: number;
  readonly plan: Plan;
}

function answer(response: ServerResponse, body: ModelRequest, { number, plan }: Said): void {
  if (plan.refuse !== undefined) {
    const error = { type: "invalid_request_error", message: plan.refuse };
    sendJson(response, { type: "error", error }, 400);
    return;
  }
  const content = number < 0 ? [{ type: "text", text: `Summary ${-number}.` }] : act(body, number);
  const stop_reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  const usage = {
    input_tokens: plan.tokens ?? Math.round(JSON.stringify(body).length / 4),
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const head = {
    id: `msg_acted_${number < 0 ? `other_${-number}` : number}`,
    type: "message",
    role: "assistant",
    model: body.model,
    stop_sequence: null,
    usage,
  };
  if (body.stream !== true) {
    sendJson(response, { ...head, content, stop_reason });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, fields: object): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  send("message_start", { message: { ...head, content: [], stop_reason: null } });
  for (const [index, block] of content.entries()) sendBlock(send, index, block);
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  send("message_stop", {});
  response.end();
}

/** The empty form of a block, and what fills it. */
const PARTS: Readonly<Record<string, (block: SentBlock) => readonly [object, readonly object[]]>> = {
  text: ({ text }) => [{ type: "text", text: "" }, [{ type: "text_delta", text }]],
  thinking: ({ thinking, signature }) => [
    { type: "thinking", thinking: "", signature: "" },
    [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ],
  ],
  tool_use: (block) => [
    { ...block, input: {} },
    [{ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }],
  ],
};

function sendBlock(send: (type: string, fields: object) => void, index: number, block: SentBlock): void {
  const [content_block, deltas] = PARTS[block.type]?.(block) ?? [block, []];
  send("content_block_start", { index, content_block });
  for (const delta of deltas) send("content_block_delta", { index, delta });
  send("content_block_stop", { index });
}

const ACTS: readonly (readonly [RegExp, (found: RegExpExecArray) => readonly [string, unknown]])[] = [
  [/^read (\S+)$/, ([, path]) => ["Read", { file_path: path }]],
  [/^run (.+)$/, ([, command]) => ["Bash", { command, description: "as told" }]],
  [/^call (\S+) (.+)$/, ([, name = "", input = ""]) => [name, JSON.parse(input)]],
];

/** The calls that the newest prompt asks for and that have no result yet. */
function callsLeft({ messages }: ModelRequest): readonly (readonly [string, unknown])[] {
  const contents = messages.map(({ role, content }) => {
    if (role !== "user") return [];
    return typeof content === "string" ? [{ type: "text", text: content }] : content;
  });
  const isWords = (block: SentBlock): boolean => block.type === "text" && !isReminder(block);
  const prompt = contents.findLastIndex((blocks) => blocks.some(isWords));
  const lines = (contents[prompt] ?? []).filter(isWords).flatMap((block) => String(block["text"]).split("\n"));
  const calls = lines.flatMap((line) =>
    ACTS.flatMap(([pattern, toCall]) => {
      const found = pattern.exec(line);
      return found === null ? [] : [toCall(found)];
    }),
  );
  const results = contents.slice(prompt).flat();
  return calls.slice(results.filter(({ type }) => type === "tool_result").length);
}

function act(request: ModelRequest, number: number): readonly SentBlock[] {
  const signature = Buffer.from(`signed ${number}`).toString("base64");
  const thought = { type: "thinking", thinking: `thought ${number}`, signature };
  const [call] = callsLeft(request);
  if (call === undefined) return [thought, { type: "text", text: `Answer ${number}.` }];
  const [name, input] = call;
  const use = { type: "tool_use", id: `toolu_acted_${number}`, name, input };
  return [thought, { type: "text", text: `I call ${name}.` }, use];
}

const isReminder = (block: SentBlock): boolean => String(block["text"]).startsWith("<system-reminder>");

/** What a request, or an export, says: a line for each block, without thinking. */
export function linesOf({ messages }: Pick<ModelRequest, "messages">): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Fields[]);
    return blocks.flatMap((block) => lineOf(role, block));
  });
}

function lineOf(role: string, block: Fields): readonly string[] {
  if (block["type"] === "text") return [`${role}: ${String(block["text"])}`];
  if (block["type"] === "tool_use") return [`call ${JSON.stringify([block["name"], block["input"]])}`];
  if (block["type"] !== "tool_result") return [];
  const { content } = block;
  const texts =
    typeof content === "string" ? [content] : (content as readonly Fields[]).map(({ text }) => String(text));
  const result = texts.join("");
  return [`result: ${result.length} characters, ${result.slice(0, 20)}`];
}

type Fields = Readonly<Record<string, unknown>>;
