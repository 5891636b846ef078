// An agent's settings file: read as a whole and replaced as a whole, only if it has not changed meanwhile. Never touches a link, a
// read-only file or bytes that are no text.
import { chmod, lstat, readFile, readlink, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, JpgError, reasonOf, userError } from "../../core/errors.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { userFileMode } from "../conversation/runtime.ts";

/** Bytes: larger settings are not touched. */
const LARGEST = 16 * 1024 * 1024;
/** The agent may write its settings at the same time. */
const ATTEMPTS = 5;

/** The new text of a file, null = delete it, undefined = no change. */
type NewText = string | null | undefined;

/**
 * Changes a file. `change` gets its text, null = there is none, and is called again if somebody else wrote meanwhile. Throws
 * `settings_is_link`, `settings_read_only`, `settings_unreadable`, `cannot_write`, and as `change` does; then nothing has changed.
 */
export async function changeSettings(path: string, change: (text: string | null) => NewText): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await readSettingsFile(path);
    const after = change(before);
    if (after === undefined || after === before) return;
    await refuseReadOnly(path);
    const isSame = (await readSettingsFile(path)) === before;
    if (isSame) return after === null ? await rm(path, { force: true }) : await write(path, after);
    if (attempt === ATTEMPTS)
      throw userError("settings_change", `${path} keeps being changed by another program.`, {
        hints: ["End the agent and run the command again."],
      });
  }
}

/** Reads a file; null when there is none. Throws as `changeSettings` does. */
export async function readSettingsFile(path: string): Promise<string | null> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw unreadable(path, reasonOf(error), error);
  });
  if (found === null) return null;
  if (found.isSymbolicLink()) throw await linked(path);
  if (!found.isFile()) throw unreadable(path, "it is not a file");
  if (found.size > LARGEST) throw unreadable(path, `it is larger than ${LARGEST / 1024 / 1024} MiB`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (error) {
    throw unreadable(path, codeOf(error).startsWith("ERR_ENCODING") ? "it is not UTF-8" : reasonOf(error), error);
  }
}

/** Throws `settings_is_link` where a path is a link. */
export async function refuseLink(path: string): Promise<void> {
  if ((await lstat(path).catch(() => null))?.isSymbolicLink() === true) throw await linked(path);
}

/**
 * Throws `settings_read_only`. Checks the mode only: root could write anything, but the user did not want this file written.
 */
export async function refuseReadOnly(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || (found.mode & 0o222) !== 0) return;
  throw userError("settings_read_only", `${path} is read-only, so jpg does not change it.`, {
    hints: [`Allow writing it and run the command again: chmod u+w ${path}`],
  });
}

async function write(path: string, text: string): Promise<void> {
  try {
    makeFolders(dirname(path));
    const found = await lstat(path).catch(() => null);
    await replaceFile(path, text, { mode: 0o600 });
    await chmod(path, found === null ? userFileMode() : found.mode & 0o777);
  } catch (error) {
    if (error instanceof JpgError) throw error;
    throw userError("cannot_write", `${path} cannot be written: ${reasonOf(error)}.`, {
      hints: ["Give yourself access to its folder and run the command again."],
      cause: error,
    });
  }
}

async function linked(path: string): Promise<JpgError> {
  const target = await readlink(path).catch(() => "another place");
  return userError("settings_is_link", `${path} is a link to ${target}, and jpg does not write through links.`, {
    hints: ["Replace it with a file and run the command again, or edit the file that it points to by hand."],
  });
}

function unreadable(path: string, why: string, cause?: unknown): JpgError {
  return userError("settings_unreadable", `${path} cannot be changed: ${why}.`, {
    hints: ["Correct it and run the command again; nothing was written."],
    cause,
  });
}

// Changes a settings file as text. Characters are only ever inserted, so removing the same characters restores the file. Pure.

/** A settings file with insertions. */
export interface AddedText {
  readonly text: string;
  /** The inserted texts, in the order of the file; empty = everything was there. */
  readonly inserted: readonly string[];
}

/** Why a file was not changed; completes "FILE …". */
export interface NotAdded {
  readonly problem: string;
  /** Line of the problem, 1-based; absent = none in particular. */
  readonly line?: number;
}

/** The line, 1-based, that contains a character of a text. */
export function lineOfOffset(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** A text to insert, and its offset in characters. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

export function insertText(text: string, insertion: Insertion): string {
  return text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at);
}

/** Removes what was inserted; null if it is not there unchanged, or not equally often. */
export function cutInserted(text: string, inserted: readonly string[]): string | null {
  let left = text;
  // A later insertion may be inside an earlier one.
  for (const piece of [...inserted].reverse()) {
    const at = left.indexOf(piece);
    const again = left.indexOf(piece, at + 1);
    const isMine = inserted.filter((other) => other === piece).length > 1;
    if (at === -1 || (again !== -1 && !isMine)) return null;
    left = left.slice(0, at) + left.slice(at + piece.length);
  }
  return left;
}
