// Cuts turns into consecutive parts that fit a budget, for summaries written part by part. Parts end where turns end; only a turn that is
// too large for any part is cut inside, where a range may end. Pure and deterministic, linear in the events.
import type { Compaction } from "../conversation/compaction.ts";
import type { Event, Turn } from "../conversation/event.ts";
import { replacesTurns } from "../conversation/range-location.ts";
import { estimateEvent } from "../conversation/token-estimate.ts";
import { listBlocks, scoreBoundaries, type TurnBlock } from "./topics.ts";

/** A part. Bounds as in a compaction: turn positions 0-based, inclusive; an event bound only where it lies inside a turn. */
export interface TurnPart {
  readonly from_turn: number;
  readonly to_turn: number;
  /** First event, if not the first of its turn as given. */
  readonly from_event?: string;
  /** Last event, if not the last of its turn as given. */
  readonly to_event?: string;
  /** Tokens, by the estimate. */
  readonly tokens: number;
  readonly messages: number;
}

export interface PartOptions {
  /** Most tokens of a part; absent = no limit (`auto`: 50,000). */
  readonly budgetTokens?: number;
  /** Most messages of a part; absent = no limit (`auto`: 50). */
  readonly maxMessages?: number;
  /** `size` (default) fills each part; `auto` ends parts where the topic, the kind of work or the day changes. */
  readonly boundaries?: "auto" | "size";
  /** Tokens of an event; default `estimateEvent`. */
  readonly estimate?: (event: Event) => number;
}

/** Default limits of `auto`: the chat seed's fifty messages, and what one summary can cover of an agent's calls. */
const AUTO_MESSAGES = 50;
const AUTO_TOKENS = 50_000;
/** Share of a part's limits below which it is not ended, if there is a choice. */
const LEAST_FILL = 0.25;
/** Weight of a full part against the score of its end (0..1): of equal ends the later one is taken. */
const FILL_WEIGHT = 0.1;

/**
 * Plans the parts of turns (in order, positions consecutive), at least one for turns that hold events. A part exceeds its limits only when
 * it cannot be cut further: one message with its calls and their results.
 */
export function cutParts(turns: readonly Turn[], options: PartOptions = {}): readonly TurnPart[] {
  const blocks = listBlocks(turns, options.estimate ?? estimateEvent);
  return cutBlocks(blocks, limitsOf(options)).map(toPart);
}

/** Plans parts of about the same size: as many as asked for, or fewer when there are fewer places to cut. `parts` > 0. */
export function cutEvenParts(
  turns: readonly Turn[],
  parts: number,
  estimate: (event: Event) => number = estimateEvent,
): readonly TurnPart[] {
  const blocks = listBlocks(turns, estimate);
  const total = blocks.reduce((tokens, block) => tokens + block.tokens, 0);
  let [tooSmall, enough] = [Math.floor(total / parts) - 1, Math.ceil(total)];
  while (enough - tooSmall > 1) {
    const middle = Math.floor((tooSmall + enough) / 2);
    if (cutBlocks(blocks, limitsOf({ budgetTokens: middle })).length > parts) tooSmall = middle;
    else enough = middle;
  }
  return cutBlocks(blocks, limitsOf({ budgetTokens: enough })).map(toPart);
}

interface Limits {
  readonly tokens: number;
  readonly messages: number;
  readonly isAuto: boolean;
}

function limitsOf({ budgetTokens, maxMessages, boundaries }: PartOptions): Limits {
  const isAuto = boundaries === "auto";
  return {
    tokens: budgetTokens ?? (isAuto ? AUTO_TOKENS : Number.POSITIVE_INFINITY),
    messages: maxMessages ?? (isAuto ? AUTO_MESSAGES : Number.POSITIVE_INFINITY),
    isAuto,
  };
}

interface Stretch {
  readonly blocks: readonly TurnBlock[];
  readonly tokens: number;
  readonly messages: number;
}

function cutBlocks(blocks: readonly TurnBlock[], limits: Limits): readonly Stretch[] {
  const scores = limits.isAuto ? scoreBoundaries(blocks) : null;
  const oversize = findOversize(blocks, limits);
  const stretches: Stretch[] = [];
  for (let start = 0; start < blocks.length; ) {
    const end = chooseEnd({ blocks, start, limits, scores, oversize });
    const part = blocks.slice(start, end + 1);
    stretches.push({ blocks: part, ...weigh(part) });
    start = end + 1;
  }
  return stretches;
}

function weigh(blocks: readonly TurnBlock[]): { readonly tokens: number; readonly messages: number } {
  let [tokens, messages] = [0, 0];
  for (const block of blocks) {
    tokens += block.tokens;
    messages += block.messages;
  }
  return { tokens, messages };
}

