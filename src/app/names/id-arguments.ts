// `fork [ID] [NAME]` and `checkout [ID] [DIR]`: one word may be either; it is an id when it names a conversation.
import { forkOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type Naming, resolveTree } from "./resolve-id.ts";

/** The conversation to fork and the name of the fork. A single word that a fork here is called is a name, which is taken. */
export async function resolveForkArguments(
  workspace: Workspace,
  args: readonly string[],
): Promise<{ readonly tree: BranchTree; readonly name?: string }> {
  const { tree, rest } = await resolveFirst(workspace, args, {
    changes: true,
    aboutTurn: (turn) => `To fork with the turns up to that one: \`jpg fork --until ${turn}\``,
  });
  const [only] = args;
  if (rest === undefined && only === forkOf(tree.branch)) return { tree: await resolveTree(workspace), name: only };
  return rest === undefined ? { tree } : { tree, name: rest };
}

/** What to check out, and the directory that was named. */
export async function resolveCheckoutArguments(
  workspace: Workspace,
  args: readonly string[],
): Promise<{ readonly tree: BranchTree; readonly directory?: string }> {
  const { tree, rest } = await resolveFirst(workspace, args, {});
  return rest === undefined ? { tree } : { tree, directory: rest };
}

/** Reads a first word as an id; a single word that names nothing is the second argument, of the active conversation. */
async function resolveFirst(
  workspace: Workspace,
  args: readonly string[],
  naming: Naming,
): Promise<{ readonly tree: BranchTree; readonly rest?: string }> {
  const [first, second] = args;
  if (second !== undefined) return { tree: await resolveTree(workspace, first, naming), rest: second };
  if (first === undefined) return { tree: await resolveTree(workspace) };
  try {
    return { tree: await resolveTree(workspace, first, naming) };
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "unknown_id") throw error;
    return { tree: await resolveTree(workspace), rest: first };
  }
}
