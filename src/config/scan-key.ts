// Reads a setting's key as it is written, dotted, its names bare or quoted as in TOML; `*`, the name for every other tool, may be
// bare, too.
import { parse } from "smol-toml";
import type { SettingPath } from "./setting-key.ts";

const PART = /[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+|\*)[ \t]*/y;

/** A key read from the beginning of a text, and where it ended. */
export interface ScannedKey {
  readonly path: SettingPath;
  /** Offset of the first character after the key and the blanks behind it. */
  readonly end: number;
}

/** Reads a dotted key that begins at an offset of a text; null when none stands there. */
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

/** Parses a whole text as a dotted key; null when it is none. */
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
    return null; // an escape that TOML does not know: no key
  }
}
