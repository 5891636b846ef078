// Makes raw events fit a model's window: as one transcript, whole where that fits, else with the longest texts shortened as little as
// need be, or in parts that end where turns end, each made from its own raw events.

import type { Event } from "../event/event.ts";
import { cutParts, type TurnPart } from "../parts/turn-parts.ts";
import { estimateTextTokens } from "../tokens/text-tokens.ts";
import { groupTurns, type PlacedEvent } from "./placed-event.ts";
import { renderTranscript, type Transcript, type TranscriptLimits } from "./transcript.ts";

/** Nothing is left out. */
const WHOLE: TranscriptLimits = { output: Number.POSITIVE_INFINITY, speech: Number.POSITIVE_INFINITY };
/** Shortest that outputs become before what is said is cut: two thousand characters hold an error with its trace. */
const LEAST_OUTPUT = 2000;
/** The same of what is said, which is worth more. */
const LEAST_SPEECH = 20_000;
/** Where every text of a part is as short as can be. */
const LEAST_CHARS = 200;
/** Characters between two lengths that are tried. */
const STEP_CHARS = 200;

/** One part of what is summarised. */
export interface TranscriptPart {
  readonly events: readonly PlacedEvent[];
  readonly transcript: Transcript;
}

/**
 * Gives the transcript of events that has at most so many tokens (estimated) and leaves out the least: nothing where all fits,
 * else the middle of the longest outputs, then of the longest words; null when none fits.
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

/** The transcript of the greatest length that fits, to 200 characters; null when the least does not. */
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

/** Parts events into transcripts of at most so many tokens (estimated) each, in order; every event is in exactly one. */
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

/** Deals the events out to the parts, by the turn and event that each begins with. */
function takeParts(events: readonly PlacedEvent[], cuts: readonly TurnPart[]): readonly (readonly PlacedEvent[])[] {
  const parts: PlacedEvent[][] = [];
  for (const placed of events) {
    const next = cuts[parts.length];
    if (next?.from_turn === placed.turn && (next.from_event ?? placed.event.id) === placed.event.id) parts.push([]);
    parts.at(-1)?.push(placed);
  }
  return parts;
}

/** Shortens texts more and more until they fit; what is shortest of all is given as it is. */
function squeeze(events: readonly PlacedEvent[], budgetTokens: number): Transcript {
  let limits: TranscriptLimits = { output: LEAST_OUTPUT, speech: LEAST_SPEECH };
  for (;;) {
    const transcript = renderTranscript(events, limits);
    if (estimateTextTokens(transcript.text) <= budgetTokens || limits.speech <= LEAST_CHARS) return transcript;
    const speech = Math.max(LEAST_CHARS, Math.floor(limits.speech / 2));
    limits = { speech, output: Math.max(LEAST_CHARS, Math.min(limits.output, speech)) };
  }
}
