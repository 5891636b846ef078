// Makes a store: an ordinary git repository with jpg's settings, hooks and excludes. Running it again completes what is
// missing and changes nothing else.
import { join, parse } from "node:path";
import { asSentence, repositoryError, userError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { PRIVATE } from "../files/file-sharing.ts";
import { makeFolders } from "../files/make-folders.ts";
import { withLock } from "../files/process-lock.ts";
import { readFileIfThere } from "../files/read-file.ts";
import { makeOwnFolder } from "../files/replace-file.ts";
import type { GitVersion } from "../git-version.ts";
import type { HookPrograms } from "../upkeep.ts";
import { isConversationTree } from "./conversation-tree.ts";
import { type Repository, tryCommand } from "./git/git-command.ts";
import { gitError } from "./git/git-error.ts";
import { requireGitVersion } from "./git/git-version.ts";
import { ensureIdentity } from "./identity.ts";
import { runPorcelain } from "./porcelain/run-porcelain.ts";
import { isStoreConfig } from "./refs/branch-config.ts";
import { excludeViews } from "./refs/exclude-views.ts";
import { showRecordsAsText, writeInfo } from "./refs/info-files.ts";
import { findOwnRepository } from "./refs/ownership.ts";
import { findRepositoryDir } from "./refs/repository-dir.ts";
import { applySettings, isAdoptedClone, readLocalSettings, settingsToHave } from "./store-config.ts";
import { writeHooks } from "./store-hooks.ts";
import { SPARSE_PATTERNS } from "./worktrees/worktrees.ts";

/** What a store is made with; the programs are what its hooks call. */
export interface CreateStoreOptions extends HookPrograms {
  readonly env: Environment;
  /** Where jpg was started; absent = not in a project that counts. */
  readonly cwd?: string;
}

/** Creates or completes the store at `root`; any number of processes may do so at once. Throws `not_a_store` when a repository of something else is there, `store_not_writable`. */
export async function createStore(root: string, options: CreateStoreOptions): Promise<void> {
  const { env } = options;
  // Before anything is made: without a git that will do, nothing is left behind. Its version is the same in every folder.
  const version = await requireGitVersion({ cwd: parse(root).root, env });
  await makeFolder(async () => makeFolders(root), root);
  const found = await findOwnRepository(root, env);
  if (found !== null) await refuseForeign({ gitDir: found.commonDir, cwd: root, env });
  const gitDir = found?.commonDir ?? join(root, ".git");
  if (found === null) await makeFolder(() => makeOwnFolder(gitDir), gitDir);
  await withLock(join(gitDir, "jpg-create.lock"), () => completeStore(root, options, version));
}

/** Adds what is missing. `jpg.format` comes last: until then others see no store, and wait for the lock. */
async function completeStore(root: string, options: CreateStoreOptions, version: GitVersion): Promise<void> {
  const { env } = options;
  if ((await findRepositoryDir(root)) === null) await initRepository(root, env);
  const found = await findRepositoryDir(root);
  if (found === null) throw repositoryError("store_damaged", `git init made no repository at ${root}.`);
  const repository: Repository = { gitDir: found.commonDir, cwd: root, env };
  const hooksDir = join(repository.gitDir, "hooks");
  await writeHooks(hooksDir, options);
  await excludeViews(repository.gitDir);
  await showRecordsAsText(repository.gitDir);
  const present = await readLocalSettings(repository);
  if (!isAdoptedClone(present)) await writeInfo(repository.gitDir, "sparse-checkout", SPARSE_PATTERNS);
  await ensureIdentity(root, env, options.cwd);
  const sharing = await readUsersSharing(repository);
  const settings = settingsToHave(present, { hooksDir, version, unmarked: "store" });
  await applySettings(repository, new Map([["core.sharedrepository", sharing], ...settings]));
}

/** Makes a folder for a store. Throws `disk_full`, `store_not_writable`. */
export async function makeFolder(make: () => Promise<unknown>, path: string): Promise<void> {
  try {
    await make();
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    const kind = code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "store_not_writable";
    const inTheWay = code === "EEXIST" || code === "ENOTDIR";
    throw repositoryError(kind, `The store ${path} cannot be made: ${asSentence(message)}`, {
      hints: [
        inTheWay
          ? "A file stands in the way: name another place with --store DIR."
          : "Make its folder writable for you, or name another place with --store DIR.",
      ],
      cause,
    });
  }
}

/** SHA-1 and files whatever the user's defaults are: variables, because old gits refuse flags they do not know. */
async function initRepository(root: string, env: Environment): Promise<void> {
  const flags = ["--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"];
  const args = ["-c", "core.preferSymlinkRefs=false", "init", ...flags, "."];
  const extraEnv = { GIT_DEFAULT_HASH: "sha1", GIT_DEFAULT_REF_FORMAT: "files" };
  const { code, stderr } = await runPorcelain(args, { cwd: root, env, extraEnv });
  if (code !== 0) throw gitError({ args: ["init"], code, stderr, where: root });
}

/** A repository that is not jpg's may only become a store while it is empty, or when it holds conversations (a stock clone). */
async function refuseForeign(repository: Repository): Promise<void> {
  if (isStoreConfig((await readFileIfThere(join(repository.gitDir, "config"))) ?? "")) return;
  const { stdout } = await tryCommand(repository, { args: ["for-each-ref", "--count=1"] });
  if (stdout.length === 0 || (await isConversationTree(repository))) return;
  throw userError(
    "not_a_store",
    `${repository.cwd} is a git repository with other content: jpg keeps conversations apart.`,
    {
      hints: ["Name an empty folder: jpg init DIR", "Or run `jpg init` without DIR inside the project."],
    },
  );
}

/** What the store, else the user, says; unsaid, what stock git writes there is for the owner alone as what jpg writes is. */
async function readUsersSharing(repository: Repository): Promise<string> {
  const { code, stdout } = await tryCommand(repository, { args: ["config", "--get", "core.sharedRepository"] });
  return code === 0 ? stdout.toString().trim() || "true" : PRIVATE;
}
