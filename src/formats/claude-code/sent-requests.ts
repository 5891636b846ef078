// The requests that Claude Code records in a session since 2.1.33x, as they went over the wire: `api-request` lines keep the first
// messages of an earlier request and append others by hash. A message is a line `api-request-blob`, unless the lines of the
// conversation give the same hash.
import { appendAll } from "../../core/lists.ts";
import type { SaidBlock, SentLog, SentRequest } from "../sent-requests.ts";
import { isRecord, type RawLine, recordOf, type SessionSource, stringOf, stringsOf } from "../session-source.ts";
import { messageBlocks, parseLine } from "./session-index.ts";

/** Lines of one answer that are joined to find its hash: real answers have fewer, and each is hashed again for every line. */
const MAX_ANSWER_LINES = 100;

/** A request as its line has it. */
interface RequestNode {
  readonly line: number;
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** Absent = it names none; null = it names one that no line above is. */
  readonly base: RequestNode | null | undefined;
  /** Below 0 = not readable. */
  readonly keep: number;
  readonly tail: readonly string[];
  /** Messages of this request. */
  readonly length: number;
}

interface Draft {
  readonly requests: Map<string, RequestNode>;
  readonly list: RequestNode[];
  /** Messages by hash, without those of lines that no request has asked for yet. */
  readonly messages: Map<string, SentMessage>;
  /** Answers by message id. */
  readonly answers: Map<string, LineMessage>;
  /** Messages of lines that were added, or grew, since lines were hashed. */
  readonly unhashed: Set<LineMessage>;
  readonly sha256: (text: string) => string;
}

/** A message that may be in many requests: what is said in it is read once. */
interface SentMessage {
  said(message: number): readonly SaidBlock[];
}

/** A message of the conversation's own lines: a prompt, or an answer of one or more lines. */
interface LineMessage {
  readonly role: "user" | "assistant";
  readonly content: unknown[];
  lines: number;
}

/** What Claude Code records of its requests. */
export const CLAUDE_SENT_LOG: SentLog = { read: readSentRequests, said: saidBlocks };

function readSentRequests(source: SessionSource, sha256: (text: string) => string): readonly SentRequest[] {
  const draft: Draft = {
    requests: new Map(),
    list: [],
    messages: new Map(),
    answers: new Map(),
    unhashed: new Set(),
    sha256,
  };
  for (let line = 0; line < source.lineCount; line++) {
    const text = source.line(line);
    if (!MENTIONED.test(text)) continue;
    const raw = parseLine(text);
    if (isRecord(raw)) readLine(draft, line, raw);
  }
  return draft.list.map((node) => ({
    line: node.line,
    model: node.model,
    messageCount: node.length,
    blocks: () => blocksOf(node, draft.messages),
  }));
}

/** Most lines need not be parsed: only these hold a request, or part of one. */
const MENTIONED = /"api-request|"(?:assistant|user)"/;

function readLine(draft: Draft, line: number, raw: RawLine): void {
  switch (raw["type"]) {
    case "api-request-blob": {
      const hash = stringOf(raw, "hash");
      if (hash !== undefined) draft.messages.set(hash, createMessage(raw["message"]));
      break;
    }
    case "assistant":
    case "user":
      addLineMessage(draft, raw["type"], raw);
      break;
    case "api-request":
      addRequest(draft, line, raw);
      break;
    default: // holds no request
  }
}

function addLineMessage({ answers, unhashed }: Draft, role: LineMessage["role"], raw: RawLine): void {
  const blocks = messageBlocks(raw);
  if (blocks === undefined) return;
  const id = role === "user" ? undefined : stringOf(recordOf(raw, "message") ?? {}, "id");
  const message = answers.get(id ?? "") ?? { role, content: [], lines: 0 };
  if (id !== undefined) answers.set(id, message);
  if (++message.lines > MAX_ANSWER_LINES) return;
  appendAll(message.content, blocks);
  unhashed.add(message);
}

function addRequest(draft: Draft, line: number, raw: RawLine): void {
  const tail = stringsOf(raw, "tail");
  if (tail.some((hash) => !draft.messages.has(hash))) hashLines(draft);
  const named = stringOf(raw, "base");
  const base = named === undefined ? undefined : (draft.requests.get(named) ?? null);
  const keep = typeof raw["keep"] === "number" && Number.isSafeInteger(raw["keep"]) ? raw["keep"] : -1;
  const id = stringOf(raw, "id");
  const model = stringOf(recordOf(raw, "params") ?? {}, "model");
  const node = { line, id, model, base, keep, tail, length: Math.max(0, keep) + tail.length };
  draft.list.push(node);
  if (id !== undefined) draft.requests.set(id, node);
}

/** A message's hash is that of its JSON with sorted keys and a list of blocks. */
function hashLines({ unhashed, messages, sha256 }: Draft): void {
  for (const { role, content } of unhashed) {
    const message = { role, content: [...content] };
    messages.set(sha256(JSON.stringify(sortKeys(message))), createMessage(message));
  }
  unhashed.clear();
}

/** Copies a value with the keys of its objects in order; lines nested deeper than the limit are not parsed. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}

/** The blocks of a request's messages. A base comes from an earlier line, so this ends. */
function blocksOf(request: RequestNode, messages: Draft["messages"]): readonly SaidBlock[] | string {
  const parts: (readonly string[])[] = [];
  let limit = request.length;
  for (let at: RequestNode | null | undefined = request; at === request || limit > 0; at = at.base) {
    if (at === null) return "the request that it continues is not in the file";
    if (at === undefined || at.keep < 0) return "it keeps messages of no request";
    const kept = Math.min(limit, at.keep);
    parts.push(at.tail.slice(0, limit - kept));
    if (kept > (at.base?.length ?? kept)) return `it keeps ${kept} messages of a request that has ${at.base?.length}`;
    limit = kept;
  }
  const hashes = parts.reverse().flat();
  const missing = hashes.findIndex((hash) => !messages.has(hash));
  if (missing !== -1) return `its message ${missing} is in no line of the file`;
  return hashes.flatMap((hash, message) => messages.get(hash)?.said(message) ?? []);
}

