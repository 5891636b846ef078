// One line of a rollout file, before anything is believed about it. Lines of today are `{timestamp, type, payload}`; before
// September 2025 a header and the bare items of the model stood there, and what agents said to each other had lines of its own
// for a while. All come in the form of today.
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

/** Items of the model that stood in old files without a frame. */
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

/** Parses one line: `type` and `payload` are there. A string is the reason why it is no line of a rollout; null is a blank line. */
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

/** What another agent said, as the item that Codex makes of it for its model (0.169). */
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

/** What opened an old file, and what told of the agent's state in it. */
function headerOf(line: RawLine): RawLine | undefined {
  const { id, timestamp, record_type: record } = line;
  if (typeof record === "string") return { ...line, type: record, payload: line };
  const isHeader = typeof id === "string" && typeof timestamp === "string";
  return isHeader ? { ...line, type: "session_meta", payload: line } : undefined;
}

/** How many lines are looked at; the first ones may be damaged. */
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

/** The header of old times is one by its keys alone; what has no frame is its own payload. */
function isOwnPayload(line: RawLine): boolean {
  const payload = payloadOf(line);
  if (line["type"] !== "session_meta") return payload["type"] !== line["type"];
  return "instructions" in payload || "cwd" in payload || "originator" in payload;
}

/** Gives the id of the session that a file names first; null when it names none. */
export function codexSessionId(source: SessionSource): string | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseRolloutLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

/** The id of the session that a line describes; absent where it describes none. */
export function sessionNamedBy(line: RawLine): string | undefined {
  return line["type"] === "session_meta" ? stringOf(payloadOf(line), "id") : undefined;
}

/** How many lines are looked at for descriptions of other sessions: they stand behind the own one. */
const DESCRIPTIONS = 16;

/** Where a session comes from, as its description says; null for one that began by itself. Never throws. */
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

/** The session whose agent began this one. */
function parentOf(description: RawLine): string | undefined {
  const subagent = recordOf(recordOf(description, "source") ?? {}, "subagent") ?? {};
  return (
    nonBlankStringOf(recordOf(subagent, "thread_spawn") ?? {}, "parent_thread_id") ??
    nonBlankStringOf(description, "parent_thread_id")
  );
}

/** The descriptions of sessions that a file begins with: its own, then those that were copied with what it goes on from. */
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

// Files of Codex that go on from another file: since 0.169 a session that was forked, or in which the user went back, is a new file,
// whose description names the file that it goes on from and up to where. Codex sends both as one.

export const CODEX_BASE: BaseRule = { baseOf: codexBase, find: findBase, ownBytesBeforeBase };

/** Why the description of a session is named as skipped: what it goes on from is not where Codex keeps sessions. */
export const NO_BASE = "the file that the session continues is missing";

const KEY = '"history_base"';
const FILE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ENDINGS = [".jsonl", ".jsonl.zst"];
/** A file in the folder of a day, in that of all days. */
const DAY_FOLDER = /^(.*)[\\/]\d{4}[\\/]\d\d[\\/]\d\d[\\/][^\\/]+$/;

/** What the first line says of the file that this one goes on from. */
function codexBase(source: SessionSource): SessionBase | null {
  const text = source.lineCount === 0 ? "" : source.line(0);
  const line = text.includes(KEY) ? parseRolloutLine(text) : null;
  return line === null || typeof line === "string" ? null : baseNamedBy(line);
}

/** The file that a description of a session says it goes on from; null for any other line. */
export function baseNamedBy(line: RawLine): SessionBase | null {
  if (line["type"] !== "session_meta") return null;
  const base = recordOf(payloadOf(line), "history_base") ?? {};
  const [file, byteLength] = [stringOf(base, "thread_id"), base["end_byte_offset"]];
  if (file === undefined || !FILE_ID.test(file)) return null;
  return Number.isSafeInteger(byteLength) && Number(byteLength) > 0 ? { file, byteLength: Number(byteLength) } : null;
}

/** Looks among the sessions that stand with it, then among Codex's own: a copy may stand anywhere. Newest days first. */
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
 * A session that goes on in a further file is one text from its beginning on, so that what it goes on from stands where it was. A
 * fork begins with its own description, as it does where Codex copies what it goes on from.
 */
function ownBytesBeforeBase(own: SessionSource, base: SessionSource): number {
  return describedIn(base) === describedIn(own) ? 0 : own.lineStart(1);
}

/** The session that the first line describes. */
function describedIn(source: SessionSource): string | undefined {
  const line = source.lineCount === 0 ? null : parseRolloutLine(source.line(0));
  return line === null || typeof line === "string" ? undefined : nonBlankStringOf(payloadOf(line), "id");
}
