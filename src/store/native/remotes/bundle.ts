// Bundles: some branches with all that they reach, as one file that git reads. The commits need no name here.
import { formatBundleHeader } from "../../../core/conversation/name.ts";
import type { BranchTip } from "../../conversation-store.ts";
import { commandError, formatArguments, placeOf, type Repository, runCommand } from "../git/git-command.ts";
import { openGit } from "../git/git-process.ts";

/** Packs branches, a piece after the other; each commit is here, under whatever name. */
export async function* packBundle(
  repository: Repository,
  branches: readonly BranchTip[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const args = ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"];
  const { child, ended } = openGit(formatArguments(repository, { args }), placeOf(repository));
  ended.catch(() => undefined); // it is waited for below, unless whoever reads stops before
  try {
    yield Buffer.from(formatBundleHeader(branches));
    child.stdin.end(branches.map(({ commit }) => `${commit}\n`).join(""));
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const result = await ended;
    if (result.code !== 0) throw await commandError(repository, { args }, result);
  } finally {
    child.kill();
  }
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
