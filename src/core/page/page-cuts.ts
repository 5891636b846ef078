// Where a long page is cut: consecutive things, so many that a piece is worth one request and is drawn at once.
import { isText } from "../event/content.ts";
import type { Content, Event, Text } from "../event/event.ts";
import type { BothRow } from "./both-views.ts";

/** Positions, 0-based, inclusive. */
export interface Piece {
  readonly from: number;
  readonly to: number;
}

export interface CutLimits {
  /** Most that the sizes of a piece add up to; one that is larger stands alone. */
  readonly size: number;
  /** Most things of a piece. */
  readonly count: number;
}

/** What a payload beside the events counts as, characters: how long it is stands in no event. */
const PAYLOAD = 100_000;
/** What every row costs beside its text, characters. */
const ROW = 200;

/** Cuts things of these sizes, in order, into pieces that hold each once. */
export function cutPage(sizes: readonly number[], { size, count }: CutLimits): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let sum = 0;
  for (const [at, own] of sizes.entries()) {
    if (at > from && (sum + own > size || at - from === count)) {
      pieces.push({ from, to: at - 1 });
      from = at;
      sum = 0;
    }
    sum += own;
  }
  if (from < sizes.length) pieces.push({ from, to: sizes.length - 1 });
  return pieces;
}

/** About how much a row is on a page, characters. */
export function rowSize(row: BothRow): number {
  const events = row.kind === "inserted" ? row.events : row.shown === undefined ? [row.event] : [row.event, row.shown];
  return events.reduce((sum, event) => sum + eventSize(event), ROW);
}

function eventSize(event: Event): number {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return contentSize(event.content);
    case "chat_response":
      return contentSize(event.message ?? event.reasoning ?? "");
    case "tool_call_request":
      return argumentsSize(event.arguments);
    default:
      return 0;
  }
}

function contentSize(content: Content): number {
  if (isText(content)) return textSize(content);
  return content.reduce((sum, part) => {
    if ("text" in part && part.text !== undefined) return sum + textSize(part.text);
    return sum + ("data" in part && part.data !== undefined ? textSize(part.data) : 0);
  }, 0);
}

function textSize(text: Text): number {
  return typeof text === "string" ? text.length : PAYLOAD;
}

/** Long arguments are texts of their own: what is deeper is as a rule small. */
function argumentsSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : ROW), 0);
}
