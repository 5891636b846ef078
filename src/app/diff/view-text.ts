// Renders a view as text blocks for diffing: one block per turn heading and one per event that a model sees. The same event always
// gives the same lines. Headings start at column 0 and content is indented, so neither can be mistaken for the other.
import {
  type ChatResponse,
  type Content,
  type ContentPart,
  describeTurns,
  documentText,
  type Event,
  isText,
  mediaUrl,
  type OpaquePart,
  type Origin,
  opaqueTexts,
  type ProjectedTurn,
  type Text,
  traitsOf,
  type View,
} from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { partName } from "../../core/model/part-name.ts";

/** Lines that belong together: a turn's heading (`event` is null) or one event. */
export interface TextBlock {
  /** Key for pairing; unique within a view, equal for the same event in two views. */
  readonly key: string;
  readonly origin: Origin;
  readonly event: Event | null;
  /** E.g. `tool result fs_read_file`; for a turn, the label of its origin. */
  readonly title: string;
  /** First line. */
  readonly heading: string;
  /** Lines under the heading, unindented, joined by `\n`; null = none, empty = one empty line. */
  readonly content: string | null;
}

interface RenderedEvent {
  readonly title: string;
  readonly content: string | null;
}

/** Rendered events of views that share event objects, so that each is rendered once. */
export type RenderedEvents = Map<Event, RenderedEvent>;

const INDENT = "  ";

/** Indents a line of content; an empty one stays empty. */
export function indentLine(line: string): string {
  return line === "" ? "" : INDENT + line;
}

/** Names the turns of an origin, e.g. `turn 3` or `turns 0..12: summary k3f9q2`. */
export function originLabel(origin: Origin): string {
  if (origin.kind === "kept") return `turn ${origin.turn}`;
  const turns = describeTurns(origin.from, origin.to);
  return `${turns}: ${origin.imported === true ? "imported " : ""}${origin.kind} ${origin.compaction}`;
}

/** Renders what a model sees of a view as blocks, in order. Events that no model sees have none. */
export function viewBlocks(view: View, rendered: RenderedEvents = new Map()): TextBlock[] {
  const blocks: TextBlock[] = [];
  const seen = new Map<string, number>();
  const toolNames = new Map<string, string>();
  const keyOf = (name: string): string => {
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return `${name}#${times}`;
  };
  for (const turn of view.turns) {
    blocks.push(headingBlock(turn, keyOf));
    for (const event of turn.events) {
      if (!traitsOf(event).providerVisible) continue;
      const { title, content } = renderOnce(event, toolNames, rendered);
      blocks.push({ key: keyOf(`event ${event.id}`), origin: turn.origin, event, title, heading: title, content });
    }
  }
  return blocks;
}

export function contentLines(content: string | null): string[] {
  return content === null ? [] : content.split("\n");
}

/** Renders the lines of one event; an event that no model sees as JSON. */
export function eventLines(event: Event): string[] {
  return contentLines(traitsOf(event).providerVisible ? eventText(event) : jsonText(event));
}

function headingBlock({ origin }: ProjectedTurn, keyOf: (name: string) => string): TextBlock {
  const title = originLabel(origin);
  const part = origin.kind === "kept" && origin.part ? " (part)" : "";
  return {
    key: keyOf(`heading ${title}`),
    origin,
    event: null,
    title,
    heading: `== ${title}${part} ==`,
    content: null,
  };
}

function renderOnce(event: Event, toolNames: Map<string, string>, rendered: RenderedEvents): RenderedEvent {
  if (event.type === "tool_call_request") toolNames.set(event.call_id, event.name);
  const title = eventTitle(event, toolNames);
  const known = rendered.get(event);
  if (known?.title === title) return known;
  const fresh = { title, content: eventText(event) };
  rendered.set(event, fresh);
  return fresh;
}

/** Names an event, e.g. `tool result fs_read_file`; `toolNames` = tool names by call id. */
export function eventTitle(event: Event, toolNames: ReadonlyMap<string, string>): string {
  const origin = event.metadata?.origin === undefined ? "" : ` (${partName(event.metadata.origin)})`;
  switch (event.type) {
    case "chat_request":
      return `${event.role ?? "user"}${origin}`;
    case "chat_response":
      if (event.reasoning !== undefined) return "assistant (reasoning)";
      return event.message === undefined ? "assistant (data)" : "assistant";
    case "tool_call_request":
      return `tool call ${event.name}`;
    case "tool_call_response":
      return `tool result ${toolNames.get(event.call_id) ?? event.call_id}${event.is_error ? " (error)" : ""}`;
    default:
      return event.type;
  }
}

/** Renders the text of an event that a model sees; null if it has none. */
export function eventText(event: Event): string | null {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return contentText(event.content);
    case "chat_response":
      if (event.message !== undefined) return contentText(event.message);
      return event.reasoning === undefined ? jsonText(event.data) : reasoningText(event);
    case "tool_call_request":
      return argumentsText(event.arguments);
    default:
      return null;
  }
}

function reasoningText(event: ChatResponse): string | null {
  const text = event.reasoning === "" || event.reasoning === undefined ? [] : [plainText(event.reasoning)];
  const parts = event.metadata?.encrypted === undefined ? text : [...text, "[encrypted reasoning]"];
  return parts.length === 0 ? null : parts.join("\n");
}

