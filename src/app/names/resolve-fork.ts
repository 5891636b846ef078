// What a person calls a fork: in its conversation by its own name (`try-b`), else as any id.
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { preferredBranch } from "./conversations.ts";
import { resolveWhole, resolveWholeTree } from "./resolve-id.ts";
import { type Revision, resolveBranchRevision } from "./revision.ts";

/**
 * Resolves a fork as it stands; `near` = a branch of the conversation whose forks go by their own names, default the active one.
 * Throws as `resolveWhole` does.
 */
export async function resolveFork(
  workspace: Workspace,
  word: string | undefined,
  near?: string | null,
): Promise<BranchTree> {
  const found = await findRevision(workspace, word, near);
  const naming = near === undefined || near === null ? {} : { near };
  return resolveWhole(workspace, found !== null && isByName(found, word) ? found.branch : word, naming);
}

/** Resolves a fork, to read it, as it stands or as it stood: `try-b~2`, a commit, a detached HEAD. Throws as `resolveWholeTree` does. */
export async function resolveForkRevision(workspace: Workspace, word: string | undefined): Promise<BranchTree> {
  const found = await findRevision(workspace, word);
  return found === null
    ? resolveWholeTree(workspace, word)
    : loadBranchTree(workspace.store, found.branch, found.commit);
}

async function findRevision(
  workspace: Workspace,
  word: string | undefined,
  near?: string | null,
): Promise<Revision | null> {
  if (word === undefined || word === "@" || word === "-") return null;
  const branch = near ?? (await preferredBranch(workspace));
  const conversation = branch === null ? {} : { conversation: conversationOf(branch) };
  return resolveBranchRevision(workspace, word, { bareForks: true, ...conversation });
}

function isByName({ branch }: Revision, word: string | undefined): boolean {
  return word === branch || word === forkOf(branch);
}
