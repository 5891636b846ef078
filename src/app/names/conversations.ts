// Reads the branches of a store as conversations: `<conversation>/<fork>` names, titles, what was active before.
import { conversationOf } from "../../core/conversation-name.ts";
import { userError } from "../../core/errors.ts";
import type { BranchTip } from "../../store/conversation-store.ts";
import { readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";

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
 * The branch `@` names: JPG_CONVERSATION (a branch, a conversation or a unique prefix), else what the current folder has
 * checked out, else HEAD of the store; null when there is none yet, or HEAD is detached. Throws `unknown_id` for a variable
 * that names nothing here, `ambiguous_id`.
 */
export async function activeBranch(workspace: Workspace): Promise<string | null> {
  return (await readVariable(workspace)) ?? (await readStanding(workspace)).branch;
}

/** The branch that comes first where several would do: that of `@`, or of HEAD where the variable names nothing. */
export async function preferredBranch(workspace: Workspace): Promise<string | null> {
  const { branch } = await readStanding(workspace);
  return readVariable(workspace).then(
    (named) => named ?? branch,
    () => branch,
  );
}

/** Whether `@` is what the variable says, whatever is checked out. */
export function isVariableSet({ runtime }: Workspace): boolean {
  return !["", "@"].includes(runtime.env["JPG_CONVERSATION"] ?? "");
}

/** The branch that JPG_CONVERSATION names; null when it is not set. Throws `unknown_id`, `ambiguous_id`. */
async function readVariable(workspace: Workspace): Promise<string | null> {
  if (!isVariableSet(workspace)) return null;
  const word = workspace.runtime.env["JPG_CONVERSATION"] ?? "";
  const head = (await readStanding(workspace)).branch;
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
    return userError("unknown_id", `${says}, which is not a conversation in this store.`, { hints });
  const message = `${says}, which could mean ${candidates.length} things: ${candidates.slice(0, 10).join(", ")}.`;
  return userError("ambiguous_id", message, { hints, data: { candidates } });
}

/** The branch that was active here before, as `git switch -` reads it; null when there is none. */
export async function previousBranch(workspace: Workspace): Promise<string | null> {
  const { worktree } = await readStanding(workspace);
  return workspace.store.previousBranch(worktree ?? undefined);
}
