// How much of what was needed a view shows. An event that stands in the view as it was said shows all that it holds; what stands
// in place of others (a stub, a summary, an index) is read for itself, and line by line for what it shows in context.
import { type Event, INDEX_ORIGIN } from "../../src/core/conversation/event.ts";
import { type FactKey, kindOfFact, textOfFact } from "./fact.ts";
import type { FactReader } from "./fact-reader.ts";
import type { NeededFact } from "./needed-facts.ts";

/** What of the needed facts, by their positions, a view shows. */
export interface Shown {
  readonly anywhere: ReadonlySet<number>;
  /** With the words around them: lists and indexes show nothing in context. */
  readonly inContext: ReadonlySet<number>;
}

/** What a view is read against. */
export interface Evidence {
  readonly past: readonly Event[];
  readonly facts: readonly NeededFact[];
  readonly reader: FactReader;
}

/** So many words beside the facts make a line tell what a fact is about. */
const CONTEXT_WORDS = 5;
const WORD = /\p{L}{2,}/gu;

/** Reads a view: the events that a model is sent. Unchanged events of the past are the same objects. */
export function readView(view: readonly Event[], evidence: Evidence): Shown {
  const { past } = evidence;
  const places = placesOf(evidence);
  const originals = new Map(past.map((event) => [event.id, event]));
  const standing = new Set(past);
  const anywhere = new Set<number>();
  const inContext = new Set<number>();
  for (const event of view) {
    if (standing.has(event)) {
      for (const fact of places.get(event) ?? []) {
        anywhere.add(fact);
        inContext.add(fact);
      }
    } else readReplacement(event, { ...evidence, original: originals.get(event.id), anywhere, inContext });
  }
  return { anywhere, inContext };
}

interface Reading extends Evidence {
  /** The event of the past that it replaces; undefined for a summary and the like. */
  readonly original: Event | undefined;
  readonly anywhere: Set<number>;
  readonly inContext: Set<number>;
}

function readReplacement(event: Event, { facts, reader, original, anywhere, inContext }: Reading): void {
  const text = reader.text(event);
  const shown = reader.shown(event);
  const found = facts.flatMap(({ fact }, position) => (holds(fact, { text, shown }) ? [position] : []));
  for (const position of found) anywhere.add(position);
  if (event.metadata?.origin === INDEX_ORIGIN) return;
  const left = new Set(found.filter((position) => !inContext.has(position)));
  if (left.size === 0) return;
  const whole = new Set(original === undefined ? [] : linesOf(reader.text(original)));
  for (const line of linesOf(text)) {
    if (!whole.has(line) && !hasWordsBeyondFacts(line, reader)) continue;
    const here = { text: line, shown: reader.shownIn(line) };
    for (const position of left) if (holds((facts[position] as NeededFact).fact, here)) inContext.add(position);
  }
}

function holds(fact: FactKey, { text, shown }: { readonly text: string; readonly shown: ReadonlySet<FactKey> }) {
  return kindOfFact(fact) === "error" ? text.includes(textOfFact(fact)) : shown.has(fact);
}

/** Whether a line says more than a list does: words that are part of no fact. */
export function hasWordsBeyondFacts(line: string, reader: Pick<FactReader, "shownIn">): boolean {
  const inFacts = new Set([...reader.shownIn(line)].flatMap((fact) => textOfFact(fact).match(WORD) ?? []));
  const words = line.match(WORD) ?? [];
  return words.filter((word) => !inFacts.has(word)).length >= CONTEXT_WORDS;
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim());
}

const known = new WeakMap<readonly NeededFact[], ReadonlyMap<Event, readonly number[]>>();

/** Positions of the needed facts by the event of the past that holds them; computed once for all views of a cut. */
function placesOf({ past, facts }: Evidence): ReadonlyMap<Event, readonly number[]> {
  const found = known.get(facts);
  if (found !== undefined) return found;
  const places = new Map<Event, number[]>();
  for (const [position, { sources }] of facts.entries()) {
    for (const source of sources) {
      const event = past[source] as Event;
      const list = places.get(event);
      if (list === undefined) places.set(event, [position]);
      else list.push(position);
    }
  }
  known.set(facts, places);
  return places;
}
