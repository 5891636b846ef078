// What an agent asked its model, in whichever API, as the conversation in the shape of Anthropic Messages (conformance/README.md):
// without the prompt of the recording and what the agent adds of its own.
// @ts-expect-error: a script without types
import { wordsOf } from "../../conformance/compare.mjs";
import type { AskedRequest } from "./model-server.ts";

type Json = Readonly<Record<string, unknown>>;

export type SentBlock = { readonly type: string; readonly [key: string]: unknown };

export interface SentMessage {
  readonly role: string;
  readonly content: readonly SentBlock[];
}

/** How to tell what an agent adds of its own. */
export interface OwnWords {
  /** A text of the assistant that it puts before a prompt. */
  readonly bridge?: RegExp;
  /** Results that it makes up for calls without one. */
  readonly madeUp?: RegExp;
  /** The user's words, as its first group, in a wrapper for what was typed while the agent was working. */
  readonly queued?: RegExp;
}

/** Reads the conversation of a request; `prompt` = what the recording asked. */
export function readSent({ api, body }: AskedRequest, prompt: string, own: OwnWords): readonly SentMessage[] {
  const raw = {
    anthropic: readAnthropic,
    "openai-chat": readChat,
    "openai-responses": readResponses,
    google: readGoogle,
  };
  const messages = raw[api](body).flatMap((message) => unwrapQueued(message, own.queued));
  const said = messages.filter(({ role }) => role === "user" || role === "assistant");
  const kept = said.map(({ role, content }) => ({
    role,
    content: content.filter((block) => !isOwn(role, block)).map((block) => withWords(role, block)),
  }));
  return withResults(withoutPrompt(joined(kept), prompt, own)).map(({ role, content }) => ({
    role,
    content: content.map((block) => markMadeUp(block, own)),
  }));
}

function isOwn(role: string, block: SentBlock): boolean {
  if (block.type !== "text") return false;
  const text = String(block["text"]);
  return (role === "user" ? (wordsOf(text) as string) : text).trim() === "";
}

function withWords(role: string, block: SentBlock): SentBlock {
  return role === "user" && block.type === "text"
    ? { ...block, text: wordsOf(String(block["text"])) as string }
    : block;
}

/** What the user typed while the agent worked becomes a message of the user, also out of a result that it was put into. */
function unwrapQueued(message: SentMessage, queued: RegExp | undefined): readonly SentMessage[] {
  if (queued === undefined) return [message];
  return message.content.flatMap((block) => {
    if (block.type === "tool_result") return splitResult(message.role, block, queued);
    const found = block.type === "text" ? queued.exec(String(block["text"])) : null;
    return [found === null ? { role: message.role, content: [block] } : typed(found)];
  });
}

function typed(found: RegExpExecArray): SentMessage {
  return { role: "user", content: [{ type: "text", text: found[1] ?? "" }] };
}

/** Takes reminders out of a result; older models get them there. */
function splitResult(role: string, block: SentBlock, queued: RegExp): readonly SentMessage[] {
  const parts = blocksOf(block["content"]);
  const texts = parts.map((part) => (part.type === "text" ? String(part["text"]) : ""));
  const reminders = texts.flatMap((text) => text.match(REMINDER) ?? []);
  if (reminders.length === 0) return [{ role, content: [block] }];
  const kept = parts.map((part, at) =>
    part.type === "text" ? { ...part, text: (texts[at] ?? "").replace(REMINDER, "").trim() } : part,
  );
  const content = plainContent(kept.filter((part) => part["text"] !== ""));
  const words = reminders.flatMap((text) => {
    const found = queued.exec(text);
    return found === null ? [] : [typed(found)];
  });
  return [{ role, content: [{ ...block, content }] }, ...words];
}

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

