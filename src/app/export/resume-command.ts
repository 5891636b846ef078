// The command line that goes on with a conversation in its agent, as a person types it.
import { shellWord } from "../../core/safe-text.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { resumableAgent } from "./resume.ts";

/**
 * Gives `jpg resume …` for a branch; with the store where the call named one. `isGrowing`: its agent still writes the
 * session, so that what is said until the command is typed is brought in first.
 */
export function resumeCommand(
  { location }: Pick<Workspace, "location">,
  tree: BranchTree,
  { isGrowing = false }: { readonly isGrowing?: boolean } = {},
): string {
  const store = location.kind === "flag" ? ["--store", location.root] : [];
  const format = (words: readonly string[]): string => [...words, ...store].map(shellWord).join(" ");
  const resume = format(["jpg", "resume", tree.branch, "--with", resumableAgent(tree)]);
  return isGrowing ? `${format(["jpg", "import", "--quiet"])} && ${resume}` : resume;
}