function contentText(content: Content): string | null {
  if (isText(content)) return plainText(content);
  return content.length === 0 ? null : content.map(partText).join("\n");
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return plainText(part.text);
    case "image":
    case "document": {
      const line = bracketed([
        part.type,
        part.title,
        part.media_type,
        mediaUrl(part.url),
        part.data && sizeOf(part.data),
      ]);
      const text = documentText(part);
      return text === null ? line : `${line}\n${plainText(text)}`;
    }
    case "attachment":
      return [bracketed(["attachment", part.name]), ...(part.text === undefined ? [] : [plainText(part.text)])].join(
        "\n",
      );
    case "opaque":
      return `${bracketed(["opaque", part.provider])}\n${opaqueText(part)}`;
    default:
      return jsonText(part);
  }
}

/** Renders it as JSON, unless it contains a text of several lines. */
function opaqueText(part: OpaquePart): string {
  const isLong = opaqueTexts(part).some((text) => text.includes("\n"));
  return isLong ? fieldLines(part.value) : jsonText(part.value);
}

function bracketed(words: readonly (string | undefined)[]): string {
  return `[${words.filter((word) => word !== undefined && word !== "").join(" ")}]`;
}

function sizeOf(data: Text): string {
  return typeof data === "string" ? `${data.length} characters` : data.$attachment;
}

/** Converts line ends to `\n`. */
function plainText(text: Text): string {
  if (typeof text !== "string") return bracketed(["attachment", text.$attachment]);
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

function argumentsText(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return jsonText(value);
  const entries = Object.entries(value);
  return entries.length === 0 ? "{}" : entries.map(([name, argument]) => fieldText(name, argument)).join("\n");
}

function fieldText(name: string, value: unknown): string {
  return labelledText(name, jsonText(value));
}

function labelledText(name: string, text: string): string {
  return text.includes("\n") ? `${name}:\n${text.split("\n").map(indentLine).join("\n")}` : `${name}: ${text}`;
}

/** Renders a value with each field on its own line, so that texts of several lines read as such. */
function fieldLines(value: unknown): string {
  if (typeof value !== "object" || value === null) return jsonText(value);
  return Object.entries(value)
    .map(([name, inner]) => labelledText(name, fieldLines(inner)))
    .join("\n");
}

/** Returns a string as it is, anything else as indented JSON. */
function jsonText(value: unknown): string {
  if (typeof value === "string") return plainText(value);
  return JSON.stringify(value, null, 2) ?? "(none)";
}

// Pairs the blocks of two views: first by event id, so that unchanged events need no text diff, then generated texts for the same
// turns. Keeps the order of both sides.

/** A block of each side, or of one side. */
export interface BlockPair {
  readonly before: TextBlock | null;
  readonly after: TextBlock | null;
}

/** Pairs blocks. All `before` blocks in order give the first list, all `after` blocks the second. */
export function alignBlocks(before: readonly TextBlock[], after: readonly TextBlock[]): BlockPair[] {
  const pairs: BlockPair[] = [];
  let i = 0;
  let j = 0;
  for (const [left, right] of [...commonBlocks(before, after), [before.length, after.length] as const]) {
    appendAll(pairs, pairGap(before.slice(i, left), after.slice(j, right)));
    const a = before[left];
    const b = after[right];
    if (a !== undefined && b !== undefined) pairs.push({ before: a, after: b });
    i = left + 1;
    j = right + 1;
  }
  return pairs;
}

/** Finds the blocks of both sides that keep their order, as many as possible. */
function commonBlocks(before: readonly TextBlock[], after: readonly TextBlock[]): Places[] {
  const places = new Map(after.map((block, index) => [block.key, index]));
  const shared: Places[] = [];
  before.forEach((block, index) => {
    const place = places.get(block.key);
    if (place !== undefined) shared.push([index, place]);
  });
  return longestIncreasing(shared);
}

/** Pairs blocks between two common ones: generated texts are compared; anything else is removed or added. */
function pairGap(before: readonly TextBlock[], after: readonly TextBlock[]): BlockPair[] {
  const made = (block: TextBlock): boolean => block.origin.kind !== "kept";
  const sameMake = before.length > 0 && before.length === after.length && before.every(made) && after.every(made);
  if (sameMake && before.every((block, index) => hasSameRole(block, after[index]))) {
    return before.map((block, index) => ({ before: block, after: after[index] ?? null }));
  }
  return [
    ...before.map((block) => ({ before: block, after: null })),
    ...after.map((block) => ({ before: null, after: block })),
  ];
}

function hasSameRole(a: TextBlock, b: TextBlock | undefined): boolean {
  return b !== undefined && a.event?.type === b.event?.type && (a.event === null || a.title === b.title);
}

/** Positions of one thing in two lists, 0-based. */
export type Places = readonly [left: number, right: number];

/** Keeps as many places as possible such that both sides rise. The left sides rise already. O(n log n). */
export function longestIncreasing(places: readonly Places[]): Places[] {
  /** `tops[n]` = index of the place that ends the best chain of n + 1 places so far. */
  const tops: number[] = [];
  const previous: number[] = [];
  const rightOf = (index: number | undefined): number => places[index ?? -1]?.[1] ?? -1;
  places.forEach(([, right], index) => {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rightOf(tops[middle]) < right) low = middle + 1;
      else high = middle;
    }
    previous.push(tops[low - 1] ?? -1);
    tops[low] = index;
  });
  const chain: Places[] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const place = places[at];
    if (place !== undefined) chain.push(place);
  }
  return chain.reverse();
}
