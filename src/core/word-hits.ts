// What texts hold of the words that are looked for: how often, where first, and in which lines.
import { type LineSketch, sketchLines } from "./line-sketch.ts";
import type { FindWords } from "./sought-words.ts";
import { plainForm } from "./text-pattern.ts";

export interface WordHits {
  /** How often each word stands there; those that do not are left out. */
  readonly times: ReadonlyMap<string, number>;
  /** The first name that holds each of them. */
  readonly first: ReadonlyMap<string, NamePlace>;
  /** The lines that hold any. */
  readonly lines: LineSketch;
}

/** Where a name stands: characters, 0-based, the end exclusive. */
export interface NamePlace {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Reads texts in plain form, taken together; their lines are compared as they are written. */
export function readWordHits(texts: readonly string[], find: FindWords): WordHits {
  const times = new Map<string, number>();
  const first = new Map<string, NamePlace>();
  const lines: string[] = [];
  for (const written of texts) {
    const text = plainForm(written);
    const lineAt = text === written ? plainLine(text) : writtenLine(text, written);
    let lineEnd = -1;
    find(text, ({ words, from, to }) => {
      for (const word of words) {
        times.set(word, (times.get(word) ?? 0) + 1);
        if (!first.has(word)) first.set(word, { text, from, to });
      }
      if (from <= lineEnd) return;
      const next = text.indexOf("\n", to);
      lineEnd = next < 0 ? text.length : next;
      lines.push(lineAt(from, lineEnd));
    });
  }
  return { times, first, lines: sketchLines(lines) };
}

type LineAt = (from: number, lineEnd: number) => string;

function plainLine(text: string): LineAt {
  return (from, lineEnd) => text.slice(text.lastIndexOf("\n", from) + 1, lineEnd);
}

/** Gives lines of what a text in plain form was made of, by their number; asked in their order. */
function writtenLine(text: string, written: string): LineAt {
  const lines = written.split("\n");
  let [at, line] = [0, 0];
  return (from) => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < from; next = text.indexOf("\n", at)) {
      at = next + 1;
      line += 1;
    }
    return lines[line] ?? "";
  };
}
