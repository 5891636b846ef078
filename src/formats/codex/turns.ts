// The turns of a rollout. A turn opens at a request of the user. What introduces the request belongs to it too, and is held back
// until it comes, so that a file that grows only adds events. A rollback removes turns, which become an abandoned branch. Codex also
// forgets a compaction made in a task that is rolled back.
import {
  type ChatResponse,
  type Event,
  fieldsOf,
  isText,
  plainText,
  type ToolCallRequest,
  type ToolCallResponse,
} from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { isSameModelFamily } from "../../core/model/model-name.ts";
import { toInputContent } from "../../core/model/openai-responses-thread.ts";
import type { ProviderObject } from "../../core/model/openai-thread.ts";
import { plainValues } from "../imported-session.ts";
import { readArguments } from "../openai-chat/content.ts";
import { isRecord, type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { type ItemPlace, toItemEvent } from "./events.ts";
import type { RolloutEntry } from "./rollout.ts";
import { payloadOf } from "./rollout-line.ts";
import { isReadPart } from "./sent-items.ts";

export interface RolloutTurn {
  /** 0-based. */
  readonly index: number;
  readonly previous: RolloutTurn | undefined;
  /** Opening line; the turn's piece of the source begins there. */
  readonly opener: RolloutEntry;
  /** Lines in the order of their events. */
  readonly entries: RolloutEntry[];
}

/** Turns removed by a rollback. */
export interface AbandonedTurns {
  /** The first abandoned request. */
  readonly from: RolloutEntry;
  /** Ordered, never empty; the first may continue differently on the active path. */
  readonly turns: readonly RolloutTurn[];
}

interface RolloutTurns {
  /** The active turns. */
  readonly active: readonly RolloutTurn[];
  /** In the order in which they were abandoned. */
  readonly abandoned: readonly AbandonedTurns[];
}

interface Builder {
  readonly turns: RolloutTurn[];
  readonly abandoned: AbandonedTurns[];
  /** Entries before the first turn. */
  readonly head: RolloutEntry[];
  /** Entries that introduce the next request. */
  held: RolloutEntry[];
  /** Tasks with a request, not rolled back. */
  readonly asked: (number | undefined)[];
  /** Compactions of such tasks, or of no task. */
  lists: RolloutEntry[];
  readonly forgotten: Set<RolloutEntry>;
}

/** Cuts the lines of a rollout into turns. */
export function cutRollout(lines: readonly RolloutEntry[]): RolloutTurns {
  const forgotten = new Set<RolloutEntry>();
  const builder: Builder = { turns: [], abandoned: [], head: [], held: [], asked: [], lists: [], forgotten };
  for (const entry of lines) addEntry(builder, entry);
  const { turns, abandoned } = builder;
  if (forgotten.size > 0) for (const { entries } of turns) leaveOut(entries, forgotten);
  return { active: turns, abandoned };
}

/** In place: abandoned branches share turns with the active ones. */
function leaveOut(entries: RolloutEntry[], forgotten: ReadonlySet<RolloutEntry>): void {
  const rest = entries.filter((entry) => !forgotten.has(entry));
  if (rest.length === entries.length) return;
  entries.length = 0;
  appendAll(entries, rest);
}

/** Finds the turn of an index on the path to the last turn. */
export function turnAt(last: RolloutTurn, index: number): RolloutTurn | undefined {
  let turn: RolloutTurn | undefined = last;
  while (turn !== undefined && turn.index > index) turn = turn.previous;
  return turn;
}

function addEntry(builder: Builder, entry: RolloutEntry): void {
  if (entry.kind === "prompt" && builder.asked.at(-1) !== entry.task) builder.asked.push(entry.task);
  if (entry.hasList === true) builder.lists.push(entry);
  switch (entry.kind) {
    case "context":
      builder.held.push(entry);
      break;
    case "harness":
      if (builder.turns.length === 0) builder.held.push(entry);
      else addToTurn(builder, entry);
      break;
    case "prompt":
      if (entry.isQueued === true && builder.turns.length > 0) addToTurn(builder, entry);
      else openTurn(builder, entry);
      break;
    case "note":
    case "usage":
      (builder.turns.at(-1)?.entries ?? builder.head).push(entry);
      break;
    case "rollback":
      rollBack(builder, entry.requests ?? 0);
      break;
    default:
      addToTurn(builder, entry);
  }
}

function openTurn(builder: Builder, opener: RolloutEntry): void {
  const { turns, head } = builder;
  const before = turns.length === 0 ? head.splice(0) : [];
  const entries = [...before, ...builder.held, opener].sort((a, b) => a.line - b.line);
  builder.held = [];
  turns.push({ index: turns.length, previous: turns.at(-1), opener, entries });
}

/** Output without a request opens the first turn. */
function addToTurn(builder: Builder, entry: RolloutEntry): void {
  const turn = builder.turns.at(-1);
  if (turn === undefined) {
    openTurn(builder, entry);
    return;
  }
  appendAll(turn.entries, builder.held);
  turn.entries.push(entry);
  builder.held = [];
}

/** Removes everything from the n-th last request on; all requests if there are fewer. */
function rollBack(builder: Builder, requests: number): void {
  const { turns, abandoned, head } = builder;
  forgetLists(builder, requests);
  const cut = findRequest(turns, requests);
  builder.held = [];
  if (cut === undefined) return;
  const { turn, place } = cut;
  const from = turn.entries[place] as RolloutEntry;
  abandoned.push({ from, turns: turns.splice(turn.index) });
  const rest = turn.entries.slice(0, startOfRequest(turn.entries, place));
  if (turn.opener !== from) turns.push({ ...turn, entries: rest });
  // Notes before the very first request stay for the one that replaces it.
  else if (turn.index === 0) appendAll(head, rest);
  else dropLastReports(turns);
}

/** What was reported at the end of a turn goes with the request after it. Abandoned branches keep the turn as it was. */
function dropLastReports(turns: RolloutTurn[]): void {
  const last = turns.at(-1);
  if (last === undefined) return;
  const end = last.entries.findLastIndex(({ kind, role }) => kind !== "note" && kind !== "usage" && role !== "report");
  const entries = last.entries.filter(({ role }, at) => at <= end || role !== "report");
  if (entries.length < last.entries.length) turns[turns.length - 1] = { ...last, entries };
}

/** Codex counts tasks here but rolls back by requests: a task may hold several. */
function forgetLists(builder: Builder, requests: number): void {
  const { asked, lists, forgotten } = builder;
  const removed = new Set(asked.splice(Math.max(0, asked.length - requests)));
  for (const list of lists) if (removed.has(list.task)) forgotten.add(list);
  builder.lists = lists.filter((list) => !forgotten.has(list));
}

interface RequestPlace {
  readonly turn: RolloutTurn;
  /** Position among the turn's entries. */
  readonly place: number;
}

/** Finds the n-th last request, or the first if there are fewer; absent if there is none or n is 0. */
function findRequest(turns: readonly RolloutTurn[], requests: number): RequestPlace | undefined {
  let found: RequestPlace | undefined;
  let missing = requests;
  for (const turn of turns.toReversed()) {
    for (let place = turn.entries.length - 1; place >= 0; place--) {
      if (missing === 0) return found;
      const entry = turn.entries[place];
      if (entry?.kind !== "prompt" && entry?.role !== "request") continue;
      found = { turn, place };
      missing--;
    }
  }
  return found;
}

/** Where a request begins, with its introduction and what was reported before it. */
function startOfRequest(entries: readonly RolloutEntry[], place: number): number {
  let start = place;
  while (start > 0 && isIntroduction(entries[start - 1])) start--;
  return start;
}

function isIntroduction(entry: RolloutEntry | undefined): boolean {
  return entry?.kind === "context" || entry?.role === "report";
}

// Second pass: converts a line to its event. The same line always gives the same event.

/** Reads a turn, turn_start first. */
export function readRolloutTurn(lines: ParsedLines, turn: RolloutTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { id, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readLineEvent(lines, entry))];
}

