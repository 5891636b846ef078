// The health of a store apart from its content: what every command repairs when it opens a store, and what `jpg doctor` checks
// and `--fix` repairs.
import { existsSync, realpathSync } from "node:fs";
import { access, constants, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { JpgError } from "../../core/errors.ts";
import { readSetting } from "../config-file.ts";
import type { Environment, GitVersion } from "../environment.ts";
import { readFileIfExists } from "../files.ts";
import { isAbandoned, listLeftovers, listUnfinishedObjects } from "../locks.ts";
import type { HookPrograms, Mended, StoreHealth, Upkeep, Worktree } from "../store.ts";
import {
  applySettings,
  cloneSettings,
  formatHook,
  formatTextconv,
  HOOK_NAMES,
  hasForeignHooks,
  isJpgHook,
  placeSettings,
  programsOf,
  readLocalSettings,
  settingsToHave,
  textconvFolder,
  textconvPath,
  writeHooks,
} from "./create.ts";
import { runGit } from "./git-process.ts";
import { type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { isStoreConfig } from "./refs.ts";
import { readProjectRemotes } from "./remote.ts";
import { findRepositoryDir, isProjectDir, listWorktrees, projectOfStore, worktreesFolder } from "./repository.ts";
import { excludeViews, repairWorktrees, showRecordsAsText } from "./worktrees.ts";

// Keeps a store's references to its place right: its hooks and settings name the store, node and jpg by absolute path. They are
// dead after a project was moved or copied, or jpg was installed elsewhere; a stock clone has none. Keeps the user's own hooks.
// A check reads two small files at each command and starts git only when something is wrong.

/** Repairs the store whose worktree is `root`; null when nothing was wrong, or it cannot be repaired. */
export async function mendStore(
  root: string,
  { env, ...programs }: HookPrograms & { readonly env: Environment },
): Promise<Mended | null> {
  const found = await findRepositoryDir(root);
  if (found === null || found.isBare || found.gitDir !== found.commonDir) return null;
  const repository: Repository = { gitDir: found.commonDir, cwd: root, env };
  const fault = await findFault(repository.gitDir, programs);
  if (fault === null) return null;
  try {
    return fault === "clone"
      ? await adoptClone(repository, programs)
      : await mendPlace(repository, { programs, kind: fault });
  } catch (error) {
    // Another program repairs at the same time, or the store is read-only: the next command tries again.
    if (error instanceof JpgError || (error instanceof Error && "syscall" in error)) return null;
    throw error;
  }
}

type Fault = Mended["kind"] | "outdated";

/** Returns what is wrong, from the files alone. */
async function findFault(gitDir: string, programs: HookPrograms): Promise<Fault | null> {
  const config = (await readFileIfExists(join(gitDir, "config"))) ?? "";
  if (!isStoreConfig(config)) return "clone";
  const hooksDir = join(gitDir, "hooks");
  const folder = textconvFolderIn(config);
  if (folder === null) return "outdated";
  if (!isSame(folder, hooksDir)) return "moved";
  const hook = await readFileIfExists(join(hooksDir, "pre-push"));
  if (hook === null) return "outdated";
  const called = programsOf(hook);
  // An older jpg wrote it.
  if (called !== null && isJpgHook(hook) && hook !== formatHook("pre-push", called)) return "outdated";
  return called === null || programsExist(called) || !programsExist(programs) ? null : "programs";
}

async function mendPlace(
  repository: Repository,
  { programs, kind }: { readonly programs: HookPrograms; readonly kind: Exclude<Fault, "clone"> },
): Promise<Mended | null> {
  const hooksDir = join(repository.gitDir, "hooks");
  const foreign = await writeHooks(hooksDir, programs);
  await showRecordsAsText(repository.gitDir);
  // Before the settings, which record where the store was.
  const worktrees = kind === "moved" ? await joinWorktrees(repository) : 0;
  const present = await readLocalSettings(repository);
  await applySettings(repository, placeSettings(hooksDir, { withHooks: !hasForeignHooks(present, hooksDir) }));
  // A newer jpg has more hooks: nothing was wrong.
  return kind === "outdated" ? null : { kind, foreign, worktrees };
}

async function joinWorktrees({ gitDir, cwd }: Repository): Promise<number> {
  const oldHooksDir = textconvFolderIn((await readFileIfExists(join(gitDir, "config"))) ?? "");
  if (oldHooksDir === null) return 0;
  const worktreesDir = await worktreesFolder(cwd, gitDir);
  return repairWorktrees({ gitDir, oldGitDir: dirname(oldHooksDir), worktreesDir });
}

/** Gives a stock clone what jpg needs, and keeps the rest of its settings. */
async function adoptClone(repository: Repository, programs: HookPrograms): Promise<Mended> {
  const hooksDir = join(repository.gitDir, "hooks");
  const { stdout } = await runGit(["config", "--get", "core.hooksPath"], repository);
  const isForeign = stdout.toString().trim() !== "";
  const left = await writeHooks(hooksDir, programs);
  await excludeViews(repository.gitDir);
  await showRecordsAsText(repository.gitDir);
  await applySettings(repository, cloneSettings(hooksDir, { withHooks: !isForeign }));
  const isShallow = existsSync(join(repository.gitDir, "shallow"));
  return { kind: "clone", foreign: isForeign ? ["core.hooksPath"] : left, worktrees: 0, isShallow };
}

/** The folder of jpg's textconv program according to a config file; null when it names none. */
function textconvFolderIn(config: string): string | null {
  const value = readSetting(config, "diff.jpg.textconv");
  return value === undefined ? null : textconvFolder(value);
}

function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false; // one of them does not exist
  }
}

