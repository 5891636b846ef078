// Files that jpg keeps in a worktree's git dir while what stands in it and what is checked out may differ: the lock of whoever
// changes that, the record of a step that is being taken, and the mark of a worktree that is behind. Its branch, or its HEAD,
// was then moved by an engine that does not write git's index: the mark names the commit that index and files stand at, and
// whoever has git brings them along from there.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readOwnText } from "./read-file.ts";
import { createFile } from "./replace-file.ts";

/** The lock of the worktree. */
export const WORKTREE_LOCK = "jpg-advance.lock";
/** The step that is being taken. */
export const STEP_RECORD = "jpg-step.json";
const FILE = "jpg-behind";
/** In place of a commit: the index is empty. */
const NOTHING = "nothing";

/** Where index and files of a worktree stand. */
export interface BehindMark {
  /** Null = at nothing yet. */
  readonly at: string | null;
}

/** Reads the mark in a worktree's git dir; null when the worktree is not behind. */
export function readBehindMark(gitDir: string): BehindMark | null {
  let text: string;
  try {
    text = readOwnText(join(gitDir, FILE)).trim();
  } catch {
    return null; // not there
  }
  return { at: /^[0-9a-f]{40}$/.test(text) ? text : null };
}

/** Marks a worktree as behind; one that is marked stays as it is. Says whether it was marked now. */
export function markBehind(gitDir: string, at: string | null): Promise<boolean> {
  return createFile(join(gitDir, FILE), `${at ?? NOTHING}\n`);
}

/** Takes the mark away. */
export async function clearBehindMark(gitDir: string): Promise<void> {
  await rm(join(gitDir, FILE), { force: true });
}
