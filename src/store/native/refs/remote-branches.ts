// Branches of remotes: what a clone or a fetch brought, and making one a branch of one's own.

import { type Repository, runCommand } from "../git/git-command.ts";
import { configureBranches } from "./branch-config.ts";

/** A branch of a remote as it was last fetched. */
export interface RemoteBranch {
  readonly remote: string;
  /** Its name there. */
  readonly name: string;
}

/** Lists the branches of all remotes, by remote and name. */
export async function listRemoteBranches(repository: Repository): Promise<readonly RemoteBranch[]> {
  const args = ["for-each-ref", "--format=%(refname:lstrip=2) %(symref)", "refs/remotes/"];
  const lines = (await runCommand(repository, { args })).toString().split("\n");
  return lines.flatMap((line) => {
    const [, remote, name] = /^([^/ ]+)\/(\S+) $/.exec(line) ?? [];
    return remote === undefined || name === undefined ? [] : [{ remote, name }];
  });
}

/** Makes a branch of the same name that follows the remote's. Throws `git_failed` when there is one. */
export async function trackBranch(repository: Repository, { remote, name }: RemoteBranch): Promise<void> {
  await runCommand(repository, { args: ["branch", "--quiet", "--track", name, `refs/remotes/${remote}/${name}`] });
  await configureBranches(repository, [name]);
}
