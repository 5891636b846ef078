// The compaction: an overlay that changes how a turn range is *read* and leaves every event as it is. One JSON line in a file
// of its own under compactions/ (docs/FORMAT.md §5). Absent policy = no opinion on that content type.
import { type ChatRequest, type Event, type ProjectedTurn, SUMMARY_ORIGIN, type TurnStart } from "./event.ts";

export interface Truncation {
  /** Longest response kept whole, in characters; > 0. */
  readonly max_chars: number;
  /** Share of max_chars kept at the start, 0..1; default 0.5. */
  readonly head?: number;
}

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

/** How a summary appears in the thread; default `pair`. */
export type Injection = "pair" | "request" | "system";

/** The word in place of a model's name for a summary that no model writes: an extract by fixed rules. */
export const EXTRACTIVE = "extractive";

/** Tokens, whole, that the calls which wrote a summary used together, as their provider counted. */
interface SummaryUsage {
  /** Requests that were answered, including those whose answer was rejected. */
  readonly calls: number;
  /** Sent, and neither read from nor written to a cache. */
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
}

/** Tokens sent in all, cached ones included. */
export function tokensSent({ input, cache_read, cache_write }: SummaryUsage): number {
  return input + cache_read + cache_write;
}

export interface Summary {
  readonly summary: string;
  readonly source?: "generated" | "authored" | "extractive" | "imported";
  readonly inject?: Injection;
  /** `provider/model` that wrote it; `extractive` where none did. */
  readonly model?: string;
  /** SHA-256 of the prompt, without the events. */
  readonly prompt_sha256?: string;
  readonly files?: readonly string[];
  readonly open_tasks?: readonly string[];
  /** Absent = not known. */
  readonly usage?: SummaryUsage;
  /** US dollars; absent = not known. */
  readonly price_usd?: number;
  /** Parts that were summarised one by one, each from its raw events, and whose summaries were merged; absent = one request held all. */
  readonly parts?: number;
  /** Texts that the model was shown with their middle left out, and the characters left out; absent = none. */
  readonly shortened?: { readonly texts: number; readonly chars: number };
}

/** The per-tool hint that was in force when the compaction was made, by tool name; `*` = every other tool. */
export interface ToolHint {
  readonly request?: FieldPolicy;
  readonly response?: FieldPolicy;
}

export interface StubStyle {
  /** The stub of a result ends in ` · <event id>`; `jpg show <event id>` prints the original. */
  readonly pointers?: true;
  /** The stub of a result is followed by the first line of the output. */
  readonly first_line?: true;
  /** The stub of a result is followed by the head of its call's arguments, where the compaction strips these too; `needs` names it. */
  readonly heads?: true;
  /** The stub of a result in the words of the agent that made the compaction, and nothing else; `needs` has `stub_text`. */
  readonly text?: string;
}

/** A list of what the view hides, made by rule when the compaction was made. A view shows the newest compaction's only. */
export interface HiddenIndex {
  /** As the model reads it. */
  readonly text: string;
  readonly entries: number;
}

/** Tools whose definitions are no longer sent. */
export interface ToolPruning {
  readonly policy: "prune";
  readonly names: readonly string[];
  /** Tokens that their definitions took in a request of jpg's, estimated; absent = the conversation's agent sends its own. */
  readonly tokens?: number;
}

interface CompactionStats {
  readonly original_message_count?: number;
  /** Messages after the range when it was compacted; without `kept_turns` it was turns. */
  readonly keep_recent?: number;
  readonly kept_turns?: number;
  readonly compression_ratio?: number;
  readonly tokens?: { readonly before: number; readonly after: number };
  readonly events_removed?: number;
  /** Of an omission that keeps some turns of its range whole: the turns that go, as ranges in order; absent = all of the range. */
  readonly turns_omitted?: readonly { readonly from: number; readonly to: number }[];
}

/** Policies of content types that are stripped or not; absent = no opinion. */
export interface StripPolicies {
  readonly reasoning?: "strip";
  readonly attachments?: "strip";
  readonly images?: "strip";
}

/** The policies of a compaction, a field for each content type of contents/content-types.ts; absent = no opinion. */
export interface ContentPolicies extends StripPolicies {
  readonly tool_calls?: ToolCallPolicy;
  readonly tools?: ToolPruning;
}

