// Reads the facts of events, each event once: events never change, and the same ones are in many views.

import { errorLines } from "../../src/core/compact/facts.ts";
import { textsOf } from "../../src/core/compact/hidden-content.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import { type FactKey, factsShown, factsWritten } from "./fact.ts";

/** What is asked of events. */
export interface FactReader {
  /** The words among its facts as they are written. */
  written(event: Event): ReadonlySet<FactKey>;
  /** Those, and what they show besides (`factsShown`). */
  shown(event: Event): ReadonlySet<FactKey>;
  /** All that a model reads of it. */
  text(event: Event): string;
  /** Error lines that it may be quoted by: those of results, neither short nor endless. */
  errors(event: Event): readonly string[];
  /** The facts of a piece of text, and what they show besides. */
  shownIn(text: string): ReadonlySet<FactKey>;
}

/** Shortest and longest error line that is worth quoting, characters. */
const ERROR_CHARS = { least: 16, most: 300 };

/** Creates a reader for a session whose agent works in the folder `cwd`. */
export function createFactReader(cwd?: string): FactReader {
  const text = (event: Event): string => textsOf(event).join("\n");
  const shownIn = (piece: string): ReadonlySet<FactKey> => factsShown(factsWritten(piece, cwd));
  const written = once((event) => factsWritten(text(event), cwd));
  return {
    written,
    shown: once((event) => factsShown(written(event))),
    text: once(text),
    errors: once((event) => [...new Set(errorLines(event))].filter(isQuotable)),
    shownIn,
  };
}

function isQuotable({ length }: string): boolean {
  return length >= ERROR_CHARS.least && length <= ERROR_CHARS.most;
}

function once<Value>(read: (event: Event) => Value): (event: Event) => Value {
  const known = new WeakMap<Event, { readonly value: Value }>();
  return (event) => {
    const found = known.get(event) ?? { value: read(event) };
    known.set(event, found);
    return found.value;
  };
}
