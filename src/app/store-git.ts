// Stock git in the store's worktree, with the terminal handed over.
import { runGitInTerminal } from "../store/git-process.ts";
import type { Workspace } from "./workspace.ts";

/** Runs git and gives its exit code. Throws `git_missing`. */
export async function runStoreGit(workspace: Workspace, args: readonly string[]): Promise<number> {
  return runGitInTerminal(args, { cwd: workspace.store.root, env: workspace.runtime.env });
}
