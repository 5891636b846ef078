// Whether commits of a store may be somewhere else: it has a remote, or something was pushed from it, by URL too, or handed over
// as a file. What others may have is never replaced.
import { join } from "node:path";
import { appendToOwnFile, readFileIfThere } from "../../files/read-file.ts";
import { ZERO_ID } from "../../object-ids.ts";
import { hasRemoteBranches } from "./ref-reader.ts";

/** Commit ids that were pushed or handed over, one a line; written before they leave. */
const RECORD = "jpg-pushed";

/** Records what leaves a store, before it does: the commits only, nothing of where they go. */
export async function recordPublished(gitDir: string, commits: readonly string[]): Promise<void> {
  const known = new Set(((await readFileIfThere(join(gitDir, RECORD))) ?? "").split("\n"));
  const added = [...new Set(commits)].filter((commit) => commit !== ZERO_ID && !known.has(commit));
  if (added.length === 0) return;
  appendToOwnFile(join(gitDir, RECORD), added.map((commit) => `${commit}\n`).join(""));
}

/** Whether a store has a remote, has branches of one, or pushed anything. */
export async function isPublished(gitDir: string): Promise<boolean> {
  if (((await readFileIfThere(join(gitDir, RECORD))) ?? "") !== "") return true;
  if (/^\s*\[\s*remote\s/im.test((await readFileIfThere(join(gitDir, "config"))) ?? "")) return true;
  return hasRemoteBranches(gitDir);
}
