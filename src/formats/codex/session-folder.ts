// The directory that a Codex session was begun in, told from the beginning of its file: its description is the first line, which may
// be longer than what is looked at.
import type { SessionDirectory } from "../agent-format.ts";
import { parseJsonLine, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";

/** The first directory that a text of JSON names; in texts within it the quotes are escaped. */
const DIRECTORY = /"cwd"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** Gives the first directory that the first line names. */
export function codexDirectory(beginning: SessionSource): SessionDirectory | null {
  const quoted = beginning.lineCount === 0 ? undefined : DIRECTORY.exec(beginning.line(0))?.[1];
  const named = quoted === undefined ? null : parseJsonLine(`{"cwd":${quoted}}`);
  const path = named === null || typeof named === "string" ? undefined : stringOf(named, "cwd");
  return path === undefined || path === "" ? null : { path };
}
