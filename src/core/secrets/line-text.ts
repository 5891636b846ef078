// What is said in lines of JSON, as one text: every string as it was before it was written as JSON, each on a line of its own.
// What is no JSON stands as it is. What was written with the escapes of JSON inside a text stands there a second time, as it is
// meant, and so does what parts of one content say together where they meet.
import { lastAtMost } from "../lists.ts";
import { isTextPart, meantText } from "./mask.ts";

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
    const inner = typeof next === "string" ? valueIn(next) : next;
    if (typeof inner === "object" && inner !== null) for (const part of innerOf(inner)) waiting.push(part);
    else if (typeof next === "string") strings.push(next);
  }
  return strings;
}

/** What a text says that is JSON itself, such as the arguments of a call; null = it is none. */
function valueIn(text: string): object | null {
  if (!/^\s{0,20}(?:\{|\[)\s{0,40}["{[]/.test(text) || !/[}\]]\s{0,20}$/.test(text.slice(-21))) return null;
  const value = parse(text);
  return typeof value === "object" ? (value as object | null) : null;
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
  if (Array.isArray(value)) return [...seamsOf(value.filter(isTextPart)), ...wordsOf(value), ...value.toReversed()];
  const inner: unknown[] = [];
  for (const [name, field] of Object.entries(value) as [string, unknown][])
    if (typeof field === "string" && isValue(name, field) && valueIn(field) === null) inner.push(`${name}: ${field}`);
    else if (name.length < SHORTEST_SECRET) inner.push(field);
    else inner.push(name, field);
  return [...inner, ...pairOf(value as Readonly<Record<string, unknown>>)].reverse();
}

/** Whether a name says something of a text: a text of lines says it itself. */
function isValue(name: string, field: string): boolean {
  const isLine = !field.trimEnd().includes("\n");
  return isLine && field.length <= (SAYS_SECRET.test(name) ? LONGEST_SECRET : LONGEST_VALUE);
}

const SAYS_SECRET = /key|token|secret|pass|auth|cred/i;

/** What two fields of an object say together: a name and its value, or a private key and that it is one (RFC 7517). */
function pairOf(value: Readonly<Record<string, unknown>>): readonly string[] {
  const key = !("kty" in value) ? undefined : firstText(value, ["d", "k"]);
  if (key !== undefined) return [`key: {"kty":"","d":"${key}"}`];
  const name = firstText(value, ["name", "Name", "key", "Key", "variable", "env", "id"]);
  const said = firstText(value, ["value", "Value", "secret", "default", "content", "val"]);
  return name === undefined || said === undefined || !SAYS_SECRET.test(name) ? [] : [`${name}: ${said}`];
}

function firstText(value: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  return names
    .map((name) => value[name])
    .find((field) => typeof field === "string" && field.length <= LONGEST_SECRET) as string | undefined;
}

/** The words of a command that stand in a list, where an option is one of them. */
function wordsOf(list: readonly unknown[]): readonly string[] {
  const isCommand = list.length > 1 && list.length <= MOST_WORDS && list.every((word) => typeof word === "string");
  const isGiven = isCommand && list.some((word) => /^--?[A-Za-z]/.test(word as string));
  return isGiven ? [list.join(" ").slice(0, LONGEST_SECRET)] : [];
}

/** Characters on either side of where two parts meet, where a key of many lines is said. */
const SEAM = 4000;
const KEY_BEGINS = "PRIVATE KEY-----";
/** Characters of a line before such a place that say what stands behind it. */
const SAID_BEFORE = 120;

/** The words, or the key, that parts say together where they meet, however short the parts are. */
function seamsOf(parts: readonly { readonly text: string }[]): readonly string[] {
  const all = parts.map(({ text }) => text).join("");
  let at = 0;
  return parts.slice(1).flatMap((_, before) => {
    at += parts[before]?.text.length ?? 0;
    const [end, begin] = [all.slice(Math.max(0, at - SEAM), at), all.slice(at, at + SEAM)];
    if (end.includes(KEY_BEGINS)) return [end + begin];
    const left = /[^\n]*$/.exec(end.slice(-SAID_BEFORE))?.[0] ?? "";
    const right = /^ ?\S*/.exec(begin)?.[0] ?? "";
    return left.trim() === "" || right.trim() === "" ? [] : [left + right];
  });
}

/** A longer text is no value that its name says something of, characters; where that says a secret, it may be long. */
const LONGEST_VALUE = 200;
const LONGEST_SECRET = 4000;
/** More are no command. */
const MOST_WORDS = 60;

/** A shorter name is no secret itself, characters. */
const SHORTEST_SECRET = 16;
