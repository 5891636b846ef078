// Sessions that agents keep in stores of their own, as files: a folder for each project, among what can be had again. The
// agent's program is asked where its store has changed, and prints what changed; a file has the time of its session.
import { type BigIntStats, type Dirent, realpathSync, statSync } from "node:fs";
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { resolveUserPaths } from "../../config/trust.ts";
import { type JpgError, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { AgentFormat, AgentStore, SessionDirectory, StoredSession } from "../../formats/agent-format.ts";
import { withoutRepository } from "../../store/environment.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { projects } from "../conversation/engine.ts";
import { type Runtime, sha256 } from "../conversation/runtime.ts";
import { readIfExists, type Workspace } from "../conversation/workspace.ts";
import { askIntoFile } from "../models/external-process.ts";
import type { SessionFile } from "./session-files.ts";
import { agents, machineOf } from "./session-registry.ts";
import { listSideFiles } from "./side-files.ts";

/** An agent with a store of its own. */
type StoringAgent = AgentFormat & { readonly store: AgentStore };

/** What could not be had of a store. */
export interface StoreFailure {
  /** The agent's name. */
  readonly agent: string;
  /** The store's file, or that of one session. */
  readonly path: string;
  readonly error: JpgError;
}

/** Which sessions are asked for; whatever is absent chooses none out. */
interface StoreChoice {
  /** Names of formats. */
  readonly agents?: readonly string[];
  /** Changed no earlier, milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Paths of files that are there: then nobody is asked. */
  readonly only?: ReadonlySet<string>;
}

/** Time for an agent to list its sessions, or to print one, milliseconds. */
const ANSWER_MS = 60_000;
/** Sessions that are printed at the same time: each takes a start of the agent's program. */
const AT_ONCE = 3;
/** A store that changed later than this may have changed again at the same time, milliseconds. */
const SETTLED_MS = 2000;
/** Says how the store stood when all its sessions of the project were kept. */
const STATE_NAME = ".listed";

/** Lists the agents with a store of their own. */
function storingAgents(): readonly StoringAgent[] {
  return agents().filter((agent): agent is StoringAgent => agent.store !== undefined);
}

/** The folder, absolute, in which an agent's sessions of a place are kept, by the place's key; need not exist. */
export function storeFolder({ env, home }: Pick<Runtime, "env" | "home">, agent: AgentFormat, key: string): string {
  const { cacheDir } = resolveUserPaths(env, home);
  return join(cacheDir, "sessions", agent.name, sha256(key).slice(0, 16));
}

/** Brings the folders of a place up to date. An agent whose program is not there is passed over. */
export async function refreshStores(
  runtime: Runtime,
  place: KeptPlace,
  choice: StoreChoice = {},
): Promise<readonly StoreFailure[]> {
  if (choice.only !== undefined) return [];
  const failures: StoreFailure[] = [];
  for (const agent of storingAgents()) {
    if (choice.agents?.includes(agent.name) === false) continue;
    appendAll(failures, await refreshStore(runtime, agent, { place, choice }));
  }
  return failures;
}

interface Wanted {
  readonly place: KeptPlace;
  readonly choice: StoreChoice;
}

async function refreshStore(
  runtime: Runtime,
  agent: StoringAgent,
  { place, choice }: Wanted,
): Promise<readonly StoreFailure[]> {
  const state = await stateOf(runtime, agent.store);
  if (state === null) return [];
  const folder = storeFolder(runtime, agent, place.key);
  if ((await readIfExists(join(folder, STATE_NAME))) === state.text) return [];
  const ask = (command: readonly string[]) =>
    askIntoFile({
      command,
      input: "",
      cwd: runtime.home,
      env: askingEnvironment(runtime, place.directories),
      timeoutMs: ANSWER_MS,
    });
  const listed = await ask(agent.store.list);
  if ("problem" in listed && listed.isMissing === true) return [];
  const sessions = "output" in listed ? agent.store.readList(listed.output) : null;
  if (sessions === null)
    return [listFailure(agent, state.path, "problem" in listed ? listed.problem : "answered something else")];
  const own: StoredSession[] = [];
  for (const session of sessions) if ((await place.holds({ path: session.directory })) === true) own.push(session);
  const failures = await keepSessions(folder, own, { agent, ask, choice });
  if (failures.length === 0 && state.isSettled && choice.sinceMs === undefined)
    await replaceFile(join(folder, STATE_NAME), state.text, { mode: 0o600, isCache: true });
  return failures;
}

interface StoreState {
  /** The file that tells. */
  readonly path: string;
  readonly text: string;
  /** Whether a change from now on cannot have the same time. */
  readonly isSettled: boolean;
}

/** How a store stands, by size and time of the file that tells; null where there is none. Nothing in it is read. */
async function stateOf(runtime: Runtime, store: AgentStore): Promise<StoreState | null> {
  for (const path of store.files(machineOf(runtime))) {
    const found = await stat(path, { bigint: true }).catch(() => null);
    if (found === null) continue;
    const { size, mtimeNs, mtimeMs, ino } = found;
    const isSettled = Number(mtimeMs) < runtime.now().getTime() - SETTLED_MS;
    return { path, text: [size, mtimeNs, ino].join(" "), isSettled };
  }
  return null;
}

type Ask = (command: readonly string[]) => ReturnType<typeof askIntoFile>;

interface Keeping {
  readonly agent: StoringAgent;
  readonly ask: Ask;
  readonly choice: StoreChoice;
}

/** Keeps what changed, and lets go of what the agent no longer has. */
async function keepSessions(
  folder: string,
  sessions: readonly StoredSession[],
  { agent, ask, choice }: Keeping,
): Promise<readonly StoreFailure[]> {
  const { ending, print } = agent.store;
  const names = new Set(sessions.map(({ id }) => `${id}${ending}`));
  const present = await readdir(folder).catch(() => []);
  for (const name of present) if (name.endsWith(ending) && !names.has(name)) await rm(join(folder, name));
  makeFolders(folder, 0o700);
  const failures: StoreFailure[] = [];
  const waiting = sessions
    .filter(({ changed }) => changed >= (choice.sinceMs ?? 0))
    .sort((a, b) => b.changed - a.changed);
  const keepNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const path = join(folder, `${next.id}${ending}`);
      if ((await stat(path).catch(() => null))?.mtimeMs === next.changed) continue;
      const answer = await ask(print(next.id));
      if ("problem" in answer) failures.push(printFailure(agent, path, answer.problem));
      else await keep(path, answer.output, next.changed);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, keepNext));
  return failures;
}