/** The turns that are too large for any part. */
function findOversize(blocks: readonly TurnBlock[], limits: Limits): ReadonlySet<Turn> {
  const oversize = new Set<Turn>();
  let [tokens, messages] = [0, 0];
  for (const block of blocks) {
    tokens += block.tokens;
    messages += block.messages;
    if (tokens > limits.tokens || messages > limits.messages) oversize.add(block.turn);
    if (block.endsTurn) [tokens, messages] = [0, 0];
  }
  return oversize;
}

interface Cutting {
  readonly blocks: readonly TurnBlock[];
  readonly start: number;
  readonly limits: Limits;
  /** How good an end after each block is, 0..1; null = all alike. */
  readonly scores: readonly number[] | null;
  readonly oversize: ReadonlySet<Turn>;
}

/** A block that a part may end with; a larger `rank` is a better place. */
interface End {
  readonly at: number;
  readonly rank: number;
  /** 0..1, plus the weight of a full part. */
  readonly score: number;
}

/**
 * Returns the position of the last block of the part that begins at `start`: the best ranked end, of these the best scored, of these the
 * last.
 */
function chooseEnd(cutting: Cutting): number {
  const { blocks, start, limits } = cutting;
  let best: End = { at: start, rank: -1, score: 0 };
  let [tokens, messages] = [0, 0];
  for (let at = start; at < blocks.length; at += 1) {
    const block = blocks[at] as TurnBlock;
    tokens += block.tokens;
    messages += block.messages;
    if (at > start && (tokens > limits.tokens || messages > limits.messages)) return best.at;
    const end = endAfter(at, { tokens, messages }, cutting);
    if (end !== null && !isBetter(best, end)) best = end;
  }
  return blocks.length - 1;
}

/** Null inside a turn that fits a part. */
function endAfter(
  at: number,
  { tokens, messages }: { readonly tokens: number; readonly messages: number },
  { blocks, limits, scores, oversize }: Cutting,
): End | null {
  const { endsTurn, turn } = blocks[at] as TurnBlock;
  if (!endsTurn && !oversize.has(turn)) return null;
  const fill = Math.max(tokens / limits.tokens || 0, messages / limits.messages || 0);
  const rank = fill < LEAST_FILL ? 0 : endsTurn ? 2 : 1;
  return { at, rank, score: scores === null ? 0 : (scores[at] ?? 0) + fill * FILL_WEIGHT };
}

function isBetter(one: End, other: End): boolean {
  return one.rank > other.rank || (one.rank === other.rank && one.score > other.score);
}

function toPart({ blocks, tokens, messages }: Stretch): TurnPart {
  const [first, last] = [blocks[0] as TurnBlock, blocks.at(-1) as TurnBlock];
  return {
    from_turn: first.turn.index,
    to_turn: last.turn.index,
    ...(first.first === 0 ? {} : { from_event: idAt(first, first.first) }),
    ...(last.endsTurn ? {} : { to_event: idAt(last, last.last) }),
    tokens,
    messages,
  };
}

function idAt({ turn }: TurnBlock, position: number): string {
  return (turn.events[position] as Event).id;
}

/** Splits turns (in order, perhaps cut at their ends) into stretches, each wholly inside or wholly outside any one summary. */
export function splitAtSummaries(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
): readonly (readonly Turn[])[] {
  const summaries = compactions.filter((compaction) => replacesTurns(compaction));
  const stretches: Turn[][] = [];
  let isEnded = true;
  for (const turn of turns) {
    const starts = startsIn(turn, summaries);
    const places = new Set([...starts, turn.events.length]);
    let first = 0;
    for (const place of [...places].filter((each) => each > 0).sort((a, b) => a - b)) {
      if (isEnded || starts.has(first)) stretches.push([]);
      stretches.at(-1)?.push({ index: turn.index, events: turn.events.slice(first, place) });
      first = place;
    }
    isEnded = starts.has(turn.events.length);
  }
  return stretches;
}

/** Positions in a turn at which a summary begins or has just ended; 0 = at its start, its length = with the next turn. */
function startsIn(turn: Turn, summaries: readonly Compaction[]): ReadonlySet<number> {
  const starts = new Set<number>();
  const find = (event: string | undefined): number => turn.events.findIndex(({ id }) => id === event);
  for (const { from_turn, to_turn, from_event, to_event } of summaries) {
    if (from_turn === turn.index) starts.add(Math.max(0, find(from_event)));
    if (to_turn !== turn.index) continue;
    const end = to_event === undefined ? turn.events.length - 1 : find(to_event);
    if (end >= 0) starts.add(end + 1);
  }
  return starts;
}