export interface Compaction extends ContentPolicies {
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
  /** Last event covered inside to_turn; absent = the turn's last, including events appended later. */
  readonly to_event?: string;
  /** Events inside the range that stay unchanged: older compactions do not apply to them. */
  readonly keep?: readonly string[];
  readonly summary?: Summary;
  readonly replacement?: readonly Event[];
  readonly turns?: "omit";
  readonly tool_overrides?: Readonly<Record<string, ToolHint>>;
  /** How stubs are written where this compaction wins; absent = plain. */
  readonly stubs?: StubStyle;
  /** What the view hid up to the end of the range when this was made. */
  readonly index?: HiddenIndex;
  /** What a reader must know: `index`, `heads` and `stub_text` of `stubs`, and content types that older readers lack. */
  readonly needs?: readonly string[];
  /** Digest over what it covers; a summary or replacement whose digest does not match the branch is not applied. */
  readonly covers?: string;
  /** Ids of the compactions in force when it was made. */
  readonly basis?: readonly string[];
  /** Records of one commit share it: they are shown, reverted and reapplied as one (group.ts). */
  readonly group?: string;
  readonly profile?: string;
  readonly source?: "manual" | "auto" | "agent" | "import";
  readonly strategy?: readonly string[];
  /** Why an import made it, e.g. `broken-parent`. */
  readonly reason?: string;
  readonly stats?: CompactionStats;
  /** What it removes from the model's sight, computed when it was made. */
  readonly receipt?: LossReceipt;
  /** What only the importer's format understands, e.g. Claude's compactMetadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Whether it hides whole events. Summary, replacement and omission are one content type: the latest of them wins. */
export function isHiding(compaction: Compaction): boolean {
  return compaction.summary !== undefined || compaction.replacement !== undefined || compaction.turns !== undefined;
}

/** Returns a compaction without its index, for turns that the index does not describe. */
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

/** Most pairs have one form, whose text order is their time order: they are compared without a copy. */
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

// The loss receipt: what a compaction removes from the model's sight, counted by kind of fact. Stored in the compaction and in
// the body of its commit, so that a reviewer sees the price without running anything.

/** The kinds of facts that are counted, in the order in which they are shown. */
export const FACT_KINDS = [
  "files",
  "commands",
  "numbers",
  "shas",
  "issues",
  "errors",
  "identifiers",
  "urls",
  "requests",
  "pins",
] as const;

export type FactKind = (typeof FACT_KINDS)[number];

/** Where the facts of one kind that the covered events hold are after the compaction. visible + summary + pointer + hidden = total. */
export interface FactCounts {
  /** Different facts that the covered events showed before: a fact that was hidden already is not lost again. */
  readonly total: number;
  /** Still somewhere in the view. */
  readonly visible: number;
  /** Of `visible`: files of which only the end of the path is visible, such as the base name, and no other of them ends so; absent = 0. */
  readonly by_name?: number;
  /** Not visible, but in the text of the summary. */
  readonly summary: number;
  /** Neither, but the stub in its place names the event to fetch it from. */
  readonly pointer: number;
  /** No longer visible; still in the conversation itself. */
  readonly hidden: number;
  /**
   * Of `total`: the first covered event that showed it no longer does, while a later turn that is kept in the view still
   * mentions it, in full, by the end of its path, or by the first digits of a SHA.
   */
  readonly mentioned_later: number;
}

/** A fact whose source is hidden although a later turn that is kept in the view still mentions it. */
export interface MentionedFact {
  readonly kind: FactKind;
  /** Shortened to 120 characters. */
  readonly text: string;
  /** Position of the first later turn that mentions it, 0-based. */
  readonly turn: number;
}

/** The loss receipt. Kinds without facts are absent. */
export interface LossReceipt {
  readonly facts: Readonly<Partial<Record<FactKind, FactCounts>>>;
  /** At most 20, by kind and then in order of appearance; at most 5 of a kind, so that no kind crowds out the others. */
  readonly mentioned_later: readonly MentionedFact[];
}

/** Says what was not read whole, each clause completing "read …" or "the summary's model read …"; empty where one request held all. */
export function describeReading({ parts, shortened }: Summary): readonly string[] {
  return [
    ...(parts === undefined ? [] : [`in ${parts} parts, with their summaries merged`]),
    ...(shortened === undefined
      ? []
      : [
          `with ${shortened.texts === 1 ? "one text" : `${shortened.texts} texts`} shortened in the middle, by ${shortened.chars} characters in all`,
        ]),
  ];
}

// The turn that a view shows in place of the turns that a summary or replacement hides. Ids derive from the compaction's id and
// times from the place of injection, so that the same conversation always gives the same view.

/** The request of an injected pair (RFD 064). */
const SUMMARY_REQUEST = "[Summary of previous conversation]";

/** Where a turn is injected. */
export interface InjectionSite {
  /** Time of the first event of the turn at which it is injected. */
  readonly timestamp: string;
  /** Clamped range of the compaction: turn positions, 0-based, inclusive. */
  readonly from: number;
  readonly to: number;
  /** Whether events of the range's last turn follow: then a pair would put two assistant messages in a row. */
  readonly endsInsideTurn: boolean;
  /** The view's index, when the summary ends with it. */
  readonly index?: string;
}

/** The index that is appended to a compaction's summary; undefined when it has no summary in the view. */
export function indexInSummary({ summary, replacement, index }: Compaction): string | undefined {
  return summary === undefined || replacement !== undefined ? undefined : index?.text;
}

/** Whether a hiding compaction puts something in place of what it hides; an omission and an empty list do not. */
export function isInjected(compaction: Compaction): boolean {
  if (compaction.replacement !== undefined) return compaction.replacement.length > 0;
  return compaction.summary !== undefined;
}

/** Creates the projected turn of a summary or replacement. */
export function createInjectedTurn(compaction: Compaction, site: InjectionSite): ProjectedTurn {
  const { id, summary, replacement, source } = compaction;
  const start: TurnStart = { type: "turn_start", id: `${id}.turn`, timestamp: site.timestamp };
  const kind = replacement === undefined ? "summary" : "replacement";
  const imported = source === "import" ? ({ imported: true } as const) : {};
  const origin = { kind, from: site.from, to: site.to, compaction: id, ...imported } as const;
  if (replacement !== undefined) return { origin, events: [start, ...listReplacement(id, replacement, site)] };
  if (summary === undefined) return { origin, events: [start] };
  return { origin, events: [start, ...listSummary(compaction, summary, site)] };
}

function listSummary(compaction: Compaction, summary: Summary, site: InjectionSite): readonly Event[] {
  const inject: Injection = site.endsInsideTurn ? "request" : (summary.inject ?? "pair");
  const count = compaction.stats?.original_message_count;
  const text = site.index === undefined ? summary.summary : `${summary.summary}\n\n${site.index}`;
  const request = (content: string): ChatRequest => ({
    type: "chat_request",
    id: `${compaction.id}.request`,
    timestamp: site.timestamp,
    ...(inject === "system" ? { role: "system" } : {}),
    content,
    metadata: { origin: SUMMARY_ORIGIN },
  });
  switch (inject) {
    case "pair": {
      const { timestamp } = site;
      return [
        request(SUMMARY_REQUEST),
        { type: "chat_response", id: `${compaction.id}.response`, timestamp, message: text },
      ];
    }
    case "request":
      return [request(summary.source === "imported" ? text : delimitSummary(text, count))];
    case "system":
      return [request(delimitSummary(text, count))];
  }
}

/** Puts a summary between the delimiters of the chat path; `messageCount` = messages that it replaces, when known. */
function delimitSummary(text: string, messageCount?: number): string {
  const count = messageCount === undefined ? "" : ` - ${messageCount} messages`;
  return `[CONVERSATION HISTORY SUMMARY${count}]\n\n${text}\n\n[END SUMMARY - Recent conversation continues below]`;
}

function listReplacement(id: string, events: readonly Event[], { timestamp }: InjectionSite): readonly Event[] {
  return events
    .map((event, at) => (event.id && event.timestamp ? event : identifyEvent(event, { id: `${id}.${at}`, timestamp })))
    .filter((event) => event.type !== "turn_start");
}

/** Keeps the key order of an event: type, id, timestamp, then the rest. */
function identifyEvent(event: Event, missing: { readonly id: string; readonly timestamp: string }): Event {
  const { type, id, timestamp, ...rest } = event;
  return { type, id: id || missing.id, timestamp: timestamp || missing.timestamp, ...rest } as Event;
}
