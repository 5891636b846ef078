// What a compaction takes out of the view, for reviewers: which tools, how much, which files and commands. Deterministic, and in a fixed
// order.
import { FACT_KINDS, type FactCounts, type FactKind, type LossReceipt } from "../conversation/compaction.ts";
import {
  type Content,
  type ContentPart,
  documentText,
  type Event,
  opaqueTexts,
  splitTurns,
  type Text,
  type ToolCallRequest,
  textBytes,
  traitsOf,
  type View,
} from "../conversation/event.ts";
import { estimateEvent } from "../conversation/token-estimate.ts";
import { pairCalls } from "../conversation/tool-pairing.ts";

/** Calls of one tool that are hidden or shortened. Bytes are UTF-8 bytes of text, tokens are estimates. */
export interface HiddenTool {
  readonly name: string;
  readonly calls: number;
  /** How many of the calls failed. */
  readonly errors: number;
  readonly bytes: number;
  readonly tokens: number;
}

export interface HiddenContent {
  /** Estimates over everything it covers. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** UTF-8 bytes of the texts it covers. */
  readonly bytes: { readonly before: number; readonly after: number };
  /** Events sent to a model that are gone, or changed. */
  readonly events_removed: number;
  readonly events_changed: number;
  /** Most tokens first, then by name. */
  readonly tools: readonly HiddenTool[];
  /** Files that hidden calls touched, by name. */
  readonly files: readonly string[];
  /** First lines of the commands that hidden calls ran, in order, each once. */
  readonly commands: readonly string[];
  /** First lines of the user's requests that are gone, in order. */
  readonly requests: readonly string[];
}

/**
 * Compares the raw events a compaction covers with what the view shows of them. Events are matched by id; the same object is unchanged
 * (projection returns unchanged events as they are). Shown events that are not raw (a summary's) count towards the size afterwards.
 * `countEvent` returns the tokens of one, counted as for the whole view.
 */
export function hiddenContent(
  raw: readonly Event[],
  shown: Iterable<Event>,
  countEvent: (event: Event) => number = estimateEvent,
): HiddenContent {
  const after = new Map<string, Event>();
  const total = { tokens: { before: 0, after: 0 }, bytes: { before: 0, after: 0 } };
  const sizeOf = createSizes(countEvent);
  for (const event of shown) {
    after.set(event.id, event);
    const { tokens, bytes } = sizeOf(event);
    total.tokens.after += tokens;
    total.bytes.after += bytes;
  }
  const touched: Event[] = [];
  let removed = 0;
  for (const event of raw) {
    const { tokens, bytes } = sizeOf(event);
    total.tokens.before += tokens;
    total.bytes.before += bytes;
    const now = after.get(event.id);
    if (now === event || !traitsOf(event).providerVisible) continue;
    if (now === undefined) removed += 1;
    touched.push(event);
  }
  const calls = touchedCalls(raw, touched);
  return {
    tokens: { before: Math.round(total.tokens.before), after: Math.round(total.tokens.after) },
    bytes: total.bytes,
    events_removed: removed,
    events_changed: touched.length - removed,
    tools: listTools(calls, (event) => subtractSize(sizeOf(event), sizeOf(after.get(event.id)))),
    files: [...new Set(calls.flatMap(({ request }) => filesNamed(request.arguments)))].sort(),
    commands: [...new Set(calls.flatMap(({ request }) => commandsRun(request.arguments)))],
    requests: touched.filter((event) => !after.has(event.id)).flatMap(requestLine),
  };
}

/** A call with a changed half. */
interface TouchedCall {
  readonly request: ToolCallRequest;
  readonly halves: readonly Event[];
  readonly failed: boolean;
}

function touchedCalls(raw: readonly Event[], touched: readonly Event[]): readonly TouchedCall[] {
  const pairs = pairCalls(
    splitTurns(raw, (event) => traitsOf(event).providerVisible),
    () => false,
  );
  const calls = new Map<ToolCallRequest, { halves: Event[]; failed: boolean }>();
  for (const event of touched) {
    const request = event.type === "tool_call_response" ? pairs.get(event) : event;
    if (request?.type !== "tool_call_request") continue;
    const call = calls.get(request) ?? { halves: [], failed: false };
    call.halves.push(event);
    call.failed ||= event.type === "tool_call_response" && event.is_error;
    calls.set(request, call);
  }
  return [...calls].map(([request, call]) => ({ request, ...call }));
}

interface Size {
  readonly bytes: number;
  readonly tokens: number;
}

const NOTHING: Size = { bytes: 0, tokens: 0 };

