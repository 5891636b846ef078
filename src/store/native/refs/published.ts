// Whether commits of a store may be somewhere else: it has a remote, or something was pushed from it, by URL too. What others
// may have is never replaced.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { hasRemoteBranches, readFileIfThere } from "./ref-reader.ts";

/** Commit ids that were pushed, one a line; written before git sends them. */
const RECORD = "jpg-pushed";

/** Records what git is about to push, as the lines that it gives a `pre-push` hook. Nothing of the address is kept. */
export async function recordPush(gitDir: string, lines: string): Promise<void> {
  const known = (await readFileIfThere(join(gitDir, RECORD))) ?? "";
  const pushed = [...lines.matchAll(/^\S+ ([0-9a-f]{40}) \S+ [0-9a-f]{40}$/gm)].map(([, commit = ""]) => commit);
  const added = [...new Set(pushed)].filter((commit) => !/^0+$/.test(commit) && !known.includes(commit));
  if (added.length === 0) return;
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const file = await open(join(gitDir, RECORD), O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    await file.appendFile(added.map((commit) => `${commit}\n`).join(""));
  } finally {
    await file.close();
  }
}

/** Whether a store has a remote, has branches of one, or pushed anything. */
export async function isPublished(gitDir: string): Promise<boolean> {
  if (((await readFileIfThere(join(gitDir, RECORD))) ?? "") !== "") return true;
  if (/^\s*\[\s*remote\s/im.test((await readFileIfThere(join(gitDir, "config"))) ?? "")) return true;
  return hasRemoteBranches(gitDir);
}
