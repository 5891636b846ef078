// Calibration: what a provider counted for the requests of a conversation, against the estimate of what was sent. A model's
// tokenizer and an agent's system prompt become two numbers: size of a request = overhead + factor × estimate.
import { modelFamily } from "../model/model-family.ts";
import type { RecordedRequest } from "./recorded-requests.ts";
import { countTurns, type TurnFacts } from "./turn-facts.ts";
import { sizeOf } from "./usage.ts";

/** How estimates of a conversation become the counts of its provider. */
export interface Calibration {
  /** Tokens of the provider per estimated token, 0.5..2.5. */
  readonly factor: number;
  /** Tokens of a request beside the events: system prompt and tool definitions. 0..100,000; null when the start is not at hand. */
  readonly overhead: number | null;
  /** Requests it was made from, at least 5. */
  readonly records: number;
  /** Median error over these requests, as a share of their size, 0..1. */
  readonly medianError: number;
}

/** One request: its size, and the estimate of all events before its answer. Both in tokens. */
export interface RequestSize {
  readonly estimate: number;
  readonly size: number;
  readonly model: string;
  /** Whether nothing between the start of the conversation and here fell out of the context. */
  readonly isUnbroken: boolean;
  /** Requests of one stretch were sent with the same events and more: the context only grew, the model stayed. */
  readonly stretch: number;
}

/** Fewer requests tell nothing that holds. */
const LEAST_RECORDS = 5;
/** More than any system prompt with tools (18,000 to 42,000 in real sessions): the context began before these events. */
export const MOST_OVERHEAD = 100_000;
/** Requests looked at, spread evenly: a median over so many does not move by more. */
const MOST_RECORDS = 1000;
/** A context that falls by more than this share was compacted; less is reasoning that was not sent again. */
const FALL = 0.1;
/** Two requests nearer to each other, in estimated tokens, tell more of rounding and hidden reminders than of text. */
const LEAST_GROWTH = 100;
/** Smallest factor that a tokenizer explains, and the largest. */
export const LEAST_FACTOR = 0.5;
export const MOST_FACTOR = 2.5;
/** Sizes that grow by less than this share of the estimate, or by more than its inverse, are not those of these events. */
const LEAST_SLOPE = 0.25;

/** Calibrates on requests in order, those of the newest model that answered at least 5; null when there is none. */
export function calibrateOn(requests: readonly RequestSize[]): Calibration | null {
  const chosen = spread(ofNewestModel(requests));
  const stretches = [...groupBy(chosen, ({ stretch }) => stretch).values()];
  const slopes = stretches.flatMap(slopesOf);
  if (chosen.length < LEAST_RECORDS || slopes.length === 0) return null;
  const slope = weightedMedian(slopes);
  if (slope < LEAST_SLOPE || slope > 1 / LEAST_SLOPE) return null;
  const factor = Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, slope));
  const offset = ({ size, estimate }: RequestSize): number => size - factor * estimate;
  const fromStart = chosen.filter(({ isUnbroken }) => isUnbroken);
  const beside = fromStart.length === 0 ? null : Math.max(0, Math.round(median(fromStart.map(offset))));
  const overhead = beside !== null && beside > MOST_OVERHEAD ? null : beside;
  const errors = stretches.flatMap((stretch) => {
    const own = median(stretch.map(offset));
    return stretch.map((request) => Math.abs(offset(request) - own) / request.size);
  });
  return { factor, overhead, records: chosen.length, medianError: Math.min(1, median(errors)) };
}

/** Sizes requests; where turns are missing, the requests before and after the gap are not compared. */
export function requestSizes(
  records: readonly RecordedRequest[],
  turns: readonly Pick<TurnFacts, "index" | "stretch">[],
): readonly RequestSize[] {
  const gaps = gapsIn(turns);
  const requests: RequestSize[] = [];
  let passed = 0;
  let stretch = 0;
  let isUnbroken = true;
  const families = new Map<string, string>();
  for (const { at, before: estimate, usage, model = "" } of records) {
    const size = sizeOf(usage);
    const before = requests.at(-1);
    const gapsBefore = passed;
    while ((gaps[passed] ?? Number.POSITIVE_INFINITY) <= at) passed += 1;
    const breaks = passed > gapsBefore || (before !== undefined && size < before.size * (1 - FALL));
    const family = families.get(model) ?? modelFamily(model);
    families.set(model, family);
    if (breaks) isUnbroken = false;
    if (breaks || (before !== undefined && before.model !== family)) stretch += 1;
    requests.push({ estimate, size, model: family, isUnbroken, stretch });
  }
  return requests;
}

/** Which of the facts have turns missing before them. */
export function gapsIn(turns: readonly Pick<TurnFacts, "index" | "stretch">[]): readonly number[] {
  let next = 0;
  return turns.flatMap((facts, at) => {
    const isGap = facts.index !== next;
    next = facts.index + countTurns(facts);
    return isGap ? [at] : [];
  });
}

function ofNewestModel(requests: readonly RequestSize[]): readonly RequestSize[] {
  const models = groupBy(requests.toReversed(), ({ model }) => model);
  const newest = [...models.values()].find((list) => list.length >= LEAST_RECORDS) ?? [];
  return newest.toReversed();
}

interface Slope {
  readonly value: number;
  /** Estimated tokens between the two requests: the more, the surer. */
  readonly weight: number;
}

/** Slopes between each request and the one half a stretch later (Theil–Sen on long pairs only, so that it is linear). */
function slopesOf(stretch: readonly RequestSize[]): readonly Slope[] {
  const half = Math.max(1, Math.floor(stretch.length / 2));
  return stretch.slice(half).flatMap((later, at) => {
    const earlier = stretch[at];
    const weight = earlier === undefined ? 0 : later.estimate - earlier.estimate;
    return earlier === undefined || weight < LEAST_GROWTH
      ? []
      : [{ value: (later.size - earlier.size) / weight, weight }];
  });
}

function weightedMedian(slopes: readonly Slope[]): number {
  const sorted = [...slopes].sort((a, b) => a.value - b.value);
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2;
  for (const { value, weight } of sorted) {
    left -= weight;
    if (left <= 0) return value;
  }
  return sorted.at(-1)?.value ?? 1;
}

/** The middle number, the upper one of two; 0 of nothing. */
function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[Math.floor(values.length / 2)] ?? 0;
}

function spread<Item>(items: readonly Item[]): readonly Item[] {
  const step = Math.max(1, items.length / MOST_RECORDS);
  return Array.from({ length: Math.min(items.length, MOST_RECORDS) }, (_, at) => items[Math.floor(at * step)]).filter(
    (item) => item !== undefined,
  );
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