/** Reads a line's event; none for compactions and rollbacks. */
export function readLineEvent(lines: ParsedLines, entry: RolloutEntry): readonly Event[] {
  const line = lines.at(entry.line);
  if (line === null || typeof line === "string") return [];
  switch (entry.kind) {
    case "note":
      return [createRolloutNote(line, entry)];
    case "usage":
      return [createUsageNote(line, entry)];
    case "compacted":
    case "rollback":
      return [];
    default:
      return [toItemEvent(payloadOf(line), placeOf(entry))];
  }
}

function placeOf({ kind, isQueued, ...entry }: RolloutEntry): ItemPlace {
  if (kind === "context" || kind === "harness") return { ...entry, origin: "harness" };
  return isQueued === true ? { ...entry, origin: "queued" } : entry;
}

// Notes: records that no model sees. They keep the small plain values of a line; the whole line stays in the sources of the
// conversation.

/** Keys of every line or description, which say nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "timestamp", "cwd", "instructions"]);

/** Creates the note of a line. */
function createRolloutNote(line: RawLine, { id, timestamp }: RolloutEntry): Event {
  const payload = payloadOf(line);
  const values = { ...plainValues(payload), ...(line["type"] === "session_meta" && descentOf(payload)) };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: kindOf(line), ...(Object.keys(data).length > 0 && { data }) };
}

