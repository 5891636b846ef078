// What blocks are about, and where that changes: how similar the words and files on both sides of each gap are, and how deep a valley in
// similarity the gap is.
import { type Event, isMessage, type Turn, traitsOf } from "../conversation/event.ts";
import { listSafeCuts } from "../conversation/tool-pairing.ts";
import { filesNamed, textsOf } from "./hidden-content.ts";
import { callFacts, isWriting } from "./tool-call.ts";
import { termsOf } from "./words.ts";

/** Blocks compared on each side of a gap. */
const WINDOW = 6;
/** Terms of one block and characters of one text that count: what matters comes first. */
const TERMS_OF_BLOCK = 40;
const TEXT_CHARS = 1500;
/** A user's words and the files worked on say more than what is said about them. */
const REQUEST_WEIGHT = 2;
const FILE_WEIGHT = 3;

type Bag = Map<string, number>;

/** Returns for each block how clearly the topic changes after it, 0..1; 0 for the last block with words. */
export function topicDepths(blocks: readonly TurnBlock[]): readonly number[] {
  const bags = blocks.map(bagOf);
  const depths = depthsOf(weighBags(bags.filter((bag) => bag.size > 0)));
  // A block without words belongs to the block before it.
  let telling = -1;
  return bags.map((bag) => {
    if (bag.size > 0) telling += 1;
    return depths[telling] ?? 0;
  });
}

function depthsOf(bags: readonly Bag[]): readonly number[] {
  const cohesions = cohesionsOf(bags);
  const left = peaksBefore(cohesions);
  const right = peaksBefore([...cohesions].reverse()).reverse();
  return cohesions.map((valley, at) => {
    const depth = (left[at] ?? valley) - valley + (right[at] ?? valley) - valley;
    return Math.min(1, depth / 2);
  });
}

/** For each gap the highest similarity reached by walking back from it while the similarity does not fall. */
function peaksBefore(cohesions: readonly number[]): number[] {
  const peaks: number[] = [];
  let [previous, peak] = [-1, 0];
  for (const cohesion of cohesions) {
    if (previous < cohesion) peak = cohesion;
    peaks.push(peak);
    previous = cohesion;
  }
  return peaks;
}

