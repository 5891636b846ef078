// Puts entries into a JSON file of settings, and takes them out: only their own characters come and go, comments, order and
// layout of the rest stay. Pure.
import type { JsonEntry, JsonValue } from "../../formats/agent-format.ts";
import { type AddedText, type Insertion, insertText, type NotAdded } from "./settings-file.ts";

/** Whether what stands in a file is what jpg puts there, or once put. */
type IsOwn = (value: unknown, entry: JsonEntry) => boolean;

/** Puts in what is not there. An entry of jpg's that says something else by now is replaced by the caller, who takes it out first. */
export function addJson(text: string, entries: readonly JsonEntry[]): AddedText | NotAdded {
  let now = text;
  const inserted: string[] = [];
  for (const entry of entries) {
    const root = now.trim() === "" ? null : outlineJson(now);
    if (root === null && now.trim() !== "") return { problem: "is not JSON" };
    const insertion = root === null ? placeFirst(now, nested(entry, 0)) : place(now, root, entry);
    if (insertion === null) continue;
    if ("problem" in insertion) return insertion;
    inserted.push(insertion.text);
    now = insertText(now, insertion);
  }
  return { text: now, inserted };
}

/** Whether an entry of jpg's stands there: as it is to be, or otherwise. */
export function findJson(text: string, entry: JsonEntry, isOwn: IsOwn): "same" | "other" | "foreign" | null {
  const root = text.trim() === "" ? null : outlineJson(text);
  const node = root === null ? null : nodeAt(root, entry.keys);
  if (node === null) return null;
  const candidates = entry.isItem ? (node.parts ?? []).map(({ value }) => value) : [node];
  const values = candidates.map((candidate) => valueAt(text, candidate));
  if (values.some((value) => isEqual(value, entry.value))) return "same";
  if (values.some((value) => isOwn(value, entry))) return "other";
  return entry.isItem ? null : "foreign";
}

/** Gives what stands under some keys; undefined where nothing does, or the text is no JSON. */
export function readJson(text: string, keys: readonly string[]): unknown {
  const root = text.trim() === "" ? null : outlineJson(text);
  const node = root === null ? null : nodeAt(root, keys);
  return node === null ? undefined : valueAt(text, node);
}

/** Takes jpg's entries out, and what holds nothing then. Null where the text is no JSON. */
export function removeJson(text: string, entries: readonly JsonEntry[], isOwn: IsOwn): string | null {
  let now = text;
  for (const entry of entries) {
    for (let next: string | null = now; next !== null; next = removeOne(now, entry, isOwn)) now = next;
  }
  return outlineJson(now) === null ? null : now;
}

function removeOne(text: string, entry: JsonEntry, isOwn: IsOwn): string | null {
  const root = outlineJson(text);
  if (root === null) return null;
  const path = partsTo(root, entry.keys);
  const last = path.at(-1)?.part.value;
  if (path.length < entry.keys.length || last === undefined) return null;
  if (entry.isItem) {
    const item = last.parts?.find(({ value }) => isOwn(valueAt(text, value), entry));
    if (item === undefined) return null;
    path.push({ holder: last, part: item });
    // A group of the user's own keeps its other commands.
    const command = stepsDown(text, item.value, (value) => isOwn(value, entry)).findLast(({ holder }) => holder.isList);
    if (command !== undefined && command.holder.parts?.length !== 1) path.push(command);
  } else if (!isOwn(valueAt(text, last), entry)) return null;
  // A list or object that held nothing else goes with it.
  let at = path.length - 1;
  while (at > 0 && path[at]?.holder.parts?.length === 1) at -= 1;
  const { holder, part } = path[at] ?? { holder: root, part: null };
  return part === null ? null : cutPart(text, holder, part);
}

/** The way down to the innermost value that is so, a value with such a one in it being so itself. */
function stepsDown(text: string, node: OutlineNode, isSo: (value: unknown) => boolean): Step[] {
  const part = node.parts?.find(({ value }) => isSo(valueAt(text, value)));
  return part === undefined ? [] : [{ holder: node, part }, ...stepsDown(text, part.value, isSo)];
}

