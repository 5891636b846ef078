// Stock git in the worktree of the store that one stands in, with the terminal handed over.
import { runGitInTerminal } from "../../store/native/git/git-process.ts";
import type { Workspace } from "./workspace.ts";

/** Runs git and gives its exit code. Throws `git_missing`. */
export async function runStoreGit(workspace: Workspace, args: readonly string[]): Promise<number> {
  const { worktrees, root } = workspace.store;
  const here = await worktrees?.at(workspace.runtime.cwd);
  const cwd = here === null || here === undefined ? root : workspace.runtime.cwd;
  return runGitInTerminal(args, { cwd, env: workspace.runtime.env });
}