/** Returns a function that measures each event once: unchanged events are among both the raw and the shown ones. */
function createSizes(countEvent: (event: Event) => number): (event: Event | undefined) => Size {
  const sizes = new Map<Event, Size>();
  return (event) => {
    if (event === undefined) return NOTHING;
    const known = sizes.get(event);
    if (known !== undefined) return known;
    const size = { bytes: textBytes(event), tokens: countEvent(event) };
    sizes.set(event, size);
    return size;
  };
}

function subtractSize(before: Size, after: Size): Size {
  return { bytes: Math.max(0, before.bytes - after.bytes), tokens: Math.max(0, before.tokens - after.tokens) };
}

function listTools(calls: readonly TouchedCall[], lost: (event: Event) => Size): readonly HiddenTool[] {
  const tools = new Map<string, { calls: number; errors: number; bytes: number; tokens: number }>();
  for (const { request, halves, failed } of calls) {
    const tool = tools.get(request.name) ?? { calls: 0, errors: 0, bytes: 0, tokens: 0 };
    tool.calls += 1;
    if (failed) tool.errors += 1;
    for (const { bytes, tokens } of halves.map(lost)) {
      tool.bytes += bytes;
      tool.tokens += tokens;
    }
    tools.set(request.name, tool);
  }
  return [...tools]
    .map(([name, tool]) => ({ name, ...tool, tokens: Math.round(tool.tokens) }))
    .sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
}

function requestLine(event: Event): readonly string[] {
  if (event.type !== "chat_request" || event.metadata?.origin === "harness") return [];
  const { content } = event;
  const text =
    typeof content === "string"
      ? content
      : Array.isArray(content)
        ? content.find(({ type }) => type === "text")?.text
        : "";
  return typeof text === "string" && text.trim() !== "" ? [firstLine(text)] : [];
}

// What the arguments of a tool call show: files it touched, commands it ran. Guessed from the names of arguments that common agents use; a
// tool with other names shows nothing.

/** Keys of arguments that name files. */
const FILE_KEYS: readonly string[] = [
  "file_path",
  "path",
  "notebook_path",
  "filePath",
  "filename",
  "absolute_path",
  "target_file",
  "paths",
  "files",
];
/** Keys of arguments that contain a command line, as one text or as words. */
const COMMAND_KEYS: readonly string[] = ["command", "cmd", "script"];
/** Longest first line returned, characters. */
const LINE_LENGTH = 120;

/** Returns the files that the arguments of a call name, at the top or in a list of objects there, in order, with repeats. */
export function filesNamed(args: unknown): readonly string[] {
  if (Array.isArray(args)) return args.flatMap(filesNamed);
  if (typeof args !== "object" || args === null) return [];
  return Object.entries(args).flatMap(([key, entry]) => {
    if (!FILE_KEYS.includes(key)) return Array.isArray(entry) ? filesNamed(entry) : [];
    return (Array.isArray(entry) ? entry : [entry])
      .filter((name) => typeof name === "string" && name !== "")
      .map(firstLine);
  });
}

/** Returns the first lines of the commands that the arguments of a call run. */
export function commandsRun(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => {
    if (!COMMAND_KEYS.includes(key)) return [];
    const command = Array.isArray(entry) ? entry.filter((word) => typeof word === "string").join(" ") : entry;
    return typeof command === "string" && command.trim() !== "" ? [firstLine(command)] : [];
  });
}

