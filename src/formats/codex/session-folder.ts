// Whether a session is one of a directory, told from the beginning of its file: its description is the first line, which may
// be longer than what is looked at.
import type { SessionSource } from "../session-source.ts";

/** The first directory that a text of JSON names; in texts within it the quotes are escaped. */
const DIRECTORY = /"cwd"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** Gives the test for a directory, absolute. */
export function isSessionOf(directory: string): (beginning: SessionSource) => boolean {
  return (beginning) => beginning.lineCount > 0 && directoryOf(beginning.line(0)) === directory;
}

function directoryOf(line: string): string | undefined {
  const quoted = DIRECTORY.exec(line)?.[1];
  if (quoted === undefined) return undefined;
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined; // no text of JSON: the session of no directory
  }
}
