// Adds entries to a JSON file of settings and removes them. Only their own characters change; comments, order and layout of the
// rest stay. jsonc-parser finds values; comments and trailing commas are accepted, as agents do in their settings. Pure.
import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import type { JsonEntry, JsonValue } from "../../formats/agent-format.ts";
import { type AddedText, type Insertion, insertText, lineOfOffset, type NotAdded } from "./settings-file.ts";

/** Whether a value in a file is what jpg writes there, or once wrote. */
type IsOwn = (value: unknown, entry: JsonEntry) => boolean;

/** Adds the entries that are missing. To replace an outdated one, the caller removes it first. */
export function addJson(text: string, entries: readonly JsonEntry[]): AddedText | NotAdded {
  let now = text;
  const inserted: string[] = [];
  for (const entry of entries) {
    const root = isBlank(now) ? null : readTree(now);
    if (root !== null && "problem" in root) return root;
    const insertion = root === null ? placeFirst(now, nested(entry, 0)) : place(now, root, entry);
    if (insertion === null) continue;
    if ("problem" in insertion) return insertion;
    inserted.push(insertion.text);
    now = insertText(now, insertion);
  }
  return { text: now, inserted };
}

/** Finds jpg's entry: `same` as jpg writes it, or another form. */
export function findJson(text: string, entry: JsonEntry, isOwn: IsOwn): "same" | "other" | "foreign" | null {
  const node = nodeAt(text, entry.keys);
  if (node === null) return null;
  const values = (entry.isItem ? itemsOf(node) : [node]).map((candidate): unknown => getNodeValue(candidate));
  if (values.some((value) => isEqual(value, entry.value))) return "same";
  if (values.some((value) => isOwn(value, entry))) return "other";
  return entry.isItem ? null : "foreign";
}

/** Returns the value under some keys; undefined if there is none, or the text is no JSON. */
export function readJson(text: string, keys: readonly string[]): unknown {
  const node = nodeAt(text, keys);
  return node === null ? undefined : getNodeValue(node);
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  return !("problem" in readTree(text));
}

/** Removes jpg's entries, and what is empty then. */
export function removeJson(text: string, entries: readonly JsonEntry[], isOwn: IsOwn): string | NotAdded {
  let now = text;
  for (const entry of entries) {
    for (let next: string | null = now; next !== null; next = removeOne(now, entry, isOwn)) now = next;
  }
  const root = readTree(now);
  return "problem" in root ? root : now;
}

function removeOne(text: string, entry: JsonEntry, isOwn: IsOwn): string | null {
  const root = readTree(text);
  if ("problem" in root) return null;
  const path = partsTo(root, entry.keys);
  const last = path.at(-1)?.value;
  if (path.length < entry.keys.length || last === undefined) return null;
  if (entry.isItem) {
    const item = itemsOf(last).find((value) => isOwn(getNodeValue(value), entry));
    if (item === undefined) return null;
    path.push({ holder: last, part: item, value: item });
    // Other commands in a group of the user's stay.
    const command = stepsDown(item, (value) => isOwn(value, entry)).findLast(({ holder }) => holder.type === "array");
    if (command !== undefined && partsOf(command.holder).length !== 1) path.push(command);
  } else if (!isOwn(getNodeValue(last), entry)) return null;
  // A list or object that holds nothing else is removed with it.
  let at = path.length - 1;
  while (at > 0 && partsOf(path[at]?.holder).length === 1) at -= 1;
  const step = path[at];
  return step === undefined ? null : cutPart(text, step);
}

/** The path down to the innermost value for which `isSo` is true; it must be true for the values around it, too. */
function stepsDown(node: Node, isSo: (value: unknown) => boolean): Step[] {
  const step = stepsInto(node).find(({ value }) => isSo(getNodeValue(value)));
  return step === undefined ? [] : [step, ...stepsDown(step.value, isSo)];
}

/** Where to insert an entry; null if it is there already. */
function place(text: string, root: Node, entry: JsonEntry): Insertion | NotAdded | null {
  const { keys, isItem, value } = entry;
  const steps = partsTo(root, keys);
  const holder = steps.at(-1)?.value ?? root;
  const refuse = (what: string): NotAdded => ({ problem: `has ${what}`, line: lineOfOffset(text, holder.offset) });
  if (steps.length < keys.length) {
    const [key = ""] = keys.slice(steps.length);
    if (holder.type !== "object") return refuse(`${named(keys, steps.length)}that is not an object`);
    return placePart(text, holder, { key, value: nested(entry, steps.length + 1) });
  }
  if (!isItem)
    return isEqual(getNodeValue(holder), value) ? null : refuse(`another ${named(keys, keys.length).trim()}`);
  if (holder.type !== "array") return refuse(`${named(keys, keys.length)}that is not a list`);
  const isThere = itemsOf(holder).some((item) => isEqual(getNodeValue(item), value));
  return isThere ? null : placePart(text, holder, { key: null, value });
}

/** The value to insert below the first `depth` keys of an entry. */
function nested({ keys, value, isItem }: JsonEntry, depth: number): JsonValue {
  return keys.slice(depth).reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), isItem ? [value] : value);
}

function named(keys: readonly string[], depth: number): string {
  return depth === 0 ? "something " : `${JSON.stringify(keys.slice(0, depth).join("."))} `;
}

