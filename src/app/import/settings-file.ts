// A file of an agent's settings on disk: read as a whole, replaced as a whole, and only while it is what was read. A link, a
// file that may not be written and bytes that are no text are left alone.
import { chmod, lstat, readFile, readlink, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, JpgError, reasonOf, userError } from "../../core/errors.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { userFileMode } from "../conversation/runtime.ts";

/** Larger settings are left alone, bytes. */
const LARGEST = 16 * 1024 * 1024;
/** The agent may write its settings at the same time. */
const ATTEMPTS = 5;

/** What a change makes of a file: its new text, null = the file goes, undefined = it stays as it is. */
type NewText = string | null | undefined;

/**
 * Changes a file. `change` is told its text, null = there is none, and asked again where somebody else wrote meanwhile. Throws
 * `settings_is_link`, `settings_read_only`, `settings_unreadable`, `cannot_write`, and what `change` throws; then nothing changed.
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

/** By its mode alone: whoever may write everything did not mean to write this. */
async function refuseReadOnly(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || (found.mode & 0o222) !== 0) return;
  throw userError("settings_read_only", `${path} is read-only, and stays as it is.`, {
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

// A change of a settings file as text: what is put in is only ever added, so that taking the very same characters out again
// gives back what was there. Pure.

/** A settings file with something put in. */
export interface AddedText {
  readonly text: string;
  /** What was put in, in the order of the file; empty = everything was there. */
  readonly inserted: readonly string[];
}

/** Why a file is left as it is; completes "FILE …". */
export interface NotAdded {
  readonly problem: string;
  /** Where, 1-based; absent = nowhere in particular. */
  readonly line?: number;
}

/** The line, 1-based, in which a character of a text stands. */
export function lineOfOffset(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Something to put in, and where: an offset in characters. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Puts one thing in. */
export function insertText(text: string, insertion: Insertion): string {
  return text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at);
}

/** Takes what was put in out again; null where it does not stand there as it was, or not as often. */
export function cutInserted(text: string, inserted: readonly string[]): string | null {
  let left = text;
  // What was put in last may stand within what was put in before.
  for (const piece of [...inserted].reverse()) {
    const at = left.indexOf(piece);
    const again = left.indexOf(piece, at + 1);
    const isMine = inserted.filter((other) => other === piece).length > 1;
    if (at === -1 || (again !== -1 && !isMine)) return null;
    left = left.slice(0, at) + left.slice(at + piece.length);
  }
  return left;
}
