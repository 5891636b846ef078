// What an importer reads from one session file: turns on demand, the agent's own compactions, and where each turn begins in the
// file. A pure function of the source text and the importer's version.
import type { Compaction } from "../core/conversation/compaction.ts";
import type { ToolDefinition } from "../core/conversation/defined-tools.ts";
import { type Event, traitsOf, type View } from "../core/conversation/event.ts";
import { type CallPairs, pairCalls } from "../core/conversation/tool-pairing.ts";
import type { LiveMarks } from "./live-mark.ts";
import type { RawLine, SessionPart } from "./session-source.ts";

/** Why an import made a compaction: the agent sent other messages while it ran than the session has when it is resumed. */
export const RESUMES_DIFFERENTLY = "resumes-differently";

/** A line that could not be read: `line` is 1-based as editors count; in a document, the position of the message. */
export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
}

/** The conversation, branch and commit that a session was exported from. */
export interface ExportOrigin {
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string;
  /** The last turn that was exported, 0-based; absent = all of the commit's. */
  readonly turn?: number;
}

/** A chain of turns. */
export interface ImportedTurns {
  readonly turnCount: number;
  /**
   * Reads one turn, turn_start first (without `prev`). Deterministic; in any order. An event's id is that of its line, message
   * or part, without a dot; further events of the same one are `<id>.<n>`.
   */
  readTurn(index: number): readonly Event[];
}

/** The tools offered to the model from a line on. */
export interface ToolList {
  /** The line's turn, 0-based. */
  readonly turn: number;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** Derived from the source's ids. */
  readonly id: string;
  readonly tools: readonly ToolDefinition[];
}

/** jpg settings that hold from a line on: those that a conversation may set. */
export interface SettingsChange {
  /** The line's turn, 0-based. */
  readonly turn: number;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** Derived from the source's ids. */
  readonly id: string;
  /** Nested as in a config file. */
  readonly delta: Readonly<Record<string, unknown>>;
}

/** A branch of the session that the agent abandoned. */
export interface AbandonedBranch extends ImportedTurns {
  /** Short name, `[a-z0-9-]+`, derived from the source's ids: the same at every import. */
  readonly name: string;
  /** Number of whole turns shared with the active path at the start. */
  readonly commonTurns: number;
}

/** What shows that a session is a copy of another one's lines. */
export interface SessionLineage {
  /** The id that a line has in the session that it was copied from; its own if it was not copied, or kept its id. */
  originalOf(line: string): string;
  /** The agent's compaction, by the ids in the original, after which the file begins; absent = it begins with the first turn. */
  readonly after?: { readonly compaction: string; readonly line: string };
  /** Id of the session that continues this one as a copy; absent = the file names none. */
  readonly continuedIn?: string;
}

export interface ImportedSession extends ImportedTurns {
  /** Format name, e.g. `claude-code`. */
  readonly format: string;
  /** An import is a function of the source and this. */
  readonly importer: number;
  /** The session's own id; `toUsableId` replaces one that does not match `[A-Za-z0-9._-]{1,128}`. */
  readonly sessionId: string;
  /** First words of the first request, one line. */
  readonly title: string;
  /** Later titles given by the agent or user, oldest first. */
  readonly titles: readonly { readonly timestamp: string; readonly title: string; readonly id: string }[];
  /** The tools it offered, one list per change, oldest first; absent = the format does not say. */
  readonly toolLists?: readonly ToolList[];
  /** Settings, oldest first; absent = the format does not say. */
  readonly settings?: readonly SettingsChange[];
  /** RFC 3339 UTC of the first dated line. */
  readonly createdAt: string;
  readonly cwd?: string;
  /** Line (0-based) at which a turn's piece of the source begins; rises with the turn; 0 for turn 0. Unused for documents. */
  turnLine(index: number): number;
  /** Whether the file has a line, message or part with this id, sent or not. */
  hasLine(id: string): boolean;
  /** Timestamp of a turn's turn_start, without reading the turn. */
  turnTime(index: number): string;
  /** The agent's own compactions, oldest first; the caller fills in `covers`, `basis` and `stats.tokens`. */
  readonly compactions: readonly Compaction[];
  /** Ids of those that jpg exported unchanged: its conversation already has them. Absent = none. */
  readonly exportedCompactions?: ReadonlySet<string>;
  /** Turn during or after which each compaction was made, by its id: its commit follows that turn's. */
  readonly compactionTurns: ReadonlyMap<string, number>;
  readonly abandoned: readonly AbandonedBranch[];
  readonly skippedLines: readonly SkippedLine[];
  /** Absent = the agent's sessions hold no marks of compactions that jpg made while it ran. */
  readonly live?: LiveMarks;
  /** Sessions of sub-agents in the same file; absent = there are none. */
  readonly parts?: readonly SessionPart[];
  /** Absent = its lines have no ids that a copy keeps. */
  readonly lineage?: SessionLineage;
  /** Present when jpg exported this file. */
  readonly origin?: ExportOrigin;
  /** Id of the exported session, if the agent copied it into one with a new id; absent = this one. */
  readonly exportedAs?: string;
}

