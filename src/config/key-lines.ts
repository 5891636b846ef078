// Where in a TOML text each key stands, for errors and for `--show-origin`. The text has been parsed already, so the scan
// only has to tell keys from values, not to check them.
import { scanKey } from "./scan-key.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";

/** Gives the 1-based line of a key, or of the nearest table around it; undefined when neither stands in the text. */
export type LineOfKey = (path: SettingPath) => number | undefined;

const BLANK_OR_COMMENT = /(?:\s|#[^\n]*)*/y;
const VALUE_TOKEN =
  /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|[^"'#[\]{}\n]+/y;

/** Maps the keys and table headers of a TOML text that parses to their lines. */
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

/** Remembers a key and, where they are not known yet, the tables that it implies. */
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

/** Gives the offset of the end of a value: the first line end outside strings, comments, lists and inline tables. */
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

/** Offset after what a sticky pattern matches at an offset; the offset itself when it matches nothing. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? at : at + match[0].length;
}

/** Counts lines up to offsets that only rise. */
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