/** Creates the note of a provider's token counts. */
function createUsageNote(line: RawLine, { id, timestamp, provider, model, messageId }: RolloutEntry): Event {
  const usage = recordOf(recordOf(payloadOf(line), "info") ?? {}, "last_token_usage");
  const metadata = {
    provider,
    model,
    message_id: messageId,
    usage,
  };
  return { type: "note", id, timestamp, kind: "usage", metadata };
}

function kindOf(line: RawLine): string {
  const type = stringOf(line, "type") ?? "unknown";
  const isFrame = type === "event_msg" || type === "response_item";
  return (isFrame ? stringOf(payloadOf(line), "type") : undefined) ?? type;
}

/** The session that it was forked from, or whose agent started it. */
function descentOf(payload: RawLine): Record<string, unknown> {
  const agent = recordOf(payload, "source")?.["subagent"];
  const spawn = recordOf(recordOf(payload, "source") ?? {}, "subagent") ?? {};
  return {
    ...(typeof agent === "string" && { subagent: agent }),
    ...plainValues(recordOf(spawn, "thread_spawn") ?? {}),
    ...plainValues(recordOf(payload, "git") ?? {}),
  };
}

/** Providers whose reasoning no other provider can read. */
const FOREIGN: ReadonlySet<unknown> = new Set(["anthropic", "google"]);

/** Makes a reasoning item; absent for reasoning of another provider or of another family than the model that will read it. */
export function toOwnReasoning(event: ChatResponse, reader: string | undefined): ProviderObject | undefined {
  const { provider, model, encrypted, item } = event.metadata ?? {};
  const isOwn = provider === "openai" || (encrypted !== undefined && provider !== undefined && !FOREIGN.has(provider));
  if (!isOwn || (reader !== undefined && model !== undefined && !isSameModelFamily(reader, model))) return undefined;
  const text = plainText(event.reasoning ?? "");
  return {
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(isRecord(item) && item),
    encrypted_content: encrypted ?? null,
  };
}

/** Converts an API item to the form in which Codex stores it; `event` is the one that it shows. */
export function toStoredItem(item: ProviderObject, event: Event | undefined): ProviderObject {
  if (item["type"] === "message") return toStoredMessage(item);
  if (event?.type === "tool_call_response") return { ...item, ...partsOf(event) };
  if (event?.type !== "tool_call_request" || item["type"] !== "function_call") return item;
  const { call_type: kind, item: own } = event.metadata ?? {};
  // Without its arguments a call is none that the shell could have run.
  if (kind !== "local_shell" || !isRecord(event.arguments) || event.arguments["type"] === undefined)
    return { ...item, ...(isRecord(own) && ownFields(own, event)) };
  return { type: "local_shell_call", call_id: item["call_id"], status: "completed", action: event.arguments };
}

/** Arguments as the model wrote them, unless a compaction changed them. */
function ownFields(own: RawLine, { arguments: shown }: ToolCallRequest): RawLine {
  const { arguments: written, ...fields } = own;
  const isSame = typeof written === "string" && JSON.stringify(readArguments(written)) === JSON.stringify(shown);
  return isSame ? own : fields;
}

/** Codex sends no message of the role `system` again, and skips one with a part that it does not know. */
function toStoredMessage(item: ProviderObject): ProviderObject {
  const { role, content } = item;
  const type = role === "assistant" ? "output_text" : "input_text";
  const parts = Array.isArray(content)
    ? content.map((part) => (isReadPart(part) ? part : { type, text: textOfPart(part) }))
    : [];
  return { ...item, role: role === "system" ? "developer" : role, content: parts };
}

/** Names a file, or gives the words of a refusal. */
function textOfPart(part: unknown): string {
  const { refusal, filename, file_url: url, type } = fieldsOf(part);
  if (typeof refusal === "string") return refusal;
  const name = [filename, url].find((word) => typeof word === "string");
  return `[${name === undefined ? String(type) : `document: ${String(name)}`}]`;
}

/** Keeps an output of several texts in parts. */
function partsOf({ content }: ToolCallResponse): ProviderObject {
  const { parts, rules } = isText(content) ? { parts: [], rules: [] } : toInputContent(content);
  return parts.length > 1 && rules.length === 0 ? { output: parts } : {};
}
