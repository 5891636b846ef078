// What is said in lines of JSON, as one text: every string as it was before it was written as JSON, each on a line of its own.
// What is no JSON stands as it is. What was written with the escapes of JSON inside a text stands there a second time, as it is
// meant, and so does what parts of one content say together where they meet.
import { lastAtMost } from "../last-at-most.ts";
import { isTextPart } from "./mask-line.ts";
import { meantText } from "./meant-text.ts";

/** The text of some lines. */
export interface LineText {
  readonly text: string;
  /** The line, counted from the first of them, 0-based, that a position of the text is from. */
  lineAt(position: number): number;
}

/** Sequences that colour a terminal's text: `grep` puts them into the middle of a word. */
const COLOURS = /\u001b\[[\d;]*[mK]/g;

/** Takes the strings out of lines, names of fields with them: one may be a secret, and says what the value is. */
export function textOfLines(lines: Iterable<string>): LineText {
  const parts: string[] = [];
  /** Where the text of each line begins. */
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    for (const part of stringsOf(line)) {
      for (const plain of formsOf(part)) {
        parts.push(plain);
        length += plain.length + 1;
      }
    }
  }
  return { text: parts.join("\n"), lineAt: (position) => lastAtMost(starts, position) };
}

/** Letters, digits and the like that are written as escapes: nobody does so but to hide them, or by the habit of some program. */
const HIDDEN = /\\u00[2-7][0-9a-fA-F]/;

/** A text without its colours, and as it is meant where that is another. */
function formsOf(part: string): readonly string[] {
  const plain = part.includes("\u001b[") ? part.replace(COLOURS, "") : part;
  const meant = HIDDEN.test(plain) ? meantText(plain) : null;
  return meant === null ? [plain] : [plain, meant.text];
}

function stringsOf(line: string): readonly string[] {
  const value = parse(line);
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [line];
  const strings: string[] = [];
  // Not by calls of itself: foreign values nest as deep as they like.
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string") strings.push(next);
    else if (typeof next === "object" && next !== null) for (const inner of innerOf(next)) waiting.push(inner);
  }
  return strings;
}

/** Undefined = no JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The values in a list or an object, last first; a text beside its name, as an assignment is written. */
function innerOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return [...seamsOf(value.filter(isTextPart)), ...value.toReversed()];
  const inner: unknown[] = [];
  for (const [name, field] of Object.entries(value) as [string, unknown][])
    if (typeof field === "string" && field.length <= LONGEST_VALUE) inner.push(`${name}: ${field}`);
    else if (name.length < SHORTEST_SECRET) inner.push(field);
    else inner.push(name, field);
  return inner.reverse();
}

/** Characters on either side of where two parts meet, where a key of many lines is said. */
const SEAM = 4000;
const KEY_BEGINS = "PRIVATE KEY-----";

/** The words, or the key, that one part begins and the next ends. */
function seamsOf(parts: readonly { readonly text: string }[]): readonly string[] {
  return parts.slice(1).flatMap(({ text: next }, before) => {
    const [end, begin] = [parts[before]?.text.slice(-SEAM) ?? "", next.slice(0, SEAM)];
    if (end.includes(KEY_BEGINS)) return [end + begin];
    const [left = "", right = ""] = [/\S*$/.exec(end)?.[0], /^\S*/.exec(begin)?.[0]];
    return left === "" || right === "" ? [] : [left + right];
  });
}

/** A longer text is no value that its name says something of, characters. */
const LONGEST_VALUE = 200;

/** A shorter name is no secret itself, characters. */
const SHORTEST_SECRET = 16;
