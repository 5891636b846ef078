// The compaction: an overlay that changes how a turn range is *read* and leaves every event as it is. One JSON line in a
// file of its own under compactions/ (docs/FORMAT.md §5). Absent policy = no opinion on that content type.
import type { Event } from "../event/event.ts";
import type { LossReceipt } from "./loss-receipt.ts";

export interface Truncation {
  /** Longest response kept whole, in characters; > 0. */
  readonly max_chars: number;
  /** Share of max_chars kept at the start, 0..1; default 0.5. */
  readonly head?: number;
}

/** What happens to one half of a tool call. */
export type FieldPolicy = "keep" | "strip";

/** What a selective policy says about one half of a named call. */
export type CallPolicy =
  | FieldPolicy
  | "omit"
  | { readonly truncate: Truncation }
  /** Of arguments: leaves out every text longer than this many characters, so that the path of a write stays. */
  | { readonly drop: { readonly max_chars: number } };

export interface SelectedCall {
  /** Id of the tool_call_request event. */
  readonly event: string;
  readonly request?: CallPolicy;
  readonly response?: CallPolicy;
}

export type UniformToolCallPolicy =
  | { readonly policy: "strip"; readonly request: boolean; readonly response: boolean }
  | ({ readonly policy: "truncate" } & Truncation)
  | { readonly policy: "omit" };

export type ToolCallPolicy =
  | UniformToolCallPolicy
  | { readonly policy: "selective"; readonly calls: readonly SelectedCall[]; readonly else?: UniformToolCallPolicy };

/** How a summary stands in the thread; `pair` is the default. */
export type Injection = "pair" | "request" | "system";

/** The word in place of a model's name for a summary that no model writes: an extract by fixed rules. */
export const EXTRACTIVE = "extractive";

/** What the calls that wrote a summary used together, as their provider counted: tokens, whole. */
export interface SummaryUsage {
  /** Requests that were answered, those with an answer that was not taken among them. */
  readonly calls: number;
  /** Sent and neither read from nor written to a cache. */
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
}

/** Tokens of all that was sent. */
export function tokensSent({ input, cache_read, cache_write }: SummaryUsage): number {
  return input + cache_read + cache_write;
}

export interface Summary {
  readonly summary: string;
  readonly source?: "generated" | "authored" | "extractive" | "imported";
  readonly inject?: Injection;
  /** `provider/model` that wrote it; `extractive` where none did. */
  readonly model?: string;
  /** SHA-256 of what was asked for, without the events. */
  readonly prompt_sha256?: string;
  readonly files?: readonly string[];
  readonly open_tasks?: readonly string[];
  /** Absent = not known. */
  readonly usage?: SummaryUsage;
  /** US dollars; absent = not known. */
  readonly price_usd?: number;
  /** Parts that were summarised one by one, each from its raw events, and whose summaries were merged; absent = one request held all. */
  readonly parts?: number;
  /** Texts that its model was shown with their middle left out, and the characters that were; absent = none. */
  readonly shortened?: { readonly texts: number; readonly chars: number };
}

/** The per-tool hint that was in force when the compaction was made, by tool name; `*` = every other tool. */
export interface ToolHint {
  readonly request?: FieldPolicy;
  readonly response?: FieldPolicy;
}

/** How the stubs of a compaction are written. */
export interface StubStyle {
  /** The stub of a result ends in ` · <event id>`; `jpg show <event id>` gives the original. */
  readonly pointers?: true;
  /** The stub of a result is followed by the first line of the output. */
  readonly first_line?: true;
  /** The stub of a result is followed by the head of its call's arguments, where the compaction strips these, too; `needs` names it. */
  readonly heads?: true;
}

/** A list of what the view hides, made by rule when the compaction was made. Of a view's compactions the newest one's is shown. */
export interface HiddenIndex {
  /** As the model reads it. */
  readonly text: string;
  /** Entries in it. */
  readonly entries: number;
}

/** Tools whose definitions are not sent any more. */
export interface ToolPruning {
  readonly policy: "prune";
  readonly names: readonly string[];
  /** What their definitions came to in a request of jpg's, tokens, estimated; absent = the conversation's agent sends its own. */
  readonly tokens?: number;
}

