// The transcript: raw events as text that a model reads to summarise them. Labels are lines that begin with a mark with which no line of
// the conversation begins, so that nothing said can pass for somebody else's words. Long texts keep their head and tail and say how much is
// missing; nothing is left out silently.
import {
  type Content,
  type ContentPart,
  documentText,
  type Event,
  isText,
  opaqueName,
  opaqueTexts,
  plainText,
  type Text,
  type ToolCallResponse,
  traitsOf,
} from "../conversation/event.ts";
import { estimateTextTokens } from "../conversation/text-tokens.ts";
import { pairCalls } from "../conversation/tool-pairing.ts";
import { truncateText } from "../conversation/tool-stub.ts";
import { groupTurns, type PlacedEvent } from "./event-ledger.ts";
import { cutParts, type TurnPart } from "./turn-parts.ts";

/** Longest texts that stay whole, characters; > 0. */
interface TranscriptLimits {
  /** Of a result, of an argument of a call, and of reasoning. */
  readonly output: number;
  /** Of what the user and the assistant say. */
  readonly speech: number;
}

export interface Transcript {
  readonly text: string;
  /** What labels begin with. */
  readonly mark: string;
  /** What was left out of the middle of texts. */
  readonly cut: CutTexts;
}

/** Texts that did not fit whole. */
export interface CutTexts {
  readonly texts: number;
  /** Characters left out of them. */
  readonly chars: number;
}

export const NOTHING_CUT: CutTexts = { texts: 0, chars: 0 };

/** Who speaks, on one line, and what. */
interface TranscriptEntry {
  readonly label: string;
  readonly body: string;
}

/** Renders events (in order). Skips kinds that no model is sent. */
export function renderTranscript(events: readonly PlacedEvent[], limits: TranscriptLimits): Transcript {
  const writer: Writer = { limits, cut: { texts: 0, chars: 0 } };
  return { ...writeEntries(listEntries(events, writer)), cut: writer.cut };
}

/** Joins entries, each under its label. */
export function writeEntries(entries: readonly TranscriptEntry[]): Pick<Transcript, "text" | "mark"> {
  const mark = freeMark(entries);
  const text = entries.map(({ label, body }) => `${mark} ${label}${body === "" ? "" : `\n${body}`}`).join("\n");
  return { text, mark };
}

interface Writer {
  readonly limits: TranscriptLimits;
  readonly cut: { texts: number; chars: number };
}

