// Turns lines of JSON into one text: every string decoded, each on a line of its own; other lines as they are. Adds a string
// with JSON escapes inside a second time, unescaped, and the joins of consecutive text parts.
import { lastAtMost } from "../lists.ts";
import { isTextPart, unescapedText } from "./mask.ts";

/** The text of some lines. */
export interface LineText {
  readonly text: string;
  /** The index of the line, 0-based, that a position of the text is from. */
  lineAt(position: number): number;
}

/** Sequences that colour a terminal's text: `grep` puts them into the middle of a word. */
const COLOURS = /\u001b\[[\d;]*[mK]/g;

/** Takes the strings out of lines, including names of fields: a name may be a secret, and says what the value is. */
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

/** Escaped letters, digits and the like: written to hide them, or by some program's habit. */
const ESCAPED = /\\u00[2-7][0-9a-fA-F]/;

/** A text without its colours, and its unescaped form if that differs. */
function formsOf(part: string): readonly string[] {
  const plain = part.includes("\u001b[") ? part.replace(COLOURS, "") : part;
  const meant = ESCAPED.test(plain) ? unescapedText(plain) : null;
  return meant === null ? [plain] : [plain, meant.text];
}

function stringsOf(line: string): readonly string[] {
  const value = parse(line);
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [line];
  const strings: string[] = [];
  // An explicit stack: foreign values nest as deep as they like.
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    const inner = typeof next === "string" ? valueIn(next) : next;
    if (typeof inner === "object" && inner !== null) for (const part of innerOf(inner)) pending.push(part);
    else if (typeof next === "string") strings.push(next);
  }
  return strings;
}

/** The JSON value in a text that is JSON itself, such as the arguments of a call; null = it is none. */
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

/** The values in a list or an object, last first; a text with its name, like an assignment. */
function innerOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return [...seamsOf(value.filter(isTextPart)), ...wordsOf(value), ...value.toReversed()];
  const inner: unknown[] = [];
  for (const [name, field] of Object.entries(value) as [string, unknown][])
    if (typeof field === "string" && isValue(name, field) && valueIn(field) === null) inner.push(`${name}: ${field}`);
    else if (name.length < SHORTEST_SECRET) inner.push(field);
    else inner.push(name, field);
  return [...inner, ...pairOf(value as Readonly<Record<string, unknown>>)].reverse();
}

/** Whether a name describes a text: not one of several lines. */
function isValue(name: string, field: string): boolean {
  const isLine = !field.trimEnd().includes("\n");
  return isLine && field.length <= (SAYS_SECRET.test(name) ? LONGEST_SECRET : LONGEST_VALUE);
}

const SAYS_SECRET = /key|token|secret|pass|auth|cred/i;

/** What two fields of an object say together: a name and its value, or a private key and its type (RFC 7517). */
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

/** The words of a command in a list, joined, if one of them is an option. */
function wordsOf(list: readonly unknown[]): readonly string[] {
  const isCommand = list.length > 1 && list.length <= MOST_WORDS && list.every((word) => typeof word === "string");
  const isGiven = isCommand && list.some((word) => /^--?[A-Za-z]/.test(word as string));
  return isGiven ? [list.join(" ").slice(0, LONGEST_SECRET)] : [];
}

/** Characters on either side of a join inside a key of many lines. */
const SEAM = 4000;
const KEY_BEGINS = "PRIVATE KEY-----";
/** Characters of a line before a join that give it context. */
const CONTEXT_BEFORE = 120;

/** The text around each join of consecutive parts, however short the parts are. */
function seamsOf(parts: readonly { readonly text: string }[]): readonly string[] {
  const all = parts.map(({ text }) => text).join("");
  let at = 0;
  return parts.slice(1).flatMap((_, before) => {
    at += parts[before]?.text.length ?? 0;
    const [end, begin] = [all.slice(Math.max(0, at - SEAM), at), all.slice(at, at + SEAM)];
    if (end.includes(KEY_BEGINS)) return [end + begin];
    const left = /[^\n]*$/.exec(end.slice(-CONTEXT_BEFORE))?.[0] ?? "";
    const right = /^ ?\S*/.exec(begin)?.[0] ?? "";
    return left.trim() === "" || right.trim() === "" ? [] : [left + right];
  });
}

/** Longest text that its name describes, characters; if the name says that it is a secret, LONGEST_SECRET. */
const LONGEST_VALUE = 200;
const LONGEST_SECRET = 4000;
/** More words are no command. */
const MOST_WORDS = 60;

/** A shorter name is no secret itself, characters. */
const SHORTEST_SECRET = 16;
