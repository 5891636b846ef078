// What an agent may need again, word for word: paths, identifiers, SHAs and numbers of four digits and more. Linear in the text,
// whatever stands in it: words are found by the same scanner as those of the loss receipt.
import { pathEnds, scanFacts } from "../../src/core/compact/facts.ts";

/** Kinds of facts; an `error` is a whole line and is found by its text, not as a word. */
export type FactKind = "path" | "identifier" | "sha" | "number" | "error";

/** A fact as one text, `<kind> <text>`: equal for equal facts. */
export type FactKey = `${FactKind} ${string}`;

/** Fewest digits of a number that nobody guesses. */
const FEWEST_DIGITS = 4;
/** Fewest digits of a SHA. */
const SHORTEST_SHA = 7;

/**
 * Gives the facts of a text as they are written, each once, in order. Paths below `cwd`, the folder that the agent works in, are
 * taken relative to it; the folder itself and those above it are none: the agent is told where it is with every request.
 */
export function factsWritten(text: string, cwd?: string): ReadonlySet<FactKey> {
  const facts = new Set<FactKey>();
  scanFacts(text, (kind, word) => {
    switch (kind) {
      case "files": {
        const path = relativePath(word, cwd);
        if (path !== null) facts.add(`path ${path}`);
        break;
      }
      case "identifiers":
        facts.add(`identifier ${word}`);
        break;
      case "shas":
        facts.add(`sha ${word}`);
        break;
      case "numbers": {
        const digits = /^[\d.]+/.exec(word)?.[0] ?? "";
        if (countDigits(digits) >= FEWEST_DIGITS) facts.add(`number ${digits}`);
        break;
      }
      default:
    }
  });
  return facts;
}

/**
 * Gives all that facts show: themselves, every end of a path that begins at a segment, every beginning of a SHA. A longer one
 * tells the shorter one word for word, never the other way round.
 */
export function factsShown(written: Iterable<FactKey>): ReadonlySet<FactKey> {
  const shown = new Set<FactKey>();
  for (const fact of written) {
    shown.add(fact);
    const text = textOfFact(fact);
    if (fact.startsWith("path ")) for (const end of pathEnds(text)) shown.add(`path ${end}`);
    if (fact.startsWith("sha "))
      for (let length = SHORTEST_SHA; length < text.length; length += 1) shown.add(`sha ${text.slice(0, length)}`);
  }
  return shown;
}

/** Gives the kind of a fact. */
export function kindOfFact(fact: FactKey): FactKind {
  return fact.slice(0, fact.indexOf(" ")) as FactKind;
}

/** Gives the text of a fact. */
export function textOfFact(fact: FactKey): string {
  return fact.slice(fact.indexOf(" ") + 1);
}

function relativePath(path: string, cwd: string | undefined): string | null {
  if (cwd === undefined || cwd === "/") return path;
  if (path === cwd || cwd.startsWith(`${path}/`)) return null;
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** Zeros in front say nothing. */
function countDigits(number: string): number {
  return number.replaceAll(".", "").replace(/^0+/, "").length;
}
