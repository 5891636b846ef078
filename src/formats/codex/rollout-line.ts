// One line of a rollout file, unvalidated. Lines are `{timestamp, type, payload}`; before September 2025 files had a header and the
// model's bare items, and for a while messages between agents had lines of their own. All are converted to the current form.
import { toUsableId } from "../imported-session.ts";
import {
  type BasePlaces,
  type BaseRule,
  nonBlankStringOf,
  parseJsonLine,
  type RawLine,
  recordOf,
  type SessionBase,
  type SessionDescent,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { codexHome } from "./setup.ts";

/** Items without a frame in old files. */
const BARE_ITEMS: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
]);

/** Parses one line; the result has `type` and `payload`. A string says why it is no line of a rollout; null is a blank line. */
export function parseRolloutLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  const type = stringOf(line, "type");
  const payload = recordOf(line, "payload");
  if (type === "inter_agent_communication" && payload !== undefined)
    return { ...line, type: "response_item", payload: agentMessage(payload) };
  if (type !== undefined && payload !== undefined) return line;
  if (type === undefined) return headerOf(line) ?? "no `type`";
  if ("payload" in line) return "no object in `payload`";
  return BARE_ITEMS.has(type) ? { type: "response_item", payload: line } : { ...line, payload: line };
}

/** The payload of a parsed line. */
export function payloadOf(line: RawLine): RawLine {
  return recordOf(line, "payload") ?? {};
}

/** What another agent said, as the item that Codex 0.169 sends to its model. */
function agentMessage(said: RawLine): RawLine {
  const { author, recipient, encrypted_content: encrypted, trigger_turn: isTask } = said;
  const text = (words: string): RawLine => ({ type: "input_text", text: words });
  const head = `Message Type: ${isTask === true ? "NEW_TASK" : "MESSAGE"}\nTask name: ${stringOf(said, "recipient") ?? ""}\nSender: ${stringOf(said, "author") ?? ""}\nPayload:\n`;
  const content =
    typeof encrypted === "string"
      ? [text(head), { type: "encrypted_content", encrypted_content: encrypted }]
      : [text(stringOf(said, "content") ?? "")];
  return { type: "agent_message", author, recipient, content };
}

/** Converts the header of an old file, and its records of the agent's state. */
function headerOf(line: RawLine): RawLine | undefined {
  const { id, timestamp, record_type: record } = line;
  if (typeof record === "string") return { ...line, type: record, payload: line };
  const isHeader = typeof id === "string" && typeof timestamp === "string";
  return isHeader ? { ...line, type: "session_meta", payload: line } : undefined;
}

/** Lines searched; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

/** Types of lines that no other format has in a frame of `timestamp` and `payload`. */
const FRAMED: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
]);

/** Whether the first lines look like a rollout. */
export function isCodexSession(source: SessionSource): boolean {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = parseRolloutLine(source.line(at));
    if (line !== null && typeof line !== "string" && isCodexLine(line)) return true;
  }
  return false;
}

/** Whether a parsed line can only come from Codex. */
export function isCodexLine(line: RawLine): boolean {
  return FRAMED.has(line["type"]) && stringOf(line, "timestamp") !== undefined && isOwnPayload(line);
}

/** An old header is recognised by its keys; a line without a frame is its own payload. */
function isOwnPayload(line: RawLine): boolean {
  const payload = payloadOf(line);
  if (line["type"] !== "session_meta") return payload["type"] !== line["type"];
  return "instructions" in payload || "cwd" in payload || "originator" in payload;
}

/** Reads the first session id in a file; null when there is none. */
export function codexSessionId(source: SessionSource): string | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseRolloutLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

/** The session that a line describes; absent for other lines. */
export function sessionNamedBy(line: RawLine): string | undefined {
  return line["type"] === "session_meta" ? stringOf(payloadOf(line), "id") : undefined;
}

/** Descriptions of other sessions to read after the file's own. */
const DESCRIPTIONS = 16;

/** Reads where a session comes from; null for one without a parent. Never throws. */
export function codexDescent(source: SessionSource): SessionDescent | null {
  const described = firstDescriptions(source);
  const [own, ...copied] = described;
  if (own === undefined) return null;
  const agentParent = parentOf(own);
  const parent = agentParent ?? nonBlankStringOf(own, "forked_from_id");
  if (parent === undefined) return null;
  const ids = [parent, ...copied.flatMap((payload) => nonBlankStringOf(payload, "id") ?? [])];
  return { kind: agentParent === undefined ? "fork" : "agent", sessions: [...new Set(ids.map(toUsableId))] };
}

