// The lines of a session, parsed. A file of usual size is parsed once and kept until the session is let go; of a huge one,
// which would not fit in memory, a line is parsed each time it is asked for.
import type { RawLine } from "./json-line.ts";
import type { SessionSource } from "./session-source.ts";

/** The lines by number, 0-based, as the format's parser gives them. */
export interface ParsedLines {
  at(line: number): RawLine | string | null;
}

/** Largest file whose lines are kept, bytes: parsed they take about three times as much. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Creates the lines of a file from a line on; nothing is parsed before it is asked for. */
export function createParsedLines(
  source: SessionSource,
  parse: (text: string) => RawLine | string | null,
  from = 0,
): ParsedLines {
  if (source.byteLength - source.lineStart(from) > KEPT_BYTES) return { at: (line) => parse(source.line(line)) };
  const kept: (RawLine | string | null | undefined)[] = [];
  return {
    at(line) {
      let parsed = kept[line];
      if (parsed === undefined) {
        parsed = parse(source.line(line));
        kept[line] = parsed;
      }
      return parsed;
    },
  };
}
