// Calibration: fits what a provider counted for the requests of a conversation to the estimate of everything said before them. The result
// is one line: size of a request = overhead + factor × estimate. It is fitted only to requests sent before anything was dropped from the
// context, so neither a compaction nor its revert changes the size of anything else.
import { modelFamily } from "./model-name.ts";
import { type AnswerFacts, isCounted, sizeOf, type TurnFacts, type Usage } from "./usage.ts";

/** The line of a conversation. */
interface Line {
  /** Tokens of the provider per estimated token. */
  readonly factor: number;
  /** Tokens of a request besides the events: system prompt and tool definitions. 0..100,000; null when no request shows it. */
  readonly overhead: number | null;
}

/** How estimates of a conversation become the counts of its provider. */
export interface Calibration extends Line {
  /** Requests it was compared with, at least 5. */
  readonly records: number;
  /** Median error over these requests, as a share of their size, 0..1. */
  readonly medianError: number;
}

/** A line, and what it was made from. */
export interface FittedLine extends Line {
  /** The request that determines the overhead: the first, or the first since the tools were last defined. Null = none. */
  readonly first: RecordedRequest | null;
  /** Whether it passes through the newest request and its answer: then the history counts as recorded. */
  readonly isExact: boolean;
  /** Null when fewer than 5 requests of one model have usage, or their usage is not of these events. */
  readonly calibration: Calibration | null;
}

/** One request: its size, and the estimate of all events before its answer. Both in tokens. */
export interface RequestSize {
  readonly estimate: number;
  readonly size: number;
  readonly model: string;
  /** Whether nothing was dropped from the context since the start of the conversation. */
  readonly isUnbroken: boolean;
  /** Requests of one stretch only add events to those before: the context only grew, the model stayed. */
  readonly stretch: number;
}

/** What a line is fitted to. */
interface CalibrationInput {
  /** Oldest first. */
  readonly records: readonly RecordedRequest[];
  /** The sizes of these records, in the same order. */
  readonly requests: readonly RequestSize[];
  /** Tokens of the model's tokenizer per estimated token, used if too little is recorded. */
  readonly tokenizer: number;
  /** The newest turn in which the tools were defined, 0-based; absent = none. */
  readonly definedFrom?: number;
}

/** Fewer requests give no reliable result. */
const LEAST_RECORDS = 5;
/** More than any system prompt with tools (18,000 to 42,000 in real sessions): the context began before these events. */
const MOST_OVERHEAD = 100_000;
/** Most requests used, spread evenly: with more the median hardly moves. */
const MOST_RECORDS = 1000;
/** A context that falls by more than this share was compacted; less is reasoning that was not sent again. */
const FALL = 0.1;
/** If two requests are closer than this, in estimated tokens, their difference shows rounding and hidden reminders rather than text. */
const LEAST_GROWTH = 100;
/** The same for the two requests that alone determine the factor. */
const LEAST_SPAN = 1000;
/** Most that the size of a request grows by apart from the text (reminders and the like), as a share of it. */
const MOST_NOISE = 0.05;
/** Smallest factor that a tokenizer explains, and the largest. */
const LEAST_FACTOR = 0.5;
const MOST_FACTOR = 2.5;
/** Sizes that grow by less than this share of the estimate, or by more than its inverse, are not those of these events. */
const LEAST_SLOPE = 0.25;
/** A factor this many times that of all stretches, or of the tokenizer, includes something that is not in the events. */
const MOST_APART = 2;

/**
 * Fits the line through the first request and the last one of the same model that was sent before anything was dropped from the context. If
 * the two are too close, the factor is that of all stretches, or of the tokenizer.
 */
export function fitLine({ records, requests, tokenizer, definedFrom = 0 }: CalibrationInput): FittedLine {
  const growth = measureGrowth(requests);
  const whole = requests.findLast(({ isUnbroken }) => isUnbroken);
  const isTooSmall = whole !== undefined && whole.size < LEAST_FACTOR * whole.estimate;
  if (growth === "unrelated" || isTooSmall)
    return { factor: tokenizer, overhead: null, first: null, isExact: false, calibration: null };
  const usual = growth?.factor ?? tokenizer;
  const ends = endsOfLine({ records, requests, definedFrom });
  const first = ends[0];
  const line = ends.reduceRight<(Line & { readonly end: Point }) | null>(
    (found, end) => found ?? passThrough(first ?? end, end, usual),
    null,
  );
  const { factor, overhead } = line ?? { factor: usual, overhead: null };
  return {
    factor,
    overhead,
    first: line === null ? null : (records[first?.at ?? 0] ?? null),
    isExact: line !== null && line.end.at === records.length - 1,
    calibration:
      growth === null
        ? null
        : { factor, overhead: overhead === null ? null : Math.round(overhead), ...fitOf(growth, factor) },
  };
}

/** The points that the line may go through: the first one it begins at, then those it may end at. */
function endsOfLine({
  records,
  requests,
  definedFrom,
}: Pick<CalibrationInput, "records" | "requests"> & { readonly definedFrom: number }): readonly Point[] {
  const points = requests.flatMap(({ isUnbroken, model }, at) => (isUnbroken ? [toPoint(records, at, model)] : []));
  const ofModel = points.filter(({ model }) => model === points.at(-1)?.model);
  const sinceDefined = ofModel.filter(({ turn }) => turn >= definedFrom);
  const candidates = sinceDefined.length > 0 ? sinceDefined : ofModel;
  // After a change to a model that was never sent the whole context, the first request still determines the overhead.
  return candidates[0]?.model === requests.at(-1)?.model ? candidates : candidates.slice(0, 1);
}