// What was said, without what the agent adds: reminders, and wrappers around what the user typed while it worked.

const REMINDER = "<system-reminder>";
const REMINDER_END = "</system-reminder>";
/** Precedes what the user typed while the agent worked. */
const QUEUED = "The user sent a new message while you were working:\n";
/** What the agent adds after it. */
const QUEUED_ENDS: readonly string[] = [
  "\n\nThis is how Claude Code surfaces",
  "\n\nIMPORTANT: After completing",
  `\n${REMINDER_END}`,
  REMINDER_END,
];

function createMessage(value: unknown): SentMessage {
  let said: readonly SaidBlock[] | undefined;
  return {
    said(message) {
      said ??= saidBlocks([value]);
      return said.map((block) => ({ ...block, message }));
    },
  };
}

function saidBlocks(messages: readonly unknown[]): readonly SaidBlock[] {
  return messages.flatMap((value, message) => {
    const name = isRecord(value) ? value["role"] : undefined;
    const role = name === "assistant" ? name : "user";
    const said = saidIn(messageBlocks({ message: value }) ?? [], {
      isAnswer: role === "assistant",
      isSystem: name === "system",
    });
    return said.map((one) => ({ message, role, ...one }));
  });
}

interface Speaker {
  readonly isAnswer: boolean;
  readonly isSystem: boolean;
}

/** What the user typed while tools ran may be inside a result: it comes after the results. */
function saidIn(blocks: readonly RawLine[], speaker: Speaker): readonly Said[] {
  const said: Said[] = [];
  const typed: Said[] = [];
  for (const block of blocks) {
    const isResult = block["type"] === "tool_result";
    if (!isResult) appendAll(said, typed.splice(0));
    appendAll(said, saidBlock(block, speaker));
    if (isResult) appendAll(typed, textsOf(block).flatMap(queuedTexts));
  }
  return [...said, ...typed];
}

type Said = Pick<SaidBlock, "name" | "text">;

function saidBlock(block: RawLine, speaker: Speaker): readonly Said[] {
  switch (block["type"]) {
    case "text":
      return saidText(stringOf(block, "text") ?? "", speaker);
    case "thinking":
      return [{ name: "reasoning", text: jsonOf(block, ["thinking", "signature"]) }];
    case "tool_use":
      return [
        {
          name: `a call of ${stringOf(block, "name") ?? "a tool"} (${stringOf(block, "id") ?? "no id"})`,
          text: jsonOf(block, ["input", "name", "id"]),
        },
      ];
    case "tool_result":
      return [{ name: `a tool result of ${stringOf(block, "tool_use_id") ?? "no call"}`, text: resultText(block) }];
    case "image":
      return [{ name: "an image", text: jsonOf(block) }];
    default:
      return [{ name: `a block ${String(block["type"])}`, text: jsonOf(block) }];
  }
}

function saidText(text: string, { isSystem, isAnswer }: Speaker): readonly Said[] {
  if (isAnswer) return text.trim() === "" ? [] : [{ name: "a text of the model", text: text.trimEnd() }];
  const queued = queuedTexts(text);
  if (queued.length > 0) return queued;
  const said = isSystem ? "" : withoutReminders(text);
  return said.trim() === "" ? [] : [{ name: "a text of the user", text: said }];
}

/** What the user typed while the agent worked; empty in a text that holds none. */
function queuedTexts(text: string): readonly Said[] {
  const [, ...rest] = text.split(QUEUED);
  return rest.map((part) => {
    const ends = QUEUED_ENDS.map((end) => part.indexOf(end)).filter((at) => at >= 0);
    return { name: "a text of the user", text: part.slice(0, Math.min(part.length, ...ends)).trimEnd() };
  });
}

/** Removes reminders, each up to the next end of one. */
function withoutReminders(text: string): string {
  const kept: string[] = [];
  let at = 0;
  for (let start = text.indexOf(REMINDER); start !== -1; start = text.indexOf(REMINDER, at)) {
    const end = text.indexOf(REMINDER_END, start);
    if (end === -1) break;
    kept.push(text.slice(at, start));
    at = end + REMINDER_END.length;
  }
  return at === 0
    ? text.trimEnd()
    : [...kept, text.slice(at)]
        .map((part) => part.trim())
        .join("\n")
        .trim();
}

function textsOf(block: RawLine): readonly string[] {
  return (messageBlocks({ message: block }) ?? []).flatMap((part) => stringOf(part, "text") ?? []);
}

function resultText(block: RawLine): string {
  const parts = (messageBlocks({ message: block }) ?? []).map((part) =>
    part["type"] === "text" ? withoutReminders(stringOf(part, "text") ?? "") : jsonOf(part),
  );
  const text = parts.filter((part) => part !== "").join("\n");
  return `${block["is_error"] === true ? "error: " : ""}${text}\n${stringOf(block, "tool_use_id") ?? ""}`;
}

/** Some fields of a block, or all but the mark of its cache, as JSON in one order. */
function jsonOf(block: RawLine, keys?: readonly string[]): string {
  const { cache_control: _, ...rest } = block;
  return JSON.stringify(sortKeys(keys === undefined ? rest : keys.map((key) => rest[key])));
}