function listEntries(events: readonly PlacedEvent[], writer: Writer): readonly TranscriptEntry[] {
  const toolOf = createToolLookup(events);
  const entries: TranscriptEntry[] = [];
  let turn = -1;
  for (const placed of events) {
    if (!traitsOf(placed.event).providerVisible) continue;
    if (placed.turn !== turn) {
      turn = placed.turn;
      entries.push({ label: `turn ${turn}`, body: "" });
    }
    const entry = entryOf(placed.event, writer, toolOf);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** Which tool a result is of; "" if its call is not among the events. */
function createToolLookup(events: readonly PlacedEvent[]): (response: ToolCallResponse) => string {
  const pairs = pairCalls(groupTurns(events), () => false);
  return (response) => pairs.get(response)?.name ?? "unknown tool";
}

function entryOf(event: Event, writer: Writer, toolOf: (response: ToolCallResponse) => string): TranscriptEntry | null {
  const { output, speech } = writer.limits;
  switch (event.type) {
    case "chat_request":
      return { label: speakerOf(event), body: contentOf(event.content, speech, writer) };
    case "chat_response": {
      if (event.message !== undefined) return { label: "assistant", body: contentOf(event.message, speech, writer) };
      if (event.data !== undefined) return { label: "assistant data", body: jsonOf(event.data, output, writer) };
      const thought = textOf(event.reasoning ?? "", output, writer);
      return thought.trim() === "" ? null : { label: "assistant thinks", body: thought };
    }
    case "tool_call_request":
      return { label: `call of ${oneLine(event.name)}`, body: argumentsOf(event.arguments, writer) };
    case "tool_call_response": {
      const failed = event.is_error ? " (failed)" : "";
      return {
        label: `result of ${oneLine(toolOf(event))}${failed}`,
        body: contentOf(event.content, output, writer),
      };
    }
    default:
      return null;
  }
}

function speakerOf(event: Extract<Event, { type: "chat_request" }>): string {
  const origin = event.metadata?.origin;
  if (origin === "harness" || origin === "merge") return origin;
  if (event.role === "system" || event.role === "developer") return event.role;
  return origin === "queued" ? "user, while the assistant worked" : "user";
}

function contentOf(content: Content, limit: number, writer: Writer): string {
  if (isText(content)) return textOf(content, limit, writer);
  return content.map((part) => partOf(part, limit, writer)).join("\n");
}

function partOf(part: ContentPart, limit: number, writer: Writer): string {
  switch (part.type) {
    case "text":
      return textOf(part.text, limit, writer);
    case "attachment":
      return [`[attachment ${part.name ?? "without a name"}]`, textOf(part.text ?? "", limit, writer)]
        .join("\n")
        .trimEnd();
    case "image":
    case "document": {
      const line = `[${[part.type, part.title, part.media_type].filter((word) => word !== undefined).join(" ")}]`;
      return `${line}\n${textOf(documentText(part) ?? "", limit, writer)}`.trimEnd();
    }
    case "opaque": {
      const text = opaqueTexts(part).join("\n");
      if (text === "") return `[what only ${part.provider ?? "its provider"} can read]`;
      return `[${opaqueName(part)}]\n${textOf(text, limit, writer)}`;
    }
    default:
      return jsonOf(part, limit, writer);
  }
}

function textOf(text: Text, limit: number, writer: Writer): string {
  const whole = plainText(text);
  const shorter = truncateText(whole, { max_chars: limit });
  if (shorter !== whole) {
    writer.cut.texts += 1;
    writer.cut.chars += whole.length - limit;
  }
  return shorter;
}

/** Arguments, one a line, strings unquoted: half the size of JSON with its escapes. */
function argumentsOf(args: unknown, writer: Writer): string {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return jsonOf(args, writer.limits.output, writer);
  return Object.entries(args)
    .map(([name, value]) => {
      const text =
        typeof value === "string"
          ? textOf(value, writer.limits.output, writer)
          : jsonOf(value, writer.limits.output, writer);
      return `${name}: ${text}`;
    })
    .join("\n");
}

function jsonOf(value: unknown, limit: number, writer: Writer): string {
  // undefined has no JSON.
  return textOf(JSON.stringify(value) ?? "", limit, writer);
}

/** The first of `@`, `@1`, `@2` … that, followed by a blank, begins no line of any text. */
function freeMark(entries: readonly TranscriptEntry[]): string {
  const taken = new Set<string>();
  for (const { body } of entries)
    for (const [, mark = ""] of body.matchAll(/(?:^|[\n\r])(@\d{0,6}) /g)) taken.add(mark);
  let mark = "@";
  for (let count = 1; taken.has(mark); count += 1) mark = `@${count}`;
  return mark;
}

function oneLine(name: string): string {
  return name.replace(/\s+/g, " ").trim();
}

const WHOLE: TranscriptLimits = { output: Number.POSITIVE_INFINITY, speech: Number.POSITIVE_INFINITY };
/** Outputs are shortened to this before what is said is cut: two thousand characters hold an error with its trace. */
const LEAST_OUTPUT = 2000;
/** The same for what is said, which is worth more. */
const LEAST_SPEECH = 20_000;
/** Shortest length of every text of a part. */
const LEAST_CHARS = 200;
/** Step between two lengths that are tried, characters. */
const STEP_CHARS = 200;

/** One part of what is summarised. */
export interface TranscriptPart {
  readonly events: readonly PlacedEvent[];
  readonly transcript: Transcript;
}

/**
 * Returns the transcript of events that has at most so many tokens (estimated) and leaves out the least: nothing if all fits, else the
 * middle of the longest outputs, then of the longest speech; null when none fits.
 */
export function fitWhole(events: readonly PlacedEvent[], budgetTokens: number): Transcript | null {
  const fits = (limits: TranscriptLimits): Transcript | null => {
    const transcript = renderTranscript(events, limits);
    return estimateTextTokens(transcript.text) <= budgetTokens ? transcript : null;
  };
  const whole = fits(WHOLE);
  if (whole !== null) return whole;
  const longest = events.reduce((most, { event }) => Math.max(most, JSON.stringify(event).length), 0);
  const range = { least: LEAST_OUTPUT, most: longest };
  return (
    widest(range, (output) => fits({ ...WHOLE, output })) ??
    widest({ ...range, least: LEAST_SPEECH }, (speech) => fits({ output: LEAST_OUTPUT, speech }))
  );
}

/** The transcript of the greatest length that fits, to 200 characters; null when the shortest does not. */
function widest(
  { least, most }: { readonly least: number; readonly most: number },
  fits: (length: number) => Transcript | null,
): Transcript | null {
  let best = fits(least);
  if (best === null) return null;
  for (let [low, high] = [least, most]; high - low > STEP_CHARS; ) {
    const middle = Math.floor((low + high) / 2);
    const found = fits(middle);
    if (found === null) high = middle;
    else [low, best] = [middle, found];
  }
  return best;
}

/** Splits events into transcripts of at most so many tokens (estimated) each, in order; every event is in exactly one. */
export function fitParts(events: readonly PlacedEvent[], budgetTokens: number): readonly TranscriptPart[] {
  const turns = groupTurns(events);
  const placedOf = new Map<Event, PlacedEvent>(events.map((placed) => [placed.event, placed]));
  const estimate = (event: Event): number =>
    estimateTextTokens(renderTranscript([placedOf.get(event) as PlacedEvent], WHOLE).text);
  return takeParts(events, cutParts(turns, { budgetTokens, estimate })).map((part) => ({
    events: part,
    transcript: fitWhole(part, budgetTokens) ?? squeeze(part, budgetTokens),
  }));
}

/** Assigns the events to the parts, by the turn and event that each begins with. */
function takeParts(events: readonly PlacedEvent[], cuts: readonly TurnPart[]): readonly (readonly PlacedEvent[])[] {
  const parts: PlacedEvent[][] = [];
  for (const placed of events) {
    const next = cuts[parts.length];
    if (next?.from_turn === placed.turn && (next.from_event ?? placed.event.id) === placed.event.id) parts.push([]);
    parts.at(-1)?.push(placed);
  }
  return parts;
}

/** Shortens texts step by step until they fit; returns the shortest form even if it does not. */
function squeeze(events: readonly PlacedEvent[], budgetTokens: number): Transcript {
  let limits: TranscriptLimits = { output: LEAST_OUTPUT, speech: LEAST_SPEECH };
  for (;;) {
    const transcript = renderTranscript(events, limits);
    if (estimateTextTokens(transcript.text) <= budgetTokens || limits.speech <= LEAST_CHARS) return transcript;
    const speech = Math.max(LEAST_CHARS, Math.floor(limits.speech / 2));
    limits = { speech, output: Math.max(LEAST_CHARS, Math.min(limits.output, speech)) };
  }
}