/** A request as a point of the line; the newest one with its answer. */
interface Point {
  readonly at: number;
  readonly turn: number;
  readonly model: string;
  readonly estimate: number;
  readonly size: number;
}

function toPoint(records: readonly RecordedRequest[], at: number, model: string): Point {
  const { turn, before, usage, through } = records[at] as RecordedRequest;
  const size = sizeOf(usage);
  if (at < records.length - 1) return { at, turn, model, estimate: before, size };
  return { at, turn, model, estimate: through, size: size + answerTokens(usage, through - before) };
}

/** Usage written before the answer was complete is too small. */
function answerTokens({ output }: Usage, estimated: number): number {
  return output < estimated / 2 ? estimated : output;
}

/** The line through two points; if they are close, with the usual factor through the later one. Null when it is not of these events. */
function passThrough(first: Point, end: Point, usual: number): (Line & { readonly end: Point }) | null {
  const span = end.estimate - first.estimate;
  const growth = end.size - first.size;
  if (span < LEAST_SPAN && Math.abs(growth - usual * span) > MOST_NOISE * end.size) return null;
  const steep = span < LEAST_SPAN ? usual : growth / span;
  const isPositive = end.size >= steep * end.estimate;
  const factor = isPositive ? steep : end.size / end.estimate;
  const overhead = isPositive ? end.size - steep * end.estimate : 0;
  const isPlausible = factor >= usual / MOST_APART && factor <= usual * MOST_APART && overhead <= MOST_OVERHEAD;
  return isPlausible ? { factor, overhead, end } : null;
}

/** How requests of one stretch grow with what was said. */
interface Growth {
  /** Tokens of the provider per estimated token, 0.5..2.5. */
  readonly factor: number;
  readonly stretches: readonly (readonly RequestSize[])[];
}

/**
 * Measures the stretches of the newest model with at least 5 answers; null when there is none, `unrelated` when they are not of these
 * events.
 */
function measureGrowth(requests: readonly RequestSize[]): Growth | "unrelated" | null {
  const chosen = spread(ofNewestModel(requests));
  const stretches = [...groupBy(chosen, ({ stretch }) => stretch).values()];
  const slopes = stretches.flatMap(slopesOf);
  if (chosen.length < LEAST_RECORDS || slopes.length === 0) return null;
  const slope = weightedMedian(slopes);
  if (slope < LEAST_SLOPE || slope > 1 / LEAST_SLOPE) return "unrelated";
  return { factor: Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, slope)), stretches };
}

function fitOf({ stretches }: Growth, factor: number): Pick<Calibration, "records" | "medianError"> {
  const offset = ({ size, estimate }: RequestSize): number => size - factor * estimate;
  const errors = stretches.flatMap((stretch) => {
    const own = median(stretch.map(offset));
    return stretch.map((request) => Math.abs(offset(request) - own) / request.size);
  });
  return { records: errors.length, medianError: Math.min(1, median(errors)) };
}

/** Sizes requests; does not compare the requests before and after missing turns. */
export function requestSizes(
  records: readonly RecordedRequest[],
  turns: readonly Pick<TurnFacts, "index">[],
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
function gapsIn(turns: readonly Pick<TurnFacts, "index">[]): readonly number[] {
  return turns.flatMap(({ index }, at) => (index === (turns[at - 1]?.index ?? -1) + 1 ? [] : [at]));
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

/** One request that the provider counted, in the loaded turns. Tokens are of all their events before the answer, and up to its end. */
export type RecordedRequest = MergedAnswer & { readonly usage: Usage };

/** An answer, merged from all its records. */
export interface MergedAnswer extends AnswerFacts {
  /** Position of the turn in which it begins. */
  readonly turn: number;
  /** Which of the facts it begins in. */
  readonly at: number;
}

type Written = { -readonly [Key in keyof MergedAnswer]: MergedAnswer[Key] };

/** Lists the counted requests of turns in order, oldest first. */
export function recordedRequests(turns: readonly TurnFacts[]): readonly RecordedRequest[] {
  return mergeAnswers(turns).filter((answer) => isCounted(answer));
}

/**
 * Lists the answers of turns in the order in which they begin, including uncounted ones. An answer continues only in the next turn that has
 * answers, not in any later one.
 */
export function mergeAnswers(turns: readonly TurnFacts[]): readonly MergedAnswer[] {
  const found: Written[] = [];
  let open: ReadonlyMap<string, Written> = new Map();
  let passed = 0;
  for (const [at, { index, answers, tokens }] of turns.entries()) {
    const next = new Map<string, Written>();
    for (const { message, time, before, ...answer } of answers) {
      const known = message === null ? undefined : open.get(message);
      const written = known ?? { message, usage: null, time, before: passed + before, through: 0, at, turn: index };
      continueAnswer(written, answer, passed);
      if (message !== null) next.set(message, written);
      if (known === undefined) found.push(written);
    }
    if (answers.length > 0) open = next;
    passed += tokens;
  }
  return found;
}

/** The last record of an answer counts. */
function continueAnswer(
  written: Written,
  { through, usage, model }: Pick<AnswerFacts, "through" | "usage" | "model">,
  passed: number,
): void {
  written.through = passed + through;
  written.usage = usage ?? written.usage;
  if (model !== undefined) written.model = model;
}
