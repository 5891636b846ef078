// What blocks are about, and where that changes: the likeness of the words and files on both sides of each gap, and how deep
// a valley the gap is in it.
import type { Event } from "../event/event.ts";
import { filesNamed } from "../loss/call-traces.ts";
import { textsOf } from "../loss/event-texts.ts";
import { termsOf } from "../loss/terms.ts";
import type { TurnBlock } from "./blocks.ts";

/** Blocks on each side of a gap that are compared. */
const WINDOW = 6;
/** Terms of one block, and characters of one text, that are looked at: what matters stands first. */
const TERMS_OF_BLOCK = 40;
const TEXT_CHARS = 1500;
/** A user's words and the files worked on tell more than what is said about them. */
const REQUEST_WEIGHT = 2;
const FILE_WEIGHT = 3;

/** Weight by term. */
type Bag = Map<string, number>;

/** Gives for each block how clearly the topic changes behind it, 0..1; the last that says anything has 0. */
export function topicDepths(blocks: readonly TurnBlock[]): readonly number[] {
  const bags = blocks.map(bagOf);
  const depths = depthsOf(weighBags(bags.filter((bag) => bag.size > 0)));
  // A block without words belongs to what was said before it.
  let telling = -1;
  return bags.map((bag) => {
    if (bag.size > 0) telling += 1;
    return depths[telling] ?? 0;
  });
}

function depthsOf(bags: readonly Bag[]): readonly number[] {
  const cohesions = cohesionsOf(bags);
  const left = climbs(cohesions);
  const right = climbs([...cohesions].reverse()).reverse();
  return cohesions.map((valley, at) => {
    const depth = (left[at] ?? valley) - valley + (right[at] ?? valley) - valley;
    return Math.min(1, depth / 2);
  });
}

/** For each gap the peak reached by going back from it for as long as the likeness does not fall. */
function climbs(cohesions: readonly number[]): number[] {
  const peaks: number[] = [];
  let [previous, peak] = [-1, 0];
  for (const cohesion of cohesions) {
    if (previous < cohesion) peak = cohesion;
    peaks.push(peak);
    previous = cohesion;
  }
  return peaks;
}

/** The likeness of both sides of each gap between blocks, 0..1. */
function cohesionsOf(bags: readonly Bag[]): readonly number[] {
  const before: Bag = new Map();
  const after: Bag = new Map();
  for (const bag of bags.slice(1, 1 + WINDOW)) addBag(after, bag, 1);
  const cohesions: number[] = [];
  for (let at = 0; at + 1 < bags.length; at += 1) {
    addBag(before, bags[at], 1);
    addBag(before, bags[at - WINDOW], -1);
    cohesions.push(likeness(before, after));
    addBag(after, bags[at + 1], -1);
    addBag(after, bags[at + 1 + WINDOW], 1);
  }
  return cohesions;
}

function addBag(sum: Bag, bag: Bag | undefined, sign: 1 | -1): void {
  for (const [term, weight] of bag ?? []) {
    const next = (sum.get(term) ?? 0) + sign * weight;
    // Sums of the same weights in another order differ by rounding.
    if (next < 1e-9) sum.delete(term);
    else sum.set(term, next);
  }
}

/** The cosine of two bags that hold something. */
function likeness(a: Bag, b: Bag): number {
  let [dot, lengthA, lengthB] = [0, 0, 0];
  for (const [term, weight] of a) {
    dot += weight * (b.get(term) ?? 0);
    lengthA += weight * weight;
  }
  for (const weight of b.values()) lengthB += weight * weight;
  return dot / Math.sqrt(lengthA * lengthB);
}

/** Weighs terms down that many blocks hold. */
function weighBags(bags: readonly Bag[]): readonly Bag[] {
  const holders = new Map<string, number>();
  for (const bag of bags) for (const term of bag.keys()) holders.set(term, (holders.get(term) ?? 0) + 1);
  return bags.map(
    (bag) =>
      new Map([...bag].map(([term, weight]) => [term, weight * Math.log(1 + bags.length / (holders.get(term) ?? 1))])),
  );
}

function bagOf({ turn, first, last }: TurnBlock): Bag {
  const bag: Bag = new Map();
  for (const event of turn.events.slice(first, last + 1)) {
    if (bag.size >= TERMS_OF_BLOCK) break;
    for (const [term, weight] of weightedTerms(event, TERMS_OF_BLOCK - bag.size))
      bag.set(term, (bag.get(term) ?? 0) + weight);
  }
  return bag;
}

function weightedTerms(event: Event, limit: number): readonly (readonly [string, number])[] {
  switch (event.type) {
    case "chat_request":
      return event.metadata?.origin === "harness" ? [] : weigh(event, REQUEST_WEIGHT, limit);
    case "chat_response":
      return event.message === undefined ? [] : weigh(event, 1, limit);
    case "tool_call_request":
      return filesNamed(event.arguments)
        .slice(0, limit)
        .map((file) => [file, FILE_WEIGHT]);
    default:
      return [];
  }
}

function weigh(event: Event, weight: number, limit: number): readonly (readonly [string, number])[] {
  const text = textsOf(event).join("\n").slice(0, TEXT_CHARS);
  return termsOf(text, limit).map((term) => [term, weight]);
}