async function keep(path: string, text: string, changed: number): Promise<void> {
  await replaceFile(path, text, { mode: 0o600, isCache: true });
  await utimes(path, changed / 1000, changed / 1000);
}

/** The agent is the user's own: none that a project puts into the way, e.g. under `node_modules/.bin`. */
function askingEnvironment({ env }: Runtime, directories: readonly string[]): Runtime["env"] {
  const isWithin = (path: string, folder: string): boolean => {
    const way = relative(folder, path);
    return way === "" || (!way.startsWith("..") && !isAbsolute(way));
  };
  const path = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !directories.some((directory) => isWithin(entry, directory)));
  return withoutRepository({ ...env, PATH: path.join(delimiter) });
}

function listFailure({ agent, name }: StoringAgent, path: string, problem: string): StoreFailure {
  const error = userError("agent_failed", `${agent.name} was asked for its sessions and ${problem}.`, {
    hints: ["Its sessions are missing from the list. You can import a file that it exports: `jpg import FILE`."],
  });
  return { agent: name, path, error };
}

function printFailure({ agent, name }: StoringAgent, path: string, problem: string): StoreFailure {
  const error = userError("agent_failed", `${agent.name} was asked for a session and ${problem}.`, {
    hints: ["The next import asks it again."],
  });
  return { agent: name, path, error };
}

// Whose sessions are meant: those begun in the project one stands in, in any of its folders and worktrees, however their paths are
// spelled; outside every project those begun in the current directory and below. A session belongs to the nearest project around
// the directory that it was begun in: a submodule, or a clone within a project, is one of its own.

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
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

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
    const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name));
    for (const { name } of folders) waiting.push(join(folder, name));
  }
  return digests;
}

/** Puts behind each session the files beside it that its agents may have written; one that is named stays where it is. */
export async function withAgentFiles(files: readonly SessionFile[]): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = [];
  const known = new Set(files.map(({ path }) => path));
  for (const file of files) {
    found.push(file);
    for (const { files: kept } of agents()) {
      const isSession = kept.beside?.isSession;
      if (isSession === undefined) continue;
      const { folder, files: names } = await listSideFiles(file, kept.beside);
      for (const path of names.filter(isSession).map((name) => join(folder, name))) {
        if (!known.has(path)) found.push({ path, named: false, isSideFile: true });
      }
    }
  }
  return found;
}