/** The session whose agent started this one. */
function parentOf(description: RawLine): string | undefined {
  const subagent = recordOf(recordOf(description, "source") ?? {}, "subagent") ?? {};
  return (
    nonBlankStringOf(recordOf(subagent, "thread_spawn") ?? {}, "parent_thread_id") ??
    nonBlankStringOf(description, "parent_thread_id")
  );
}

/** The session descriptions at a file's start: its own, then those copied from its ancestors. */
function firstDescriptions(source: SessionSource): readonly RawLine[] {
  const found: RawLine[] = [];
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT) && found.length < DESCRIPTIONS; at++) {
    const line = parseRolloutLine(source.line(at));
    if (line === null || typeof line === "string") continue;
    if (line["type"] === "session_meta") found.push(payloadOf(line));
    else if (found.length > 0) break;
  }
  return found;
}

// Files that continue another file: since 0.169 a session that was forked or rolled back is a new file, whose description names the
// base file and how much of it counts. Codex sends both as one.

export const CODEX_BASE: BaseRule = { baseOf: codexBase, find: findBase, ownBytesBeforeBase };

/** Reason of a skipped line: the base file is not where Codex keeps sessions. */
export const NO_BASE = "the file that the session continues is missing";

const KEY = '"history_base"';
const FILE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ENDINGS = [".jsonl", ".jsonl.zst"];
/** A file in a day's folder; group 1 is the folder of all days. */
const DAY_FOLDER = /^(.*)[\\/]\d{4}[\\/]\d\d[\\/]\d\d[\\/][^\\/]+$/;

/** The base that the first line names. */
function codexBase(source: SessionSource): SessionBase | null {
  const text = source.lineCount === 0 ? "" : source.line(0);
  const line = text.includes(KEY) ? parseRolloutLine(text) : null;
  return line === null || typeof line === "string" ? null : baseNamedBy(line);
}

/** The base that a description names; null for any other line. */
export function baseNamedBy(line: RawLine): SessionBase | null {
  if (line["type"] !== "session_meta") return null;
  const base = recordOf(payloadOf(line), "history_base") ?? {};
  const [file, byteLength] = [stringOf(base, "thread_id"), base["end_byte_offset"]];
  if (file === undefined || !FILE_ID.test(file)) return null;
  return Number.isSafeInteger(byteLength) && Number(byteLength) > 0 ? { file, byteLength: Number(byteLength) } : null;
}

/** Searches the folders next to the file, which may be a copy, then Codex's own. Newest days first. */
function findBase(machine: BasePlaces, path: string, { file }: SessionBase): string | null {
  const isBase = (name: string): boolean =>
    ENDINGS.some((ending) => name.endsWith(`-${file}${ending}`) || name.endsWith(`_${file}${ending}`));
  const within = DAY_FOLDER.exec(path)?.[1];
  const home = codexHome(machine);
  const folders = [within, machine.join(home, "sessions"), machine.join(home, "archived_sessions")];
  for (const folder of new Set(folders)) {
    if (folder === undefined) continue;
    for (const day of [folder, ...dayFolders(machine, folder)]) {
      const name = machine.namesIn(day).find(isBase);
      if (name !== undefined) return machine.join(day, name);
    }
  }
  return null;
}

function* dayFolders({ namesIn, join }: BasePlaces, folder: string): Generator<string> {
  for (const year of newest(namesIn(folder), /^\d{4}$/)) {
    for (const month of newest(namesIn(join(folder, year)), /^\d\d$/)) {
      for (const day of newest(namesIn(join(folder, year, month)), /^\d\d$/)) yield join(folder, year, month, day);
    }
  }
}

function newest(names: readonly string[], named: RegExp): readonly string[] {
  return names.filter((name) => named.test(name)).reverse();
}

/**
 * A continued session is one text from its beginning, so the base keeps its place. A fork begins with its own description, as it
 * does where Codex copies the base.
 */
function ownBytesBeforeBase(own: SessionSource, base: SessionSource): number {
  return describedIn(base) === describedIn(own) ? 0 : own.lineStart(1);
}

/** The session that the first line describes. */
function describedIn(source: SessionSource): string | undefined {
  const line = source.lineCount === 0 ? null : parseRolloutLine(source.line(0));
  return line === null || typeof line === "string" ? undefined : nonBlankStringOf(payloadOf(line), "id");
}
