// What only the git program does, apart from the store: its version, refs at an address, the project's remotes, and running it for
// the user.
import { parse } from "node:path";
import { JpgError } from "../../core/errors.ts";
import type { GitVersion } from "../../store/environment.ts";
import { readGitVersion, runGitInTerminal } from "../../store/git/git-process.ts";
import { readProjectRemotes } from "../../store/git/remote.ts";
import { listRemoteRefs } from "../../store/git/transfer.ts";
import type { ProjectRemote, RemoteRefs, TransferOptions } from "../../store/sharing.ts";
import type { Runtime } from "./runtime.ts";
import type { Workspace } from "./workspace.ts";

/** Returns the version of the installed git; null if there is none. */
export async function findGit({ cwd, env }: Runtime): Promise<GitVersion | null> {
  try {
    return await readGitVersion({ cwd, env });
  } catch (error) {
    if (error instanceof JpgError && error.code === "git_missing") return null;
    throw error;
  }
}

/**
 * Lists the refs at an address. Runs outside any repository, because the settings of one around the current folder are not the
 * store's. Throws `remote_*`.
 */
export function listRefsAt({ cwd, env }: Runtime, url: string, options: TransferOptions): Promise<RemoteRefs> {
  return listRemoteRefs({ gitDir: null, cwd: parse(cwd).root, env }, url, options);
}

/** Lists the project's remotes in the order of its configuration; empty outside a project. Throws `git_missing`. */
export async function projectRemotes({ location, runtime }: Workspace): Promise<readonly ProjectRemote[]> {
  return location.project === undefined ? [] : readProjectRemotes(location.project, runtime.env);
}

/**
 * Runs stock git on the terminal, in the store's worktree around the current folder or else in the store's main one. Returns its
 * exit code. Throws `git_missing`.
 */
export async function runStoreGit({ store, runtime }: Workspace, args: readonly string[]): Promise<number> {
  const { cwd, env } = runtime;
  // Makes git use the same author in the store as in the project.
  await store.identity();
  const isHere = ((await store.worktrees?.at(cwd)) ?? null) !== null;
  return runGitInTerminal(args, { cwd: isHere ? cwd : store.root, env });
}
