// Whether a hidden fact would be found again: searched for with the words around its later use, the fact itself taken out, does
// an event that holds it come among the first five? Asked of `jpg search`, and of `jpg search --rank`.
import type { Event } from "../../src/core/conversation/event.ts";
import type { Cut } from "./cut.ts";
import { textOfFact } from "./fact.ts";
import type { FactReader } from "./fact-reader.ts";
import { isAgents, type NeededFact } from "./needed-facts.ts";
import { indexWords, type RankFor } from "./word-index.ts";

/** Whether a source was among the first hits, by the way of searching. */
export interface Recovery {
  /** `jpg search` with the exact words before the fact: one literal text. */
  readonly asPhrase: boolean;
  /** `jpg search` with the rarest of the words: literal, hits in the order of the conversation. */
  readonly byRarestWord: boolean;
  /** `jpg search --rank` with all those words: what it finds hangs on what the view shows. */
  readonly rank: RankFor;
}

/** Hits that are looked at. */
export const FIRST_HITS = 5;
/** Words taken from each side of the later use. */
const WORDS_ASIDE = 8;
/** Characters on each side in which they are looked for. */
const CHARS_ASIDE = 240;
/** Events of the agent's before the cut that lead up to the first use. */
const LEAD = 3;
const WORD = /[\p{L}\p{N}_]{3,}/gu;
const PHRASE_WORDS = 4;

/** Searches the past for every needed fact, in their order. */
export function searchFacts(
  { past, future }: Pick<Cut, "past" | "future">,
  facts: readonly NeededFact[],
  reader: FactReader,
): readonly Recovery[] {
  const index = indexWords(past.map(reader.text));
  const lead = past.filter(isAgents).slice(-LEAD);
  const said = placeTexts([...lead, ...future.filter(isAgents)], reader);
  return facts.map((needed) => {
    const { phrase, words } = wordsAround(needed, said);
    const isFound = (hits: readonly number[]): boolean => hits.some((hit) => needed.sources.includes(hit));
    return {
      asPhrase: phrase !== "" && isFound(index.literal(phrase, FIRST_HITS)),
      byRarestWord: isFound(rarestHits(words, index)),
      rank: index.rankFor(words),
    };
  });
}

function rarestHits(words: readonly string[], index: ReturnType<typeof indexWords>): readonly number[] {
  const known = words.filter((word) => index.frequency(word) > 0);
  const rarest = known.toSorted((a, b) => index.frequency(a) - index.frequency(b))[0];
  return rarest === undefined ? [] : index.literal(rarest, FIRST_HITS);
}

/** The agent's texts as one, and where that of each event begins. */
interface PlacedTexts {
  readonly text: string;
  readonly starts: ReadonlyMap<Event, number>;
}

function placeTexts(events: readonly Event[], reader: FactReader): PlacedTexts {
  const starts = new Map<Event, number>();
  let text = "";
  for (const event of events) {
    starts.set(event, text.length);
    text += `${reader.text(event)}\n`;
  }
  return { text, starts };
}

/** The words on both sides of the later use, nearest last and first; and the last few before it as they stand. */
export function wordsAround(
  { fact, use }: NeededFact,
  { text, starts }: PlacedTexts,
): { readonly phrase: string; readonly words: readonly string[] } {
  const written = textOfFact(fact);
  const start = starts.get(use) ?? 0;
  const found = text.indexOf(written, start);
  const at = found < 0 ? start : found;
  const end = found < 0 ? start : found + written.length;
  const without = (piece: string): string => piece.replaceAll(written, " ");
  const before = without(text.slice(Math.max(0, at - CHARS_ASIDE), at));
  const after = without(text.slice(end, end + CHARS_ASIDE));
  const words = [...(before.match(WORD) ?? []).slice(-WORDS_ASIDE), ...(after.match(WORD) ?? []).slice(0, WORDS_ASIDE)];
  const phrase = before.trim().split(/\s+/).slice(-PHRASE_WORDS).join(" ");
  return { phrase, words: [...new Set(words)] };
}