export interface CompactionStats {
  readonly original_message_count?: number;
  /** Messages behind the range when it was compacted; without `kept_turns` it was turns. */
  readonly keep_recent?: number;
  readonly kept_turns?: number;
  readonly compression_ratio?: number;
  readonly tokens?: { readonly before: number; readonly after: number };
  readonly events_removed?: number;
  /** Of an omission that keeps turns of its range whole: those that go, as ranges in order; absent = all of the range. */
  readonly turns_omitted?: readonly { readonly from: number; readonly to: number }[];
}

export interface Compaction {
  readonly type: "compaction";
  readonly id: string;
  /** RFC 3339 UTC; latest wins, ties: larger id. */
  readonly timestamp: string;
  /** First turn, 0-based, inclusive. */
  readonly from_turn: number;
  /** Last turn, 0-based, inclusive; clamped to the newest turn. */
  readonly to_turn: number;
  /** First event covered inside from_turn; absent = the turn's first. */
  readonly from_event?: string;
  /** Last event covered inside to_turn; absent = the turn's last, also of what is appended later. */
  readonly to_event?: string;
  /** Events inside the range that stay unchanged: older compactions do not count for them. */
  readonly keep?: readonly string[];
  readonly summary?: Summary;
  readonly replacement?: readonly Event[];
  readonly turns?: "omit";
  readonly reasoning?: "strip";
  readonly tool_calls?: ToolCallPolicy;
  readonly tool_overrides?: Readonly<Record<string, ToolHint>>;
  /** How stubs are written where this compaction wins; absent = plain. */
  readonly stubs?: StubStyle;
  readonly attachments?: "strip";
  readonly tools?: ToolPruning;
  /** What the view hides up to the end of the range, when this was made. */
  readonly index?: HiddenIndex;
  /** What a reader must know: `index`, and `heads` of `stubs`. */
  readonly needs?: readonly string[];
  /** Digest over what it covers; a summary or replacement whose digest does not match the branch is not applied. */
  readonly covers?: string;
  /** Ids of the compactions in force when it was made. */
  readonly basis?: readonly string[];
  /** Records of one commit share it: they are shown, taken back and brought back as one (group.ts). */
  readonly group?: string;
  readonly profile?: string;
  readonly source?: "manual" | "auto" | "agent" | "import";
  readonly strategy?: readonly string[];
  /** Why an import made it, e.g. `broken-parent`. */
  readonly reason?: string;
  readonly stats?: CompactionStats;
  /** What it takes from the model's sight, computed when it was made. */
  readonly receipt?: LossReceipt;
  /** What only the importer's format understands, e.g. Claude's compactMetadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Whether it hides whole events: summary, replacement and omission are one content type, the latest wins among them. */
export function isHiding(compaction: Compaction): boolean {
  return compaction.summary !== undefined || compaction.replacement !== undefined || compaction.turns !== undefined;
}

/** Gives a compaction without its index: what it lists is not said of these turns. */
export function withoutIndex(compaction: Compaction): Compaction {
  if (compaction.index === undefined) return compaction;
  const { index: _, needs = [], ...rest } = compaction;
  const others = needs.filter((need) => need !== "index");
  return others.length === 0 ? rest : { ...rest, needs: others };
}

/** Orders compactions oldest first: by timestamp, ties by id. Timestamps are compared as instants. */
export function compareCompactions(a: Compaction, b: Compaction): number {
  const byTime = compareTimestamps(a.timestamp, b.timestamp);
  if (byTime !== 0) return byTime;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** Compares two UTC timestamps of any number of fraction digits, `T` or blank between date and time, with or without `Z`. */
export function compareTimestamps(a: string, b: string): number {
  if (a === b) return 0;
  const [x, y] = isAlike(a, b) ? [a, b] : [sortKey(a), sortKey(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Most pairs have one form, and stand as texts as they stand as times: nothing is made anew for a comparison. */
function isAlike(a: string, b: string): boolean {
  return a.length === b.length && hasPlainForm(a) && hasPlainForm(b);
}

/** `2026-11-21T20:30:00Z`, with or without a fraction. */
function hasPlainForm(time: string): boolean {
  return time[10] === "T" && time.endsWith("Z") && (time[19] === "." || time.length === 20);
}

function sortKey(timestamp: string): string {
  const plain = timestamp.replace(" ", "T").replace(/(Z|\+00:00)$/, "");
  const [seconds, fraction = ""] = plain.split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
