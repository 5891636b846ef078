// A git dir that names nothing but what is sent: the objects are the store's own, its branches are the commits that were looked
// at. So one pattern sends exactly these, whatever came later; git compares many commit ids with every ref of the store, which
// takes longer the more there are of both.
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../../core/errors.ts";
import type { BranchTip } from "../../conversation-store.ts";
import { makeDraftFolder } from "../../files/replace-file.ts";
import type { Repository } from "../git/git-command.ts";
import { markAsked, type Promisor } from "../git/promisors.ts";
import { readReach } from "../git/store-guard.ts";
import { formatConfig } from "../refs/append-config.ts";

/** Does something with a git dir whose branches are these tips, and removes it. */
export async function withPushFolder<T>(
  repository: Repository,
  tips: readonly BranchTip[],
  act: (folder: Repository) => Promise<T>,
): Promise<T> {
  const gitDir = await makeDraftFolder(repository.gitDir);
  try {
    await mkdir(join(gitDir, "refs"));
    await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
    // Nothing is pushed before all of them are asked, so this folder may ask, too.
    const [promisor] = readReach(repository).promisors;
    if (promisor !== undefined) await markAsked(gitDir, promisor);
    await writeFile(join(gitDir, "config"), formatConfig(settingsOf(promisor)));
    const refs = tips.map(({ name, commit }) => `${commit} refs/heads/${name}\n`);
    await writeFile(join(gitDir, "packed-refs"), `# pack-refs with: peeled fully-peeled \n${refs.join("")}`);
    await copyShallow(repository.gitDir, gitDir);
    return await act({ ...repository, gitDir });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

/** Where the objects of a push folder are: the environment of whoever works in it. */
export function objectsOf({ gitDir }: Repository): { readonly GIT_OBJECT_DIRECTORY: string } {
  return { GIT_OBJECT_DIRECTORY: join(gitDir, "objects") };
}

/** Of a partial clone also where its other objects are. */
function settingsOf(promisor: Promisor | undefined): ReadonlyMap<string, string> {
  return new Map([
    ["core.repositoryformatversion", promisor === undefined ? "0" : "1"],
    ["core.bare", "true"],
    ...(promisor === undefined
      ? []
      : ([
          [`remote.${promisor.name}.url`, promisor.url ?? ""],
          [`remote.${promisor.name}.promisor`, "true"],
          [`remote.${promisor.name}.partialclonefilter`, "blob:none"],
        ] as const)),
  ]);
}

/** Where a shallow clone's history ends. */
async function copyShallow(from: string, to: string): Promise<void> {
  try {
    await cp(join(from, "shallow"), join(to, "shallow"));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
