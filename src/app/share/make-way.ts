// Makes way for another's turns: what one's own branch holds becomes a fork `<fork>-<user>-<n>`, and whoever has the branch
// checked out is on that fork from then on; nothing in their folders changes.
import { branchName, conversationOf, forkOf, slugOf } from "../../core/conversation/name.ts";
import type { BranchTip } from "../../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Names what a branch holds as a fork of one's own; gives its name. An earlier try that was interrupted is gone on with. */
export async function makeWay(workspace: Workspace, own: BranchTip, taken: ReadonlySet<string>): Promise<string> {
  const { store } = workspace;
  const user = slugOf((await store.identity()).name);
  const stem = `${stemOf(forkOf(own.name), user)}-${user}`;
  const fork = await nameFork(workspace, own, { stem, taken });
  for (const worktree of (await store.worktrees?.list()) ?? [])
    if (worktree.branch === own.name) await store.useBranch(fork, worktree);
  return fork;
}

/** The first name of `<stem>-1`, `<stem>-2` … that is free here and on the remote, or has this very commit already. */
async function nameFork(
  { store }: Workspace,
  { name, commit }: BranchTip,
  { stem, taken }: { readonly stem: string; readonly taken: ReadonlySet<string> },
): Promise<string> {
  for (let count = 1; ; count++) {
    const fork = branchName(conversationOf(name), `${stem}-${count}`);
    if (fork === name) continue;
    const there = await store.readBranch(fork);
    if (there === commit) return fork;
    if (there !== null || taken.has(fork)) continue;
    if (await store.createBranch(fork, commit)) return fork;
    // Another pull was faster, with the same commit perhaps.
    if ((await store.readBranch(fork)) === commit) return fork;
  }
}

/** The fork that one of the user's own was made from: `main` of `main-ada-2`. */
function stemOf(fork: string, user: string): string {
  const stem = fork.replace(/-\d+$/, "");
  return stem !== fork && stem.endsWith(`-${user}`) ? stem.slice(0, -user.length - 1) : fork;
}
