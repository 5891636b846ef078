// A session that is one JSON document, before anything is believed about it. Several formats look at such a file to tell whether
// it is theirs: it is parsed once, whoever asks.
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../core/json.ts";
import { isRecord, parseJsonLine } from "./json-line.ts";
import type { SessionSource } from "./session-source.ts";

const parsed = new WeakMap<SessionSource, unknown>();

/** The value of a file; null where it holds none, or holds lines of JSON, or nests deeper than anything does. Never throws. */
export function parseJsonDocument(source: SessionSource): unknown {
  let value = parsed.get(source);
  if (value === undefined) {
    value = holdsLines(source) ? null : parseSource(source);
    parsed.set(source, value);
  }
  return value;
}

/** Lines of JSON are no document: they need not be read to the end to be told. */
function holdsLines(source: SessionSource): boolean {
  return source.lineCount === 0 || (source.lineCount > 1 && isRecord(parseJsonLine(source.line(0))));
}

/** A file may be cut off, or longer than a text can be. */
function parseSource(source: SessionSource): unknown {
  try {
    return parseDocumentText(source.text());
  } catch {
    return null;
  }
}

/** The value of a text that is a document; null where it is none. Never throws. */
export function parseDocumentText(whole: string): unknown {
  try {
    const text = whole.replace(/^\uFEFF/, "");
    if (!/^\s*[[{]/.test(text)) return null;
    const value: unknown = JSON.parse(text);
    return isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? null : value;
  } catch {
    return null;
  }
}