// What can be wrong with a store apart from its content: settings, hooks, locks, leftovers, worktrees, loose objects. Changes
// nothing.

/** Checks a store. `version` = git's. */
async function readStoreHealth(
  repository: Repository,
  { programs, version }: { readonly programs: HookPrograms; readonly version: GitVersion },
): Promise<StoreHealth> {
  const { gitDir } = repository;
  const hooksDir = join(gitDir, "hooks");
  const worktrees = await listWorktrees(repository, repository.cwd);
  const [config, locks, leftovers, looseObjects, hooks, goneWorktrees] = await Promise.all([
    readLocalSettings(repository),
    listAbandonedLocks(repository),
    listAllLeftovers(repository, worktrees),
    countLoose(repository),
    readPrograms(hooksDir, programs),
    listGoneWorktrees(gitDir),
  ]);
  const expected = [...settingsToHave(config, { hooksDir, version, unmarked: "clone" })];
  return {
    unwritable: await listUnwritable([gitDir, join(gitDir, "objects"), join(gitDir, "refs")]),
    settings: expected.filter(([key, value]) => config.get(key) !== value).map(([key]) => key),
    ...hooks,
    foreign: hasForeignHooks(config, hooksDir) ? ["core.hooksPath"] : hooks.foreign,
    goneWorktrees,
    locks,
    leftovers,
    looseObjects,
    isActive: await hasHead(repository),
  };
}

async function listAllLeftovers(repository: Repository, worktrees: readonly Worktree[]): Promise<readonly string[]> {
  return [...(await listLeftovers(repository, worktrees)), ...(await listUnfinishedObjects(repository))];
}

/** Longer than any git command of a store holds a lock, milliseconds. */
const LONG_MS = 60 * 60_000;
/** The folder that is not searched for locks: objects are many and have none. */
const OBJECTS = "objects";

async function listAbandonedLocks(repository: Repository): Promise<readonly string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && path !== join(repository.gitDir, OBJECTS)) await visit(path);
      else if (entry.name.endsWith(".lock") && (await isAbandoned(repository, path, LONG_MS))) found.push(path);
    }
  };
  await visit(repository.gitDir);
  return found;
}

async function hasHead(repository: Repository): Promise<boolean> {
  return (await tryCommand(repository, { args: ["rev-parse", "--verify", "--quiet", "HEAD"] })).stdout.length > 0;
}

async function countLoose(repository: Repository): Promise<number> {
  const { stdout } = await tryCommand(repository, { args: ["count-objects"] });
  return Number(/^\d+/.exec(stdout.toString())?.[0] ?? 0);
}

async function readPrograms(
  hooksDir: string,
  programs: HookPrograms,
): Promise<Pick<StoreHealth, "programs" | "dead" | "foreign">> {
  const wanted = new Map(HOOK_NAMES.map((name) => [join(hooksDir, name), formatHook(name, programs)]));
  wanted.set(textconvPath(hooksDir), formatTextconv(programs));
  const [other, dead, foreign]: [string[], string[], string[]] = [[], [], []];
  for (const [path, text] of wanted) {
    const present = await readFileIfExists(path);
    if (present === text) continue;
    if (present !== null && path !== textconvPath(hooksDir) && !isJpgHook(present)) {
      foreign.push(relative(hooksDir, path));
      continue;
    }
    other.push(relative(hooksDir, path));
    if (present !== null && callsMissingProgram(present)) dead.push(relative(hooksDir, path));
  }
  return { programs: other, dead, foreign };
}

function callsMissingProgram(hook: string): boolean {
  const called = programsOf(hook);
  return called !== null && !programsExist(called);
}

function programsExist({ nodePath, jpgPath }: HookPrograms): boolean {
  return existsSync(nodePath) && existsSync(jpgPath);
}

async function listGoneWorktrees(gitDir: string): Promise<readonly string[]> {
  const folder = join(gitDir, "worktrees");
  const names = await readdir(folder).catch(() => []);
  const gone: string[] = [];
  for (const name of names) {
    const link = (await readFileIfExists(join(folder, name, "gitdir")))?.trim();
    if (link === undefined || !existsSync(link)) gone.push(name);
  }
  return gone;
}

async function listUnwritable(paths: readonly string[]): Promise<readonly string[]> {
  const states = await Promise.all(
    paths.map((path) =>
      access(path, constants.W_OK).then(
        () => [],
        () => [path],
      ),
    ),
  );
  return states.flat();
}

export function createUpkeep(repository: Repository): Upkeep {
  return {
    inspect: (programs, version) => readStoreHealth(repository, { programs, version }),
    async pruneWorktrees() {
      await runCommand(repository, { args: ["worktree", "prune"] }, runPorcelain);
    },
    async pack() {
      await runCommand(repository, { args: ["gc", "--quiet"] });
    },
    async mirrors() {
      const project = projectOfStore(repository.cwd, repository.gitDir);
      if (!(await isProjectDir(project))) return [];
      return (await readProjectRemotes(project, repository.env)).filter(({ isMirror }) => isMirror);
    },
  };
}
