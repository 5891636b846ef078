// What the git program alone does beside an open store: whether it is there, what it shows at an address and in the project's
// configuration, and running it for the user.
import { parse } from "node:path";
import { JpgError } from "../../core/errors.ts";
import type { GitVersion } from "../../store/environment.ts";
import { readGitVersion, runGitInTerminal } from "../../store/git/git-process.ts";
import { readProjectRemotes } from "../../store/git/remote.ts";
import { listRemoteRefs } from "../../store/git/transfer.ts";
import type { ProjectRemote, RemoteRefs, TransferOptions } from "../../store/sharing.ts";
import type { Runtime } from "./runtime.ts";
import type { Workspace } from "./workspace.ts";

/** The version of the git that is installed; null where none is. */
export async function findGit({ cwd, env }: Runtime): Promise<GitVersion | null> {
  try {
    return await readGitVersion({ cwd, env });
  } catch (error) {
    if (error instanceof JpgError && error.code === "git_missing") return null;
    throw error;
  }
}

/** Asks an address what it has, from no repository: the settings of one around the current folder are not a store's. Throws `remote_*`. */
export function listRefsAt({ cwd, env }: Runtime, url: string, options: TransferOptions): Promise<RemoteRefs> {
  return listRemoteRefs({ gitDir: null, cwd: parse(cwd).root, env }, url, options);
}

/** The remotes of the project around, in the order of its configuration; none outside a project. Throws `git_missing`. */
export async function projectRemotes({ location, runtime }: Workspace): Promise<readonly ProjectRemote[]> {
  return location.project === undefined ? [] : readProjectRemotes(location.project, runtime.env);
}

/**
 * Runs stock git in the worktree of the store that one stands in, else in the store's own, with the terminal handed over. Gives its
 * exit code. Throws `git_missing`.
 */
export async function runStoreGit({ store, runtime }: Workspace, args: readonly string[]): Promise<number> {
  const { cwd, env } = runtime;
  // So that git names in the store whom it names in the project.
  await store.identity();
  const isHere = ((await store.worktrees?.at(cwd)) ?? null) !== null;
  return runGitInTerminal(args, { cwd: isHere ? cwd : store.root, env });
}
