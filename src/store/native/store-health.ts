// What can be wrong with a store beside its content: settings, hooks, locks, leftovers, worktrees, loose objects. It only looks.
import { accessSync, constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { isAbandoned } from "../files/abandoned.ts";
import { listLeftovers, listUnfinishedObjects } from "../files/leftovers.ts";
import { readFileIfThere } from "../files/read-file.ts";
import type { GitVersion } from "../git-version.ts";
import type { HookPrograms, StoreHealth } from "../upkeep.ts";
import type { Worktree } from "../worktrees.ts";
import { type Repository, tryCommand } from "./git/git-command.ts";
import { hasForeignHooks, readLocalSettings, settingsToHave } from "./store-config.ts";
import { formatHook, formatTextconv, HOOK_NAMES, isJpgHook, programsOf, textconvPath } from "./store-hooks.ts";
import { listWorktrees } from "./worktrees/worktree-list.ts";

/** Looks at a store. `version` = git's. */
export async function readStoreHealth(
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

/** No git command of a store holds a lock for so long, milliseconds. */
const LONG_MS = 60 * 60_000;
/** Where no locks are looked for: objects are many and have none. */
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
    const present = await readFileIfThere(path);
    if (present === text) continue;
    if (present !== null && path !== textconvPath(hooksDir) && !isJpgHook(present)) {
      foreign.push(relative(hooksDir, path));
      continue;
    }
    other.push(relative(hooksDir, path));
    if (present !== null && callsWhatIsGone(present)) dead.push(relative(hooksDir, path));
  }
  return { programs: other, dead, foreign };
}

function callsWhatIsGone(hook: string): boolean {
  const called = programsOf(hook);
  return called !== null && !(isThere(called.nodePath) && isThere(called.jpgPath));
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

async function listGoneWorktrees(gitDir: string): Promise<readonly string[]> {
  const folder = join(gitDir, "worktrees");
  const names = await readdir(folder).catch(() => []);
  const gone: string[] = [];
  for (const name of names) {
    const link = (await readFileIfThere(join(folder, name, "gitdir")))?.trim();
    if (link === undefined || !isThere(link)) gone.push(name);
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