/** Returns the first line of a text that is not blank, shortened to 120 characters. */
export function firstLine(text: string): string {
  const [line = ""] = text.trim().split(/\r?\n/, 1);
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH - 1)}…` : line;
}

// The texts of an event that a model reads, including those of documents and of providers' own items.

const DEEPEST = 100;

/** Returns the texts in order; for arguments every string inside them. Empty for kinds that no model is sent. */
export function textsOf(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return contentTexts(event.content);
    case "chat_response":
      return contentTexts(event.message ?? event.reasoning ?? "");
    case "tool_call_request":
      return stringsIn(event.arguments);
    default:
      return [];
  }
}

/** Returns every string inside a JSON value, in order, down to 100 levels. */
export function stringsIn(value: unknown): readonly string[] {
  const strings: string[] = [];
  collectStrings(value, strings, 0);
  return strings;
}

function collectStrings(value: unknown, strings: string[], depth: number): void {
  if (typeof value === "string") strings.push(value);
  else if (typeof value === "object" && value !== null && !("$attachment" in value) && depth < DEEPEST) {
    for (const item of Object.values(value)) collectStrings(item, strings, depth + 1);
  }
}

function contentTexts(content: Content): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return (content as Exclude<Content, Text>).flatMap(partTexts);
}

function partTexts(part: ContentPart): readonly string[] {
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? [part.text] : [];
    case "attachment":
      return [part.name, part.text].filter((text) => typeof text === "string");
    case "opaque":
      return opaqueTexts(part);
    default:
      return [part.title, documentText(part)].filter((text) => typeof text === "string");
  }
}

/** Separates the first line of a command from its outcome. */
const ARROW = " → ";

/**
 * Returns the commands by the event that ran them: the first line, shortened to 120 characters, followed by ` → ok` or ` → failed` when the
 * view shows a result.
 */
export function commandFacts(view: View): ReadonlyMap<Event, readonly string[]> {
  const turns = view.turns.map(({ events }, index) => ({ index, events }));
  const failed = new Map<ToolCallRequest, boolean>();
  for (const [response, request] of pairCalls(turns, () => false)) failed.set(request, response.is_error);
  const facts = new Map<Event, readonly string[]>();
  for (const { events } of view.turns) {
    for (const event of events) {
      const commands = event.type === "tool_call_request" ? commandsRun(event.arguments) : [];
      if (commands.length === 0) continue;
      const ending = endingOf(failed.get(event as ToolCallRequest));
      facts.set(
        event,
        commands.map((command) => command + ending),
      );
    }
  }
  return facts;
}

function endingOf(hasFailed: boolean | undefined): string {
  if (hasFailed === undefined) return "";
  return hasFailed ? `${ARROW}failed` : `${ARROW}ok`;
}

/** Returns the command line of a fact, as texts would repeat it. */
export function commandLineOf(fact: string): string {
  const arrow = fact.lastIndexOf(ARROW);
  const line = arrow < 0 ? fact : fact.slice(0, arrow);
  return line.endsWith("…") ? line.slice(0, -1) : line;
}

const MOST_LINES = 8;
/** Facts named in the line of those still mentioned. */
const MOST_NAMED = 3;
/** The fates of facts, and their names. */
const FATES = [
  ["visible", "visible"],
  ["summary", "in the summary"],
  ["pointer", "by pointer"],
  ["hidden", "hidden"],
] as const;

/**
 * Formats a receipt, one line per kind that loses anything, e.g. `files: 12, of them 9 visible, 3 hidden`, and one line of facts that later
 * turns still mention. At most 8 lines: the kinds with the fewest hidden facts are combined. Contains raw texts of the conversation: make
 * them safe for where they go.
 */
export function formatLoss({ facts, mentioned_later }: LossReceipt): readonly string[] {
  const kinds = FACT_KINDS.flatMap((kind) => {
    const counts = facts[kind];
    return counts === undefined ? [] : [{ kind, counts }];
  });
  const touched = kinds.filter(({ counts }) => counts.visible < counts.total);
  const whole = kinds.filter(({ counts }) => counts.visible === counts.total);
  const mentions = mentioned_later.slice(0, MOST_NAMED).map(({ text, turn }) => `${text} (turn ${turn})`);
  const room = MOST_LINES - (whole.length > 0 ? 1 : 0) - (mentions.length > 0 ? 1 : 0);
  const own = touched.length <= room ? touched : largest(touched, room - 1);
  const others = touched.filter((kind) => !own.includes(kind));
  return [
    ...own.map(({ kind, counts }) => `${kind}: ${formatCounts(counts)}`),
    ...(others.length === 0 ? [] : [`also hidden: ${others.map(formatHidden).join(", ")}`]),
    ...(whole.length === 0
      ? []
      : [`all visible: ${whole.map(({ kind, counts }) => `${counts.total} ${kind}`).join(", ")}`]),
    ...(mentions.length === 0
      ? []
      : [`gone but mentioned later: ${countMentioned(facts)}, such as ${mentions.join(", ")}`]),
  ];
}

interface KindCounts {
  readonly kind: FactKind;
  readonly counts: FactCounts;
}

/** Those with the most hidden facts, in the order of kinds. */
function largest(kinds: readonly KindCounts[], count: number): readonly KindCounts[] {
  const chosen = new Set([...kinds].sort((a, b) => b.counts.hidden - a.counts.hidden).slice(0, count));
  return kinds.filter((kind) => chosen.has(kind));
}

function formatHidden({ kind, counts }: KindCounts): string {
  return `${counts.hidden} of ${counts.total} ${kind}`;
}

function formatCounts(counts: FactCounts): string {
  const fates = FATES.flatMap(([key, name]) => (counts[key] === 0 ? [] : [`${counts[key]} ${name}`]));
  return `${counts.total}, of them ${fates.join(", ")}`;
}

function countMentioned(facts: LossReceipt["facts"]): number {
  return Object.values(facts).reduce((sum, counts) => sum + counts.mentioned_later, 0);
}
