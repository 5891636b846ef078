// Bundles: some branches with all that they reach, as one file that git reads. The commits need no name here.
import { formatBundleHeader } from "../../../core/bundle-header.ts";
import type { BranchTip } from "../../conversation-store.ts";
import { type Repository, runCommand } from "../git/git-command.ts";

/** Packs branches; each commit is here, under whatever name. */
export async function packBundle(repository: Repository, branches: readonly BranchTip[]): Promise<Uint8Array> {
  const args = ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"];
  const input = branches.map(({ commit }) => `${commit}\n`).join("");
  const pack = await runCommand(repository, { args, input });
  return Buffer.concat([Buffer.from(formatBundleHeader(branches)), pack]);
}

/** Forgets what was fetched under the name of a remote; a remote of that name stays. */
export async function forgetTracked(repository: Repository, name: string): Promise<void> {
  const prefix = `refs/remotes/${name}/`;
  const refs = (await runCommand(repository, { args: ["for-each-ref", "--format=%(refname)", prefix] })).toString();
  const input = refs
    .split("\n")
    .filter((ref) => ref !== "")
    .map((ref) => `delete ${ref}\0\0`)
    .join("");
  if (input !== "") await runCommand(repository, { args: ["update-ref", "-z", "--stdin"], input });
}
