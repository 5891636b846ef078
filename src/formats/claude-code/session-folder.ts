// Where Claude Code keeps the sessions of a directory: in a folder with a name made of the path. Several paths make one name, so
// the lines of a session decide which of them it was begun in.
import type { Machine, SessionDirectory, SessionFolder } from "../agent-format.ts";
import { parseJsonLine, type RawLine, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { configFolder } from "./setup.ts";

/** A longer name is cut here and ends with a hash of the path, characters. Measured with 2.1.330. */
const LONGEST_NAME = 200;

/** The folder for the sessions of a directory. */
export function projectFolder(machine: Machine, directory: string): string {
  return machine.join(configFolder(machine), "projects", folderName(directory));
}

/** The directory's own folder, then those of all others: sessions below the directory are in some of them. */
export function claudeFolders(machine: Machine, directory: string): readonly SessionFolder[] {
  return [
    { path: projectFolder(machine, directory), isOwn: true },
    { path: machine.join(configFolder(machine), "projects"), levels: 1, isOwn: false },
  ];
}

/**
 * The directory that a session was begun in. Later lines name another after a `cd`, and earlier ones where the session was copied
 * or taken along, so the first one counts from which the folder has its name; else the first one. The agent looks only at the
 * folder, so users who rename a project rename its folder too, and the lines go on naming the old path.
 */
export function claudeDirectory(beginning: SessionSource, folder: string): SessionDirectory | null {
  let first: string | undefined;
  for (let line = 0; line < beginning.lineCount; line++) {
    const path = directoryIn(beginning.line(line));
    if (path === undefined) continue;
    if (folderName(path) === folder) return { path };
    first ??= path;
  }
  return first === undefined ? null : { path: first, wasMoved: true };
}

function folderName(directory: string): string {
  const name = directory.replace(/[^A-Za-z0-9]/g, "-");
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}-${hashOf(directory)}`;
}

/** As Java hashes a string, without its sign, to base 36. */
function hashOf(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}

/** Members of a line before its message, which may be longer than what is read of the file. */
const CUT_LINE = /^\{(?:"\w+":(?:"(?:[^"\\]|\\.)*"|[\w.-]+),)*"cwd":("(?:[^"\\]|\\.)*")/;

function directoryIn(text: string): string | undefined {
  if (!text.includes('"cwd"')) return undefined;
  const line = parseJsonLine(text);
  if (line !== null && typeof line !== "string") return cwdOf(line);
  const quoted = CUT_LINE.exec(text)?.[1];
  const cut = quoted === undefined ? null : parseJsonLine(`{"cwd":${quoted}}`);
  return cut === null || typeof cut === "string" ? undefined : cwdOf(cut);
}

function cwdOf(line: RawLine): string | undefined {
  const cwd = stringOf(line, "cwd") ?? "";
  return cwd === "" ? undefined : cwd;
}