// Names derived from source ids, the same at every import, for ids that are not usable as names and for what has no id. FNV-1a,
// 64 bits: not for security.

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

/** Derives a short name, `[0-9a-z]{13}`, from a text. */
export function deriveName(text: string): string {
  let hash = OFFSET;
  for (let at = 0; at < text.length; at++) hash = ((hash ^ BigInt(text.charCodeAt(at))) * PRIME) & MASK;
  return hash.toString(36).padStart(13, "0");
}

/** The id names a folder of the tree, so it must not mean another folder (`..`) or anything to git. */
const USABLE_ID = /^(?!\.+$|\.git)[A-Za-z0-9._-]{1,128}$/i;

/** Returns an id usable in names: the id itself, else a name derived from it. */
export function toUsableId(id: string): string {
  return USABLE_ID.test(id) ? id : `session-${deriveName(id)}`;
}

// The side line of an exported session: the conversation, branch and commit that it shows. Anybody may write one: check it
// before believing it.

const ORIGIN_TYPE = "jpg-origin";
/** Version of the side line; a reader ignores newer ones. */
const ORIGIN_FORMAT = 1;

/** Creates the side line of a session. The agent must ignore and keep it. */
export function createOriginLine(origin: ExportOrigin, sessionId: string): Readonly<Record<string, unknown>> {
  return { type: ORIGIN_TYPE, format: ORIGIN_FORMAT, ...origin, sessionId };
}

/** Recognises a side line of any version. */
export function isOriginLine(line: Readonly<Record<string, unknown>>): boolean {
  return line["type"] === ORIGIN_TYPE;
}

/** Reads the origin from a parsed side line; null for any other line. Never throws. */
export function readExportOrigin(line: unknown): ExportOrigin | null {
  if (typeof line !== "object" || line === null || !("type" in line) || line.type !== ORIGIN_TYPE) return null;
  const { format, conversation, branch, commit, turn } = line as Readonly<Record<string, unknown>>;
  if (format !== ORIGIN_FORMAT) return null;
  if (typeof conversation !== "string" || typeof branch !== "string" || typeof commit !== "string") return null;
  const hasTurn = Number.isSafeInteger(turn) && Number(turn) >= 0;
  return { conversation, branch, commit, ...(hasTurn ? { turn: Number(turn) } : {}) };
}

