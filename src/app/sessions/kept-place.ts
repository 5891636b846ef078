// Whose sessions are meant: those begun in the project one stands in, in any of its folders and worktrees, however their paths are
// spelled; outside every project those begun in the current directory and below. A session belongs to the nearest project around
// the directory that it was begun in: a submodule, or a clone within a project, is one of its own.
import { type BigIntStats, type Dirent, realpathSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { SessionDirectory } from "../../formats/agent-format.ts";
import { projects } from "../workspace/engine.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A project, or a directory that is in none. */
export interface KeptPlace {
  /** The same in all worktrees of a project, absolute. */
  readonly key: string;
  /** Directories that are of it, absolute: its top, where jpg was started, those between them, its other worktrees. */
  readonly directories: readonly [string, ...string[]];
  /** Whether a session that was begun in a directory is one of its own. Null = nothing tells: the directory is not there any more. */
  holds(directory: SessionDirectory): Promise<boolean | null>;
}

/** Directories that are looked at for the one that a digest is of. */
const MOST_DIRECTORIES = 5000;
/** Nobody begins a session in these. */
const PASSED_OVER: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Finds the place that one stands in. */
export async function openKeptPlace({
  runtime,
  location,
}: Pick<Workspace, "runtime" | "location">): Promise<KeptPlace> {
  const here = canonicalOf(runtime.cwd);
  const project = location.project?.commonDir ?? (await projects.around(here.existing));
  const worktrees = project === null ? [] : await projects.worktrees(project);
  const top = location.project?.root ?? worktrees[0];
  const isOfProject = project === null ? null : sameAs(project);
  const isHere = sameAs(here.path);
  const around = new Map<string, Promise<string | null>>();
  const projectAround = (directory: string): Promise<string | null> => {
    // What may not be looked at is nobody's here.
    const asked = around.get(directory) ?? projects.around(directory).catch(() => directory);
    around.set(directory, asked);
    return asked;
  };

  const holdsPath = async (named: string): Promise<boolean | null> => {
    if (!isAbsolute(named)) return null;
    const { path, existing } = canonicalOf(named);
    const isGone = path !== existing;
    if (isGone && worktrees.some((worktree) => isWithin(path, worktree))) return true;
    const nearest = await projectAround(existing);
    if (nearest !== null) return isOfProject?.(nearest) ?? false;
    return isGone ? null : isOfProject === null && ancestorsOf(path).some(isHere);
  };

  const directories = [
    ...(top === undefined ? [] : [top]),
    runtime.cwd,
    ...ancestorsOf(here.path).filter((path) => top !== undefined && isWithin(path, top)),
    ...worktrees,
  ];
  const digests = new Set(directories.map(sha256));
  let below: Promise<ReadonlySet<string>> | null = null;
  const holdsDigest = async (digest: string): Promise<boolean> => {
    if (digests.has(digest)) return true;
    below ??=
      project === null ? Promise.resolve(new Set<string>()) : digestsBelow([...new Set([top ?? "", ...worktrees])]);
    return (await below).has(digest);
  };

  const known = new Map<string, Promise<boolean | null>>();
  return {
    key: project ?? runtime.cwd,
    directories: [top ?? runtime.cwd, ...new Set(directories)],
    holds(directory) {
      const [name, ask] = "path" in directory ? [directory.path, holdsPath] : [directory.sha256, holdsDigest];
      const answer = known.get(name) ?? ask(name);
      known.set(name, answer);
      return answer;
    },
  };
}

/** A path without symbolic links as far as it is there, and as much of it as is there. */
export function canonicalOf(path: string): { readonly path: string; readonly existing: string } {
  const whole = resolve(path);
  for (const at of ancestorsOf(whole)) {
    try {
      const existing = realpathSync.native(at);
      return { path: join(existing, relative(at, whole)), existing };
    } catch {
      // not there, or not to be looked at
    }
  }
  return { path: whole, existing: whole };
}

/** A path and the folders above it, the nearest first. */
function ancestorsOf(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...ancestorsOf(above)];
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!/^\.\.(?:[/\\]|$)/.test(way) && !isAbsolute(way));
}

/** Tells a folder by what it is, not by its name: where case does not count, or names have two forms, several names are of one. */
function sameAs(folder: string): (other: string) => boolean {
  const found = statOf(folder);
  return (other) => {
    if (other === folder) return true;
    const there = statOf(other);
    return found !== undefined && there !== undefined && there.dev === found.dev && there.ino === found.ino;
  };
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined; // not there, or not to be looked at
  }
}

/** The digests of the paths of a project's folders, nearest first; other projects in it are not entered. */
async function digestsBelow(tops: readonly string[]): Promise<ReadonlySet<string>> {
  const digests = new Set<string>();
  const waiting = [...tops];
  for (let at = waiting.shift(); at !== undefined && digests.size < MOST_DIRECTORIES; at = waiting.shift()) {
    const folder = at;
    const entries: readonly Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
    if (!tops.includes(folder) && entries.some(({ name }) => name === ".git")) continue;
    digests.add(sha256(folder));
    const folders = entries.filter((entry) => entry.isDirectory() && !PASSED_OVER.has(entry.name));
    for (const { name } of folders) waiting.push(join(folder, name));
  }
  return digests;
}