/** Where an entry goes; null where it stands already. */
function place(text: string, root: OutlineNode, entry: JsonEntry): Insertion | NotAdded | null {
  const { keys, isItem, value } = entry;
  const steps = partsTo(root, keys);
  const holder = steps.at(-1)?.part.value ?? root;
  if (steps.length < keys.length) {
    const [key = ""] = keys.slice(steps.length);
    if (holder.parts === null || holder.isList)
      return { problem: `has ${named(keys, steps.length)}that is not an object` };
    return placePart(text, holder, { key, value: nested(entry, steps.length + 1) });
  }
  if (!isItem)
    return isEqual(valueAt(text, holder), value) ? null : { problem: `has another ${named(keys, keys.length).trim()}` };
  if (!holder.isList) return { problem: `has ${named(keys, keys.length)}that is not a list` };
  const isThere = holder.parts?.some((part) => isEqual(valueAt(text, part.value), value));
  return isThere === true ? null : placePart(text, holder, { key: null, value });
}

/** What stands under the first `depth` keys of an entry, where nothing stands yet. */
function nested({ keys, value, isItem }: JsonEntry, depth: number): JsonValue {
  return keys.slice(depth).reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), isItem ? [value] : value);
}

function named(keys: readonly string[], depth: number): string {
  return depth === 0 ? "something " : `${JSON.stringify(keys.slice(0, depth).join("."))} `;
}

/** Whether two values are the same JSON. */
function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Step {
  readonly holder: OutlineNode;
  readonly part: OutlinePart;
}

function partsTo(root: OutlineNode, keys: readonly string[]): Step[] {
  const steps: Step[] = [];
  let holder = root;
  for (const key of keys) {
    const part = memberOf(holder, key);
    if (part === undefined) break;
    steps.push({ holder, part });
    holder = part.value;
  }
  return steps;
}

/** Of a key that stands twice, the last counts, as everywhere in JSON. */
function memberOf(node: OutlineNode, key: string): OutlinePart | undefined {
  return node.isList ? undefined : node.parts?.findLast((part) => part.key === key);
}

function nodeAt(root: OutlineNode, keys: readonly string[]): OutlineNode | null {
  const steps = partsTo(root, keys);
  return steps.length < keys.length ? null : (steps.at(-1)?.part.value ?? null);
}

/** Cuts a part with the blank before it and one comma: the one behind it, of the last part the one before it. */
function cutPart(text: string, { parts }: OutlineNode, part: OutlinePart): string {
  const previous = parts?.[(parts?.indexOf(part) ?? 0) - 1];
  const start = startOfBlank(text, part.start);
  const end = part.comma === null ? part.value.end : part.comma + 1;
  if (part.comma === null && previous !== undefined && previous.comma !== null)
    return text.slice(0, previous.comma) + text.slice(previous.comma + 1, start) + text.slice(end);
  // Of a holder that is empty then, nothing is left between its brackets.
  const rest =
    previous === undefined && part.comma === null ? text.slice(end).replace(/^\s+(?=[}\]])/, "") : text.slice(end);
  return text.slice(0, start) + rest;
}

function startOfBlank(text: string, at: number): number {
  return text.slice(0, at).trimEnd().length;
}

// How a value that is put into a JSON text is laid out: as the text around it is, so that it looks as if its owner had typed it.

const USUAL_INDENT = "  ";
const BYTE_ORDER_MARK = "\uFEFF";

/** An item, or a member where it has a key. */
interface NewPart {
  readonly key: string | null;
  readonly value: JsonValue;
}

/** Where a value goes in a file that holds nothing. */
function placeFirst(text: string, value: JsonValue): Insertion {
  return { at: text.startsWith(BYTE_ORDER_MARK) ? 1 : 0, text: `${JSON.stringify(value, null, USUAL_INDENT)}\n` };
}

/** Where a part goes in a list or an object: behind what is there. */
function placePart(text: string, holder: OutlineNode, part: NewPart): Insertion {
  const parts = holder.parts ?? [];
  const [first, last] = [parts[0], parts.at(-1)];
  const inner = text.slice(holder.start + 1, first?.start ?? holder.end - 1);
  const isFlat = first === undefined ? isOneLine(text) : !inner.includes("\n");
  const unit = indentOf(text);
  const outer = lineIndent(text, holder.start);
  const indent = first === undefined || isFlat ? outer + unit : lineIndent(text, first.start);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const words = isFlat ? flat(part) : laidOut(part, { unit, indent, eol });
  const gap = isFlat ? (first === undefined ? "" : " ") : `${eol}${indent}`;
  if (last === undefined) {
    const close = isFlat || inner.includes("\n") ? "" : `${eol}${outer}`;
    return { at: holder.start + 1, text: `${gap}${words}${close}` };
  }
  return last.comma === null
    ? { at: last.value.end, text: `,${gap}${words}` }
    : { at: last.comma + 1, text: `${gap}${words}` };
}

