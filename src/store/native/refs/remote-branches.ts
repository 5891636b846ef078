// Branches of remotes: what a clone or a fetch brought, and making one a branch of one's own.
import type { RemoteBranch, Remotes } from "../../sharing.ts";
import { type Repository, runCommand } from "../git/git-command.ts";
import { configureBranches } from "./branch-config.ts";

/** The branches of a repository's remotes. */
export function createRemotes(repository: Repository): Remotes {
  return {
    list: () => listRemoteBranches(repository),
    track: (branch) => trackBranch(repository, branch),
  };
}

async function listRemoteBranches(repository: Repository): Promise<readonly RemoteBranch[]> {
  const args = ["for-each-ref", "--format=%(refname:lstrip=2) %(symref)", "refs/remotes/"];
  const lines = (await runCommand(repository, { args })).toString().split("\n");
  return lines.flatMap((line) => {
    const [, remote, name] = /^([^/ ]+)\/(\S+) $/.exec(line) ?? [];
    return remote === undefined || name === undefined ? [] : [{ remote, name }];
  });
}

async function trackBranch(repository: Repository, { remote, name }: RemoteBranch): Promise<void> {
  await runCommand(repository, { args: ["branch", "--quiet", "--track", name, `refs/remotes/${remote}/${name}`] });
  await configureBranches(repository, [name]);
}