/** Similarity of both sides of each gap between blocks, 0..1. */
function cohesionsOf(bags: readonly Bag[]): readonly number[] {
  const before: Bag = new Map();
  const after: Bag = new Map();
  for (const bag of bags.slice(1, 1 + WINDOW)) addBag(after, bag, 1);
  const cohesions: number[] = [];
  for (let at = 0; at + 1 < bags.length; at += 1) {
    addBag(before, bags[at], 1);
    addBag(before, bags[at - WINDOW], -1);
    cohesions.push(similarity(before, after));
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

/** Cosine of two bags, neither empty. */
function similarity(a: Bag, b: Bag): number {
  let [dot, lengthA, lengthB] = [0, 0, 0];
  for (const [term, weight] of a) {
    dot += weight * (b.get(term) ?? 0);
    lengthA += weight * weight;
  }
  for (const weight of b.values()) lengthB += weight * weight;
  return dot / Math.sqrt(lengthA * lengthB);
}

/** Gives terms that occur in many blocks less weight. */
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

// The blocks that turns are cut into: events between two places where a range may end (tool-pairing.ts), so a call stays with its result
// and a message in one piece. Invariant: blocks are consecutive, cover every event, and contain something that a model is sent, unless
// their whole turn contains nothing.

export interface TurnBlock {
  readonly turn: Turn;
  /** Positions of its first and last event in the turn, 0-based, inclusive. */
  readonly first: number;
  readonly last: number;
  /** By the estimate given. */
  readonly tokens: number;
  /** Messages as the chat thresholds count them. */
  readonly messages: number;
  readonly endsTurn: boolean;
}

/** Lists the blocks of turns in order. Linear in the events. */
export function listBlocks(turns: readonly Turn[], estimate: (event: Event) => number): readonly TurnBlock[] {
  return turns.flatMap((turn) => blocksOfTurn(turn, estimate));
}

function blocksOfTurn(turn: Turn, estimate: (event: Event) => number): readonly TurnBlock[] {
  const ends = blockEnds(turn.events);
  return ends.map((last, at) => {
    const first = (ends[at - 1] ?? -1) + 1;
    let [tokens, messages] = [0, 0];
    for (const event of turn.events.slice(first, last + 1)) {
      tokens += estimate(event);
      if (isMessage(event)) messages += 1;
    }
    return { turn, first, last, tokens, messages, endsTurn: at === ends.length - 1 };
  });
}

/** The safe cuts of a turn, without those that have nothing visible to a model before or after them. */
function blockEnds(events: readonly Event[]): readonly number[] {
  const lastVisible = events.findLastIndex((event) => traitsOf(event).providerVisible);
  const ends: number[] = [];
  let at = 0;
  let isSeen = false;
  for (const cut of listSafeCuts(events)) {
    for (; at <= cut; at += 1) isSeen ||= traitsOf(events[at] as Event).providerVisible;
    if (!isSeen || cut >= lastVisible) continue;
    ends.push(cut);
    isSeen = false;
  }
  return events.length === 0 ? [] : [...ends, events.length - 1];
}

// How well each gap between blocks suits as the end of a part: where words and files change (TextTiling: a valley between two coherent
// stretches), where somebody went away, where planning turned into changing or changing into repairing.

const TOPIC_WEIGHT = 0.5;
const PAUSE_WEIGHT = 0.3;
const PHASE_WEIGHT = 0.2;

/** Pauses, milliseconds: a break within a day, and the next day's work. */
const BREAK_MS = 30 * 60_000;
const NIGHT_MS = 4 * 60 * 60_000;

/** Calls on each side of a gap that show the kind of work, and the fewest that do. */
const PHASE_CALLS = 12;
const LEAST_CALLS = 3;

/** Returns for each block how good the gap after it is, 0..1; linear in the blocks. */
export function scoreBoundaries(blocks: readonly TurnBlock[]): readonly number[] {
  const depths = topicDepths(blocks);
  const phases = phaseChanges(blocks);
  return blocks.map((block, at) => {
    const pause = pauseScore(block, blocks[at + 1]);
    return TOPIC_WEIGHT * (depths[at] ?? 0) + PAUSE_WEIGHT * pause + PHASE_WEIGHT * (phases[at] ?? 0);
  });
}

function pauseScore(before: TurnBlock, after: TurnBlock | undefined): number {
  if (after === undefined) return 0;
  const [end, start] = [before.turn.events[before.last] as Event, after.turn.events[after.first] as Event];
  const pause = Date.parse(start.timestamp) - Date.parse(end.timestamp);
  if (!(pause >= BREAK_MS)) return 0;
  return pause >= NIGHT_MS ? 1 : 0.5;
}

/** Kinds of work, read from calls and their results. */
type Work = "look" | "change" | "repair";

function phaseChanges(blocks: readonly TurnBlock[]): readonly number[] {
  const works: Work[] = [];
  const ends = blocks.map((block) => {
    for (const event of block.turn.events.slice(block.first, block.last + 1)) {
      const work = workOf(event);
      if (work !== null) works.push(work);
    }
    return works.length;
  });
  return ends.map((end) => {
    const before = works.slice(Math.max(0, end - PHASE_CALLS), end);
    const after = works.slice(end, end + PHASE_CALLS);
    return before.length < LEAST_CALLS || after.length < LEAST_CALLS ? 0 : distance(before, after);
  });
}

function workOf(event: Event): Work | null {
  if (event.type === "tool_call_response") return event.is_error ? "repair" : null;
  if (event.type !== "tool_call_request") return null;
  const { kind } = callFacts(event);
  return isWriting(kind) ? "change" : "look";
}

/** Half the difference between the shares of each kind of work, 0..1. */
function distance(before: readonly Work[], after: readonly Work[]): number {
  const share = (works: readonly Work[], work: Work): number =>
    works.filter((other) => other === work).length / works.length;
  const kinds: readonly Work[] = ["look", "change", "repair"];
  return kinds.reduce((sum, kind) => sum + Math.abs(share(before, kind) - share(after, kind)), 0) / 2;
}
