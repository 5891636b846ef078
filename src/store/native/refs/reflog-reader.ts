// What git remembers of where refs stood before (reflogs), read from its files.
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";

/** What stands in a message for the name of a branch that was removed for good. */
export const REMOVED = "(removed)";

/**
 * The branch that HEAD named before `active` did, as `git switch -` reads it; null when there is none. What has no slash in its
 * name is a commit, or the branch that a store begins with, and no conversation.
 */
export function previousBranchIn(reflog: string | null, active: string | null): string | null {
  const moves = [...(reflog ?? "").matchAll(/\tcheckout: moving from (\S+) to \S+$/gm)].reverse();
  for (const [, from = ""] of moves) if (from !== active && from !== REMOVED && from.includes("/")) return from;
  return null;
}

/** What a ref stood at before, newest first, each once. */
export function formerTipsIn(reflog: string | null): readonly string[] {
  const tips = [...(reflog ?? "").matchAll(/^([0-9a-f]{40}) /gm)].map(([, tip = ""]) => tip);
  return [...new Set(tips.reverse())];
}

/** The text of a ref's log below a git dir; null when it has none. */
export async function readReflog(gitDir: string, ref: string): Promise<string | null> {
  return await readFileIfThere(join(gitDir, "logs", ref));
}
