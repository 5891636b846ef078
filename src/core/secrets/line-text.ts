// What is said in lines of JSON, as one text: every string as it was before it was written as JSON, each on a line of its own.
// What is no JSON stands as it is.

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
      const plain = part.includes("\u001b[") ? part.replace(COLOURS, "") : part;
      parts.push(plain);
      length += plain.length + 1;
    }
  }
  return { text: parts.join("\n"), lineAt: (position) => lastAtMost(starts, position) };
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
  if (Array.isArray(value)) return value.toReversed();
  const named = Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    if (typeof field === "string" && field.length <= LONGEST_VALUE) return [`${name}: ${field}`];
    return name.length < SHORTEST_SECRET ? [field] : [name, field];
  });
  return named.reverse();
}

/** A longer text is no value that its name says something of, characters. */
const LONGEST_VALUE = 200;

/** A shorter name is no secret itself, characters. */
const SHORTEST_SECRET = 16;

/** The last of rising numbers that is at most so much; 0 where none is. */
function lastAtMost(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
