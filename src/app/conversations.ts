// Reads the branches of a store as conversations: `<conversation>/<fork>` names, titles, what was active before.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { userError } from "../core/errors.ts";
import type { BranchTip } from "../store/conversation-store.ts";
import type { Workspace } from "./workspace.ts";

/** The conversation part of a branch name: all before the last `/`. */
export function conversationOf(branch: string): string {
  const slash = branch.lastIndexOf("/");
  return slash < 0 ? branch : branch.slice(0, slash);
}

/** The fork part of a branch name, e.g. `main`. */
export function forkOf(branch: string): string {
  return branch.slice(branch.lastIndexOf("/") + 1);
}

/** A conversation's branch: the active one when it is of that family, else `main`, else the first. */
export function mainBranch(
  branches: readonly BranchTip[],
  conversation: string,
  active: string | null,
): BranchTip | null {
  const family = branches.filter((branch) => conversationOf(branch.name) === conversation);
  return (
    family.find((branch) => branch.name === active) ??
    family.find((branch) => branch.name === `${conversation}/main`) ??
    family[0] ??
    null
  );
}

/**
 * The branch `@` names: JPG_CONVERSATION (a branch, a conversation or a unique prefix), else HEAD of the store; null when
 * there is none yet. Throws `unknown_id` for a variable that names nothing here, `ambiguous_id`.
 */
export async function activeBranch(workspace: Workspace): Promise<string | null> {
  const head = await workspace.store.readActiveBranch();
  const word = workspace.runtime.env["JPG_CONVERSATION"];
  if (word === undefined || word === "" || word === "@") return head;
  const branches = await workspace.store.listBranches();
  const exact = branches.find((branch) => branch.name === word) ?? mainBranch(branches, word, head);
  if (exact !== null) return exact.name;
  const names = branches.map((branch) => (word.includes("/") ? branch.name : conversationOf(branch.name)));
  const [only, ...more] = new Set(names.filter((name) => name.startsWith(word)));
  if (only === undefined || more.length > 0) throw wrongVariable(word, only === undefined ? [] : [only, ...more]);
  return mainBranch(branches, only, head)?.name ?? only;
}

function wrongVariable(word: string, candidates: readonly string[]): Error {
  const hints = ["`unset JPG_CONVERSATION` goes back to the store's active conversation; `jpg ls` lists all."];
  const says = `JPG_CONVERSATION is ${word}`;
  if (candidates.length === 0)
    return userError("unknown_id", `${says}, which is no conversation of this store.`, { hints });
  const message = `${says}, which could mean ${candidates.length} things: ${candidates.slice(0, 10).join(", ")}.`;
  return userError("ambiguous_id", message, { hints, data: { candidates } });
}

/** The branch that was active before, from HEAD's reflog (as `git switch -` reads it); null when there is none. */
export async function previousBranch(workspace: Workspace): Promise<string | null> {
  let reflog: string;
  try {
    reflog = await readFile(join(workspace.store.gitDir, "logs", "HEAD"), "utf8");
  } catch {
    return null; // no reflog yet: HEAD has never moved
  }
  const active = await workspace.store.readActiveBranch();
  const moves = [...reflog.matchAll(/\tcheckout: moving from (\S+) to \S+$/gm)].reverse();
  for (const move of moves) if (move[1] !== undefined && move[1] !== active) return move[1];
  return null;
}