/** Whether two values are equal as JSON. */
function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Removes a part with the white space before it and one comma: the one after it, or for the last part the one before. */
function cutPart(text: string, { holder, part }: Step): string {
  const parts = partsOf(holder);
  const previous = parts[parts.indexOf(part) - 1];
  const start = text.slice(0, part.offset).trimEnd().length;
  const comma = commaAfter(text, part);
  const end = comma === null ? endOf(part) : comma + 1;
  const before = comma === null && previous !== undefined ? commaAfter(text, previous) : null;
  if (before !== null) return text.slice(0, before) + text.slice(before + 1, start) + text.slice(end);
  // Leave nothing between the brackets of a holder that is empty then.
  const isEmpty = previous === undefined && comma === null;
  return text.slice(0, start) + (isEmpty ? text.slice(end).replace(/^\s+(?=[}\]])/, "") : text.slice(end));
}

// The tree of a text, as jsonc-parser returns it.

const BYTE_ORDER_MARK = "\uFEFF";

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Parses a text into its tree, or finds where it is no JSON. */
function readTree(text: string): Node | NotAdded {
  const errors: ParseError[] = [];
  try {
    const root = parseTree(text.replace(BYTE_ORDER_MARK, " "), errors, { allowTrailingComma: true });
    if (root !== undefined && errors.length === 0) return root;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // It nests deeper than the parser can follow.
  }
  return { problem: "is not JSON", line: lineOfOffset(text, errors[0]?.offset ?? 0) };
}

/** An item of a list or a member of an object, and its value. */
interface Step {
  readonly holder: Node;
  readonly part: Node;
  readonly value: Node;
}

function partsOf(node: Node | undefined): readonly Node[] {
  return node?.children ?? [];
}

function itemsOf(node: Node): readonly Node[] {
  return node.type === "array" ? partsOf(node) : [];
}

function stepsInto(holder: Node): readonly Step[] {
  return partsOf(holder).map((part) => ({ holder, part, value: part.type === "property" ? memberValue(part) : part }));
}

/** A text without errors has a value after each key. */
function memberValue({ children: [, value] = [] }: Node): Node {
  if (value === undefined) throw new Error("a member without a value");
  return value;
}

/** The path down some keys, as far as it exists. Of a duplicate key the last one counts, as everywhere in JSON. */
function partsTo(root: Node, keys: readonly string[]): Step[] {
  const steps: Step[] = [];
  let holder = root;
  for (const key of keys) {
    const step = stepsInto(holder).findLast(
      ({ part }) => part.type === "property" && part.children?.[0]?.value === key,
    );
    if (step === undefined) break;
    steps.push(step);
    holder = step.value;
  }
  return steps;
}

function nodeAt(text: string, keys: readonly string[]): Node | null {
  const root = readTree(text);
  const steps = "problem" in root ? [] : partsTo(root, keys);
  return steps.length < keys.length ? null : (steps.at(-1)?.value ?? null);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** The comma after a part, ignoring comments; null if there is none. */
function commaAfter(text: string, part: Node): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(endOf(part));
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : null;
}

// Lays out a value like the JSON text around it, as if its owner had typed it.

const USUAL_INDENT = "  ";

/** A list item, or a member if it has a key. */
interface NewPart {
  readonly key: string | null;
  readonly value: JsonValue;
}

/** Where to insert a value into an empty file. */
function placeFirst(text: string, value: JsonValue): Insertion {
  return { at: text.startsWith(BYTE_ORDER_MARK) ? 1 : 0, text: `${JSON.stringify(value, null, USUAL_INDENT)}\n` };
}

/** Where to insert a part into a list or an object: at its end. */
function placePart(text: string, holder: Node, part: NewPart): Insertion {
  const parts = partsOf(holder);
  const [first, last] = [parts[0], parts.at(-1)];
  const inner = text.slice(holder.offset + 1, first?.offset ?? endOf(holder) - 1);
  const isFlat = first === undefined ? isOneLine(text) : !inner.includes("\n");
  const unit = indentOf(text);
  const outer = lineIndent(text, holder.offset);
  const indent = first === undefined || isFlat ? outer + unit : lineIndent(text, first.offset);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const words = isFlat ? flat(part) : laidOut(part, { unit, indent, eol });
  const gap = isFlat ? (first === undefined ? "" : " ") : `${eol}${indent}`;
  if (last === undefined) {
    const close = isFlat || inner.includes("\n") ? "" : `${eol}${outer}`;
    return { at: holder.offset + 1, text: `${gap}${words}${close}` };
  }
  const comma = commaAfter(text, last);
  return comma === null ? { at: endOf(last), text: `,${gap}${words}` } : { at: comma + 1, text: `${gap}${words}` };
}

/** Whether a file that is not empty has only one line. */
function isOneLine(text: string): boolean {
  const trimmed = text.trim();
  return !trimmed.includes("\n") && trimmed.replaceAll(/\s/g, "").length > 2;
}

/** The indentation of one level, from the first indented line. */
function indentOf(text: string): string {
  return /^([ \t]+)["}\]]/m.exec(text)?.[1] ?? USUAL_INDENT;
}

/** The white space at the beginning of a line. */
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