function joined(messages: readonly SentMessage[]): readonly SentMessage[] {
  const all: { readonly role: string; readonly content: SentBlock[] }[] = [];
  for (const { role, content } of messages) {
    const last = all.at(-1);
    if (content.length > 0 && last?.role === role) last.content.push(...content);
    else if (content.length > 0) all.push({ role, content: [...content] });
  }
  return all;
}

/** Leaves out the newest text of the user that is the prompt, what follows it, and the assistant's text made up for it. */
function withoutPrompt(messages: readonly SentMessage[], prompt: string, { bridge }: OwnWords): readonly SentMessage[] {
  const at = messages.findLastIndex(
    ({ role, content }) => role === "user" && content.some((block) => ends(block, prompt)),
  );
  if (at < 0) return messages;
  const { content = [] } = messages[at] ?? {};
  const block = content.findLastIndex((each) => ends(each, prompt));
  const words = String(content[block]?.["text"]).trimEnd().slice(0, -prompt.length).trimEnd();
  const before = [...content.slice(0, block), ...(words === "" ? [] : [{ type: "text", text: words }])];
  const kept = [...messages.slice(0, at), ...(before.length === 0 ? [] : [{ role: "user", content: before }])];
  const [last] = kept.slice(-1);
  const isBridge =
    last?.role === "assistant" && last.content.length === 1 && bridge?.test(String(last.content[0]?.["text"]));
  return isBridge ? kept.slice(0, -1) : kept;
}

/** Adds a made-up result to a call that is sent without one: the shape of these messages wants it. */
function withResults(messages: readonly SentMessage[]): readonly SentMessage[] {
  const answered = new Set(messages.flatMap(({ content }) => content.map((block) => block["tool_use_id"])));
  const all: SentMessage[] = [];
  for (const { role, content } of messages) {
    const missing = (all.at(-1)?.content ?? []).filter(({ type, id }) => type === "tool_use" && !answered.has(id));
    const made = role === "user" ? missing.map(({ id }) => ({ ...resultOf(id, ""), made: true })) : [];
    all.push({ role, content: [...made, ...content] });
  }
  const open = (all.at(-1)?.content ?? []).filter(({ type, id }) => type === "tool_use" && !answered.has(id));
  if (open.length > 0) all.push({ role: "user", content: open.map(({ id }) => ({ ...resultOf(id, ""), made: true })) });
  return all;
}

function ends(block: SentBlock, prompt: string): boolean {
  return block.type === "text" && String(block["text"]).trimEnd().endsWith(prompt);
}

function markMadeUp(block: SentBlock, { madeUp }: OwnWords): SentBlock {
  if (block.type !== "tool_result" || madeUp === undefined) return block;
  const text = typeof block["content"] === "string" ? block["content"] : "";
  return madeUp.test(text) ? { ...block, made: true } : block;
}

// Anthropic Messages

function readAnthropic(body: Json): readonly SentMessage[] {
  const messages = (body["messages"] ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  return messages.map(({ role, content }) => ({ role, content: blocksOf(content).map(plainBlock) }));
}

function blocksOf(content: unknown): readonly SentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as readonly SentBlock[]);
}

function plainBlock({ cache_control: _, ...block }: SentBlock): SentBlock {
  if (block.type !== "tool_result") return block as SentBlock;
  const { is_error: isError, ...rest } = block;
  const content = plainContent(blocksOf(block["content"]).map(plainBlock));
  return { ...(rest as SentBlock), content, ...(isError === true ? { is_error: true } : {}) };
}

/** A single text as a string. */
function plainContent(blocks: readonly SentBlock[]): unknown {
  const [first] = blocks;
  if (first === undefined) return "";
  return blocks.length === 1 && first.type === "text" ? first["text"] : blocks;
}

// OpenAI Chat

interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