/** Reads the origin from the text of a side line; null for any other text. Never throws. */
export function parseExportOrigin(text: string): ExportOrigin | null {
  if (text.length > LONGEST_ORIGIN) return null;
  try {
    return readExportOrigin(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return null; // not jpg's side line; the importer reports lines that cannot be read
  }
}

/** jpg's own line is short. Characters. */
const LONGEST_ORIGIN = 4096;

// Names of the lines of an exported session. A format derives ids from these names, so an import recognises exported lines by
// deriving the ids again, without repeating the export.

/** A source of exported lines. */
interface LineSource {
  /** Id of an event or of a compaction (its summary), or `boundaryName`; "" = what comes before all others. */
  readonly name: string;
  /** Event or compaction shown; "" = none. */
  readonly shows: string;
  /** Turn of the conversation, 0-based; absent = none. */
  readonly turn?: number;
  /**
   * The message that an event belongs to; for a result, its call's. A format may write it as one line, named after the first
   * event.
   */
  readonly message?: string;
}

/**
 * Names the `n`-th line of a source, 0-based. A line that shows nothing by itself, such as a result added by hardening, is a
 * further line of the source before it.
 */
export function lineName(source: string, n: number): string {
  return n === 0 && source !== "" ? source : `${source}#${n}`;
}

/** Names the line by which an agent marks where its own compacted history begins. */
export function boundaryName(compaction: string): string {
  return `${compaction}.boundary`;
}

/** Lists every source that an export of a view may name lines after, in view order. */
export function* listLineSources({ turns }: View): Generator<LineSource> {
  const calls = pairCalls(
    turns.map(({ events }, index) => ({ index, events })),
    () => false,
  );
  yield { name: "", shows: "" };
  for (const { origin, events } of turns) {
    const turn = origin.kind === "kept" ? origin.turn : origin.to;
    if (origin.kind !== "kept" && origin.kind !== "index") {
      yield { name: boundaryName(origin.compaction), shows: origin.compaction, turn };
      yield { name: origin.compaction, shows: origin.compaction, turn };
    }
    for (const event of events) {
      const message = messageOf(event, calls);
      const source = { name: event.id, shows: event.id, turn };
      if (traitsOf(event).providerVisible) yield message === undefined ? source : { ...source, message };
    }
  }
}

function messageOf(event: Event, calls: CallPairs): string | undefined {
  const said = event.type === "tool_call_response" ? calls.get(event) : event;
  return said?.metadata?.message_id;
}

/** Identifies one exported session: exporting the same things twice gives the same id. */
export interface SessionName {
  readonly conversation: string;
  readonly branch: string;
  /** The branch's newest commit. */
  readonly tip: string;
  /** Export format, e.g. `claude-code`. */
  readonly target: string;
  /** Number of the export of this tip, from 0, to make ids differ. */
  readonly n: number;
}

/** SHA-1 of some bytes: 20 bytes. */
export type Sha1 = (bytes: Uint8Array) => Uint8Array;

/** Namespace of jpg's session ids, chosen at random. Never changes. */
const SESSION_NAMESPACE = "0d9b53c5-6a0e-4b52-9d0c-7b1f3c2e8a64";

/** Derives the id of an exported session. */
export function sessionUuid({ conversation, branch, tip, target, n }: SessionName, sha1: Sha1): string {
  return uuidV5(SESSION_NAMESPACE, JSON.stringify([conversation, branch, tip, target, n]), sha1);
}

/** Derives the id of an exported line; for `sourceId` see `lineName`. */
export function lineUuid(sessionId: string, sourceId: string, sha1: Sha1): string {
  return uuidV5(sessionId, sourceId, sha1);
}

/** Makes a name-based UUID, version 5 (RFC 9562). */
export function uuidV5(namespace: string, name: string, sha1: Sha1): string {
  const text = new TextEncoder().encode(name);
  const input = new Uint8Array(16 + text.length);
  input.set(bytesOfUuid(namespace));
  input.set(text, 16);
  const digest = Uint8Array.from(sha1(input).subarray(0, 16));
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function bytesOfUuid(uuid: string): Uint8Array {
  const hex = uuid.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));
}

/** Longest text kept in a note, characters. */
const MAX_TEXT = 200;

/** Whether a note keeps a value: a number, a boolean, a non-empty text. */
export function isPlain(value: unknown): boolean {
  return typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean";
}

/** Cuts a long text; other values stay as they are. */
export function shorten(value: unknown): unknown {
  return typeof value === "string" && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}

/** Picks the plain values of an object, long texts cut. */
export function plainValues(line: RawLine): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(line).flatMap(([key, value]) => (isPlain(value) ? [[key, shorten(value)]] : [])),
  );
}

/** The compactions of a session without those that it says were undone. */
export function compactionsInForce({ compactions, live }: ImportedSession): readonly Compaction[] {
  const undone = new Set(live?.undone.map(({ compaction }) => compaction));
  return compactions.filter(({ id }) => !undone.has(id));
}
