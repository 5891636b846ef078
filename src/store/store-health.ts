// What can be wrong with a store beside its content: settings, hooks, locks, leftovers, worktrees, loose objects. It only looks.
import { accessSync, constants, lstatSync } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Repository, tryCommand } from "./git-command.ts";
import type { GitVersion } from "./git-version.ts";
import { readFileIfThere } from "./ref-reader.ts";
import { storeSettings } from "./store-config.ts";
import { formatHook, formatTextconv, HOOK_NAMES, type HookPrograms, textconvPath } from "./store-hooks.ts";

/** A file that a writer leaves when it is killed. */
export interface Leftover {
  readonly path: string;
  /** When it was written, milliseconds since 1970. */
  readonly writtenMs: number;
}

/** What was seen. */
export interface StoreHealth {
  /** Folders that git writes to and that cannot be written. */
  readonly unwritable: readonly string[];
  /** Keys of `.git/config` that are not as jpg sets them. */
  readonly settings: readonly string[];
  /** Hooks and the textconv program that are missing or call another jpg than this. */
  readonly programs: readonly string[];
  /** Hooks and the textconv program that call a program that is gone. */
  readonly dead: readonly string[];
  /** Names of linked worktrees whose folder is gone. */
  readonly goneWorktrees: readonly string[];
  readonly locks: readonly Leftover[];
  readonly leftovers: readonly Leftover[];
  /** Objects in files of their own. */
  readonly looseObjects: number;
  readonly remotes: readonly string[];
}

/** Looks at a store. `version` = git's. */
export async function readStoreHealth(
  repository: Repository,
  { programs, version }: { readonly programs: HookPrograms; readonly version: GitVersion },
): Promise<StoreHealth> {
  const { gitDir } = repository;
  const hooksDir = join(gitDir, "hooks");
  const [config, files, loose, hooks, goneWorktrees] = await Promise.all([
    readConfig(repository),
    listFiles(gitDir),
    countLoose(repository),
    readPrograms(hooksDir, programs),
    listGoneWorktrees(gitDir),
  ]);
  const expected = [...storeSettings(hooksDir, version)];
  return {
    unwritable: await listUnwritable([gitDir, join(gitDir, "objects"), join(gitDir, "refs")]),
    settings: expected.filter(([key, value]) => config.get(key) !== value).map(([key]) => key),
    ...hooks,
    goneWorktrees,
    locks: files.filter(isLock),
    leftovers: files.filter(isLeftover),
    looseObjects: loose,
    remotes: [...config.keys()].flatMap((key) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []),
  };
}

/** Locks and leftovers that were last written before a time. */
export async function listStaleFiles(gitDir: string, beforeMs: number): Promise<readonly Leftover[]> {
  const files = await listFiles(gitDir);
  return files.filter((file) => (isLock(file) || isLeftover(file)) && file.writtenMs < beforeMs);
}

function isLock({ path }: Leftover): boolean {
  return path.endsWith(".lock");
}

function isLeftover({ path }: Leftover): boolean {
  return LEFTOVER.test(path);
}

const LEFTOVER = /(^|\/)tmp_(pack|idx|obj|rev)_[^/]*$|\.(tmp|new)$/;
/** Where nothing is looked for: objects are many, and what lies among packs is listed apart. */
const SKIPPED = new Set(["objects", "worktrees"]);

async function readConfig(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await tryCommand(repository, { args: ["config", "--local", "--list", "-z"] });
  const entries = stdout.toString().split("\0").filter(Boolean);
  return new Map(
    entries.map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
}

/** Files of the git dir, and those beside the packs; paths relative to it. */
async function listFiles(gitDir: string): Promise<readonly Leftover[]> {
  const found: Leftover[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !(folder === gitDir && SKIPPED.has(entry.name))) await visit(path);
      else if (entry.isFile()) {
        const stat = lstatSync(path, { throwIfNoEntry: false });
        if (stat !== undefined) found.push({ path: relative(gitDir, path), writtenMs: stat.mtimeMs });
      }
    }
  };
  await visit(gitDir);
  await visit(join(gitDir, "objects", "pack"));
  return found;
}

async function countLoose(repository: Repository): Promise<number> {
  const { stdout } = await tryCommand(repository, { args: ["count-objects"] });
  return Number(/^\d+/.exec(stdout.toString())?.[0] ?? 0);
}

async function readPrograms(hooksDir: string, programs: HookPrograms): Promise<Pick<StoreHealth, "programs" | "dead">> {
  const wanted = new Map(HOOK_NAMES.map((name) => [join(hooksDir, name), formatHook(name, programs)]));
  wanted.set(textconvPath(hooksDir), formatTextconv(programs));
  const [other, dead]: [string[], string[]] = [[], []];
  for (const [path, text] of wanted) {
    const present = await readFileIfThere(path);
    if (present === text) continue;
    other.push(relative(hooksDir, path));
    if (present !== null && callsWhatIsGone(present)) dead.push(relative(hooksDir, path));
  }
  return { programs: other, dead };
}

/** The programs of a hook that jpg wrote stand in its second line. */
function callsWhatIsGone(hook: string): boolean {
  const named = [...hook.matchAll(/\b(?:node|jpg)='((?:[^']|'\\'')*)'|\b(?:node|jpg)=([^\s']+)/g)];
  return named.some(([, quoted, bare]) => !isThere((quoted ?? bare ?? "").replaceAll("'\\''", "'")));
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