function readChat(body: Json): readonly SentMessage[] {
  return ((body["messages"] ?? []) as readonly Json[]).map((message) => {
    const role = String(message["role"]);
    const content = blocksOf(message["content"]).map(fromOpenAi);
    if (role === "tool") return { role: "user", content: [resultOf(message["tool_call_id"], plainContent(content))] };
    const calls = ((message["tool_calls"] ?? []) as readonly ChatCall[]).map(
      ({ id, function: { name, arguments: args } }) => callOf(id, name, args),
    );
    const thinking = message["reasoning_content"] ?? message["reasoning_text"] ?? message["reasoning"];
    const thought = typeof thinking === "string" ? [{ type: "thinking", thinking }] : [];
    return { role, content: [...thought, ...content, ...calls] };
  });
}

function callOf(id: unknown, name: unknown, args: unknown): SentBlock {
  return { type: "tool_use", id, name, input: typeof args === "string" ? parsed(args) : args };
}

function resultOf(id: unknown, content: unknown): SentBlock {
  return { type: "tool_result", tool_use_id: id, content };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function fromOpenAi(part: SentBlock): SentBlock {
  if (["text", "input_text", "output_text"].includes(part.type)) return { type: "text", text: part["text"] };
  if (part.type !== "image_url" && part.type !== "input_image") return part;
  const given = part["image_url"];
  const url = typeof given === "string" ? given : (given as { readonly url: string }).url;
  const found = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return imageOf(found?.[1] ?? "", found?.[2] ?? url);
}

function imageOf(mediaType: unknown, data: unknown): SentBlock {
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

// OpenAI Responses

function readResponses(body: Json): readonly SentMessage[] {
  return ((body["input"] ?? []) as readonly Json[]).map((item) => {
    switch (item["type"] ?? "message") {
      case "message":
        return { role: String(item["role"]), content: blocksOf(item["content"]).map(fromOpenAi) };
      case "reasoning":
        return { role: "assistant", content: [{ type: "thinking", thinking: JSON.stringify(item["summary"] ?? []) }] };
      case "function_call":
        return { role: "assistant", content: [callOf(item["call_id"], item["name"], item["arguments"])] };
      case "custom_tool_call":
        return { role: "assistant", content: [callOf(item["call_id"], item["name"], { input: item["input"] })] };
      case "local_shell_call":
        return { role: "assistant", content: [callOf(item["call_id"], "local_shell", item["action"])] };
      case "function_call_output":
      case "custom_tool_call_output": {
        const content = plainContent(blocksOf(item["output"]).map(fromOpenAi));
        return { role: "user", content: [resultOf(item["call_id"], content)] };
      }
      default:
        // What only its provider can read is in no message.
        if (item["encrypted_content"] !== undefined) return { role: "assistant", content: [] };
        return { role: "assistant", content: [{ type: String(item["type"]), item }] };
    }
  });
}

// Google generateContent

interface GooglePart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: unknown };
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response?: Json };
}

/** Calls without an id are numbered; their results follow in the same order. */
function readGoogle(body: Json): readonly SentMessage[] {
  let [calls, results] = [0, 0];
  const contents = (body["contents"] ?? []) as readonly {
    readonly role?: string;
    readonly parts?: readonly GooglePart[];
  }[];
  return contents.map(({ role, parts = [] }) => ({
    role: role === "model" ? "assistant" : "user",
    content: parts.map(({ text, thought, inlineData, functionCall, functionResponse, ...other }): SentBlock => {
      if (functionCall !== undefined)
        return callOf(functionCall.id ?? `call-${++calls}`, functionCall.name, functionCall.args ?? {});
      if (functionResponse !== undefined)
        return resultOf(functionResponse.id ?? `call-${++results}`, responseText(functionResponse.response ?? {}));
      if (inlineData !== undefined) return imageOf(inlineData.mimeType, inlineData.data);
      if (text !== undefined) return thought === true ? { type: "thinking", thinking: text } : { type: "text", text };
      return { type: "other", ...other };
    }),
  }));
}

/** The text under the key that Google's API knows, else the whole. */
function responseText(response: Json): string {
  const { output, error } = response;
  const text = output ?? error;
  return typeof text === "string" ? text : JSON.stringify(response);
}
