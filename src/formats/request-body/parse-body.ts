// A file that holds requests as a provider takes them: one JSON document, or a request a line, each of which goes on with the one
// before, so that the last holds all that was said. A file is parsed once, whoever asks.
import { isFields } from "../../core/conversation/event.ts";
import { recognizeRequest } from "../../core/model/provider-rules.ts";
import type { SkippedLine } from "../imported-session.ts";
import { parseJsonDocument } from "../json-document.ts";
import { parseJsonLine } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";

/** What a file holds. */
export interface ParsedBody {
  /** The request that holds everything; null where there is none. */
  readonly body: unknown;
  /** Whether requests stand one a line. */
  readonly isLines: boolean;
  readonly skipped: readonly SkippedLine[];
  /** Line, counted from 1, of the first request that does not go on with the one before; absent = all do. */
  readonly strange?: number;
}

const parsed = new WeakMap<SessionSource, ParsedBody>();

/** Parses a file. Never throws. */
export function parseBody(source: SessionSource): ParsedBody {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const made = readBody(source);
  parsed.set(source, made);
  return made;
}

function readBody(source: SessionSource): ParsedBody {
  const isLines = source.lineCount > 1 && isFields(parseJsonLine(source.line(0)));
  return isLines ? readLines(source) : { body: parseJsonDocument(source), isLines, skipped: [] };
}

function readLines(source: SessionSource): ParsedBody {
  const skipped: SkippedLine[] = [];
  let body: unknown = null;
  for (let line = 0; line < source.lineCount; line++) {
    const value = parseJsonLine(source.line(line));
    if (value === null) continue;
    if (typeof value === "string") skipped.push({ line: line + 1, reason: value });
    else if (body !== null && !goesOn(body, value)) return { body, isLines: true, skipped, strange: line + 1 };
    else body = value;
  }
  return { body, isLines: true, skipped };
}

/** Whether a request begins with what an earlier one holds. */
function goesOn(before: unknown, after: unknown): boolean {
  const [known, list] = [recognizeRequest(before)?.list, recognizeRequest(after)?.list];
  if (known === undefined || list === undefined || known.length > list.length) return false;
  return known.every((message, at) => JSON.stringify(message) === JSON.stringify(list[at]));
}
