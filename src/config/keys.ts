// A setting's key: the names from the root table down, dotted as in TOML (`a.b."c.d"`).
import { parse, TomlError } from "smol-toml";
import { asSentence, JpgError } from "../core/errors.ts";
import { forJson } from "../core/safe-text.ts";

/** Names from the root down, never empty. */
export type SettingPath = readonly string[];

const BARE_NAME = /^[A-Za-z0-9_-]+$/;

/** Names that would reach an object's prototype; no setting may have one. */
const UNSAFE_NAMES: ReadonlySet<string> = new Set(["__proto__"]);

export function isSafeName(name: string): boolean {
  return !UNSAFE_NAMES.has(name);
}

/** Formats a path as a dotted key, quoting names that need it. */
export function formatKey(path: SettingPath): string {
  return path.map((name) => (BARE_NAME.test(name) ? name : quoteName(name))).join(".");
}

/** Quotes a name as TOML does; unlike JSON, TOML allows no control characters. */
function quoteName(name: string): string {
  return forJson(JSON.stringify(name));
}

// Reads a dotted key, its names bare or quoted as in TOML; `*`, the name for every other tool, may also be bare.

const PART = /[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+|\*)[ \t]*/y;

interface ScannedKey {
  readonly path: SettingPath;
  /** Offset after the key and its trailing blanks. */
  readonly end: number;
}

/** Reads a dotted key at an offset; null when there is none. */
export function scanKey(text: string, start: number): ScannedKey | null {
  const path: string[] = [];
  let at = start;
  for (;;) {
    PART.lastIndex = at;
    const part = PART.exec(text)?.[1];
    const name = part === undefined ? null : unquoteName(part);
    if (name === null) return null;
    path.push(name);
    at = PART.lastIndex;
    if (text[at] !== ".") return { path, end: at };
    at += 1;
  }
}

/** Parses a whole text as a dotted key; null for other text. */
export function parseKey(text: string): SettingPath | null {
  const key = scanKey(text, 0);
  return key !== null && key.end === text.length ? key.path : null;
}

function unquoteName(part: string): string | null {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (!part.startsWith('"')) return part;
  try {
    const { name } = parse(`name = ${part}`);
    return typeof name === "string" ? name : null;
  } catch {
    return null; // an escape unknown to TOML
  }
}

// The lines of a TOML text's keys, for errors and `--show-origin`. The text was parsed already, so the scan only has to find keys,
// not to check values.

/** Returns the 1-based line of a key, or of its nearest table; undefined when the text has neither. */
export type LineOfKey = (path: SettingPath) => number | undefined;

const BLANK_OR_COMMENT = /(?:\s|#[^\n]*)*/y;
const VALUE_TOKEN =
  /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|[^"'#[\]{}\n]+/y;

/** Maps keys and table headers of valid TOML to their lines. */
export function scanKeyLines(text: string): LineOfKey {
  const lines = new Map<string, number>();
  const counter = createLineCounter(text);
  let table: SettingPath = [];
  let at = skip(BLANK_OR_COMMENT, text, 0);
  while (at < text.length) {
    const line = counter(at);
    const header = /\[{1,2}/y;
    const keyStart = skip(header, text, at);
    const key = scanKey(text, keyStart);
    if (key === null) break;
    if (keyStart > at) {
      table = key.path;
      remember(lines, table, line);
      at = key.end + (keyStart - at);
    } else {
      remember(lines, [...table, ...key.path], line);
      at = skipValue(text, key.end + 1);
    }
    at = skip(BLANK_OR_COMMENT, text, at);
  }
  return (path) => nearestLine(lines, path);
}

/** Records a key and the tables that it implies, unless already known. */
function remember(lines: Map<string, number>, path: SettingPath, line: number): void {
  for (let length = 1; length <= path.length; length += 1) {
    const key = formatKey(path.slice(0, length));
    if (!lines.has(key)) lines.set(key, line);
  }
}

function nearestLine(lines: ReadonlyMap<string, number>, path: SettingPath): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lines.get(formatKey(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return undefined;
}

/** The end of a value: the first line end outside strings, comments, lists and inline tables. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length && !(depth === 0 && text[at] === "\n")) {
    VALUE_TOKEN.lastIndex = at;
    const token = VALUE_TOKEN.exec(text)?.[0] ?? "";
    if (token === "[" || token === "{") depth += 1;
    if (token === "]" || token === "}") depth -= 1;
    at += Math.max(1, token.length);
  }
  return at;
}

/** The offset after a sticky pattern's match; unchanged without a match. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? at : at + match[0].length;
}

/** Counts lines up to rising offsets. */
function createLineCounter(text: string): (offset: number) => number {
  let line = 1;
  let at = 0;
  return (offset) => {
    for (let next = text.indexOf("\n", at); next !== -1 && next < offset; next = text.indexOf("\n", at)) {
      line += 1;
      at = next + 1;
    }
    return line;
  };
}

// A TOML file as a table and the lines of its keys.

/** A parsed TOML text. Tables have no prototype; `__proto__` is an ordinary key in them. */
interface TomlSource {
  readonly table: Readonly<Record<string, unknown>>;
  readonly lineOf: LineOfKey;
}

/** Parses a TOML text. Throws `bad_toml` with file, line, column and the text of the line. */
export function parseToml(text: string, file: string): TomlSource {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  try {
    return { table: parse(plain), lineOf: scanKeyLines(plain) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw badToml(error, plain, file);
  }
}

function badToml(error: TomlError, text: string, file: string): JpgError {
  const { line, column } = error;
  const reason = (error.message.split("\n")[0] ?? "").replace("Invalid TOML document: ", "");
  const excerpt = (text.split("\n")[line - 1] ?? "").trim().slice(0, 80);
  return new JpgError(
    "config",
    "bad_toml",
    `${file}:${line}:${column}: expected TOML, received \`${excerpt}\`: ${asSentence(reason)}`,
    {
      hints: [`Correct line ${line} of ${file}; texts need quotes: model = "anthropic/claude-haiku"`],
      data: { file, line, column },
      cause: error,
    },
  );
}