/** Whether a file that holds something holds it in one line. */
function isOneLine(text: string): boolean {
  const trimmed = text.trim();
  return !trimmed.includes("\n") && trimmed.replaceAll(/\s/g, "").length > 2;
}

/** What a level is indented by, told from the first line that is. */
function indentOf(text: string): string {
  return /^([ \t]+)["}\]]/m.exec(text)?.[1] ?? USUAL_INDENT;
}

/** The blank that a line begins with. */
function lineIndent(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

function flat({ key, value }: NewPart): string {
  const words = JSON.stringify(value);
  return key === null ? words : `${JSON.stringify(key)}: ${words}`;
}

function laidOut(
  { key, value }: NewPart,
  { unit, indent, eol }: { readonly unit: string; readonly indent: string; readonly eol: string },
): string {
  const words = JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
  return key === null ? words : `${JSON.stringify(key)}: ${words}`;
}

// Where the values of a JSON text stand in it, so that one can be put in or taken out and the rest stays as its owner wrote it.
// Comments and commas behind the last value are let pass, as agents do in their settings.

/** A value and where it stands: `start` inclusive, `end` exclusive, in characters. */
interface OutlineNode {
  readonly start: number;
  readonly end: number;
  /** A list or an object has parts; null = any other value. */
  readonly parts: readonly OutlinePart[] | null;
  readonly isList: boolean;
}

/** An item of a list, or a member of an object: `start` is that of the key then. */
interface OutlinePart {
  readonly key: string | null;
  readonly start: number;
  readonly value: OutlineNode;
  /** The comma behind it, null where none is. */
  readonly comma: number | null;
}

/** Deeper settings are not read. */
const MOST_LEVELS = 200;
const PLAIN_VALUE = /true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const BLANK = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;

/** Outlines a text; null when it is no JSON. */
export function outlineJson(text: string): OutlineNode | null {
  try {
    const scanner = new Scanner(text);
    const root = scanner.value(0);
    return scanner.isAtEnd() ? root : null;
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
}

/** The value of a part of a text. Throws `SyntaxError` for strings with escapes that JSON does not know. */
function valueAt(text: string, node: OutlineNode): unknown {
  if (node.parts === null) return JSON.parse(text.slice(node.start, node.end));
  if (node.isList) return node.parts.map(({ value }) => valueAt(text, value));
  return Object.fromEntries(node.parts.map(({ key, value }) => [key ?? "", valueAt(text, value)]));
}

class NotJson extends Error {}

class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.take(BLANK);
  }

  isAtEnd(): boolean {
    this.take(BLANK);
    return this.at === this.text.length;
  }

  /** Reads a value. Throws `NotJson`. */
  value(level: number): OutlineNode {
    if (level > MOST_LEVELS) throw new NotJson();
    const start = this.at;
    const isList = this.skip("[");
    if (isList || this.skip("{")) {
      const parts = this.parts(isList, level);
      return { start, end: this.at, parts, isList };
    }
    if (!this.take(STRING) && !this.take(PLAIN_VALUE)) throw new NotJson();
    return { start, end: this.at, parts: null, isList: false };
  }

  private parts(isList: boolean, level: number): readonly OutlinePart[] {
    const parts: OutlinePart[] = [];
    for (this.take(BLANK); !this.skip(isList ? "]" : "}"); this.take(BLANK)) {
      if (parts.length > 0 && parts.at(-1)?.comma === null) throw new NotJson();
      const start = this.at;
      const key = isList ? null : this.key();
      const value = this.value(level + 1);
      this.take(BLANK);
      const comma = this.at;
      parts.push({ key, start, value, comma: this.skip(",") ? comma : null });
    }
    return parts;
  }

  private key(): string {
    const start = this.at;
    if (!this.take(STRING)) throw new NotJson();
    const key = this.text.slice(start, this.at);
    this.take(BLANK);
    if (!this.skip(":")) throw new NotJson();
    this.take(BLANK);
    try {
      return JSON.parse(key) as string;
    } catch {
      throw new NotJson();
    }
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}
