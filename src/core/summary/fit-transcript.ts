// Makes raw events fit a model's window: as one transcript with outputs shortened as little as need be, or in parts that end where
// turns end, each made from its own raw events.

import type { Event } from "../event/event.ts";
import { cutParts, type TurnPart } from "../parts/turn-parts.ts";
import { groupTurns, type PlacedEvent } from "./placed-event.ts";
import { estimateTextTokens } from "./text-tokens.ts";
import { renderTranscript, type Transcript, type TranscriptLimits } from "./transcript.ts";

/**
 * Longest texts of a transcript, widest first. The middle of a long output says the least; the whole of what is said is worth
 * more than that, and four thousand characters hold an error with its trace.
 */
const WHOLE: readonly TranscriptLimits[] = [
  { output: 4000, speech: 40_000 },
  { output: 2000, speech: 20_000 },
];
/** Of parts, the last for one message that alone is too long. */
const PART: TranscriptLimits = { output: 2000, speech: 20_000 };
const LEAST_CHARS = 200;

/** One part of what is summarised. */
export interface TranscriptPart {
  readonly events: readonly PlacedEvent[];
  readonly transcript: Transcript;
}

/** Gives the widest transcript of events that has at most so many tokens (estimated); null when none has. */
export function fitWhole(events: readonly PlacedEvent[], budgetTokens: number): Transcript | null {
  for (const limits of WHOLE) {
    const transcript = renderTranscript(events, limits);
    if (estimateTextTokens(transcript.text) <= budgetTokens) return transcript;
  }
  return null;
}

/** Parts events into transcripts of at most so many tokens (estimated) each, in order; every event is in exactly one. */
export function fitParts(events: readonly PlacedEvent[], budgetTokens: number): readonly TranscriptPart[] {
  const turns = groupTurns(events);
  const placedOf = new Map<Event, PlacedEvent>(events.map((placed) => [placed.event, placed]));
  const estimate = (event: Event): number =>
    estimateTextTokens(renderTranscript([placedOf.get(event) as PlacedEvent], PART).text);
  return takeParts(events, cutParts(turns, { budgetTokens, estimate })).map((part) => ({
    events: part,
    transcript: squeeze(part, budgetTokens),
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
  let limits = PART;
  for (;;) {
    const transcript = renderTranscript(events, limits);
    if (estimateTextTokens(transcript.text) <= budgetTokens || limits.speech <= LEAST_CHARS) return transcript;
    const speech = Math.max(LEAST_CHARS, Math.floor(limits.speech / 2));
    limits = { speech, output: Math.max(LEAST_CHARS, Math.min(limits.output, speech)) };
  }
}
