// Makes a store without the git program: the files that `git init` would make, with jpg's settings, hooks and excludes, so that
// git accepts it as any other store. Running it again adds what is missing.
import { dirname, join } from "node:path";
import { userError } from "../../core/errors.ts";
import { readIdentityFile, readUserSetting } from "../config-file.ts";
import { makeFolders, makeOwnFolder, PRIVATE, readFileIfExists, replaceFile } from "../files.ts";
import { type CreateStoreOptions, makeFolder, storeSettings, writeHooks } from "../git/create.ts";
import { isConversationTree } from "../git/locate.ts";
import { formatConfig } from "../git/porcelain.ts";
import { isStoreConfig } from "../git/refs.ts";
import { findOwnRepository, findProjectPlace } from "../git/repository.ts";
import { excludeViews, SPARSE_PATTERNS, showRecordsAsText, writeInfo } from "../git/worktrees.ts";
import { withLock } from "../locks.ts";
import { fileSystemSettings } from "../platform.ts";
import { FALLBACK_IDENTITY } from "../store.ts";

/** A git that knows all settings: older ones ignore those that they do not know. */
const ANY_GIT = [2, 32, 0] as const;
const FOLDERS = ["objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"];

/** Creates or completes the store at `root`. Throws `not_a_store` when another kind of repository is there, `store_not_writable`. */
export async function createStoreWithoutGit(root: string, options: CreateStoreOptions): Promise<void> {
  const { env } = options;
  await makeFolder(async () => makeFolders(root), root);
  const found = await findOwnRepository(root, env);
  const gitDir = found?.commonDir ?? join(root, ".git");
  if (found === null) await makeFolder(() => makeOwnFolder(gitDir), gitDir);
  await withLock(join(gitDir, "jpg-create.lock"), async () => {
    const config = (await readFileIfExists(join(gitDir, "config"))) ?? "";
    if (found !== null && !isStoreConfig(config)) {
      // A stock clone stays as it is: a jpg with git adopts it.
      if (await isConversationTree({ gitDir, cwd: root, env }, { git: false })) return;
      throw notAStore(root);
    }
    const hooksDir = join(gitDir, "hooks");
    for (const folder of FOLDERS) await makeOwnFolder(join(gitDir, folder));
    await writeHooks(hooksDir, options);
    await excludeViews(gitDir);
    await showRecordsAsText(gitDir);
    await writeInfo(gitDir, "sparse-checkout", SPARSE_PATTERNS);
    if (isStoreConfig(config)) return;
    await replaceFile(join(gitDir, "HEAD"), "ref: refs/heads/main\n");
    // Last: until it is there, others see no store.
    await replaceFile(join(gitDir, "config"), formatConfig(await settingsOf(gitDir, options)));
  });
}

async function settingsOf(
  gitDir: string,
  { env, cwd }: Pick<CreateStoreOptions, "env" | "cwd">,
): Promise<ReadonlyMap<string, string>> {
  const project = await findProjectPlace({ gitDir, root: dirname(gitDir) }, cwd);
  const identity = await readIdentityFile(gitDir, env, { role: "committer", project });
  const sharing = await readUserSetting(gitDir, env, "core.sharedrepository");
  return new Map([
    ["core.repositoryformatversion", "0"],
    ...fileSystemSettings(process.platform),
    ["core.bare", "false"],
    ["core.sharedrepository", sharing ?? PRIVATE],
    ...(identity === FALLBACK_IDENTITY
      ? ([
          ["user.name", identity.name],
          ["user.email", identity.email],
          ["jpg.fallbackidentity", "true"],
        ] as const)
      : []),
    ...storeSettings(join(gitDir, "hooks"), { version: ANY_GIT, withHooks: true }),
  ]);
}

function notAStore(root: string): Error {
  return userError("not_a_store", `${root} is a git repository with other content: jpg keeps conversations apart.`, {
    hints: ["Name an empty folder: jpg init DIR", "Or run `jpg init` without DIR inside the project."],
  });
}
