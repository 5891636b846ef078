// Exports sessions that agents keep in stores of their own to files: a folder per project, in the cache directory. If the store has
// changed, the agent's program is asked for what changed; a file gets the time of its session.
import { type BigIntStats, type Dirent, realpathSync, statSync } from "node:fs";
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { resolveUserPaths } from "../../config/trust.ts";
import { type JpgError, userError } from "../../core/errors.ts";
import { localFolder, localKey, spellingsOf } from "../../core/folder-path.ts";
import { appendAll } from "../../core/lists.ts";
import type { UserHome } from "../../core/user-folders.ts";
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

/** A store, or a session in it, that could not be read. */
export interface StoreFailure {
  readonly agent: string;
  /** The store's file, or that of one session. */
  readonly path: string;
  readonly error: JpgError;
}

/** Which sessions to export; absent fields do not restrict. */
interface StoreChoice {
  /** Names of formats. */
  readonly agents?: readonly string[];
  /** Changed no earlier, milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Paths of existing files: then no agent is asked. */
  readonly only?: ReadonlySet<string>;
}

/** Milliseconds in which an agent has to list its sessions, or to print one. */
const ANSWER_MS = 60_000;
/** Sessions printed at the same time: each starts the agent's program. */
const MAX_PARALLEL = 3;
/** Milliseconds: a store that changed later than this may change again without a new time. */
const SETTLED_MS = 2000;
/** Records the state of the store when all its sessions of the project were exported. */
const STATE_NAME = ".listed";

function storingAgents(): readonly StoringAgent[] {
  return agents().filter((agent): agent is StoringAgent => agent.store !== undefined);
}

/** The folder, absolute, for an agent's sessions of a place; it may not exist. `key` is the place's. */
export function storeFolder(user: UserHome, agent: AgentFormat, key: string): string {
  const { cacheDir } = resolveUserPaths(user);
  return join(cacheDir, "sessions", agent.name, sha256(key).slice(0, 16));
}

/** Brings the folders of a place up to date. Skips agents whose program is not installed. */
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
  /** The file whose size and time show a change. */
  readonly path: string;
  readonly text: string;
  /** Whether a change from now on would get another time. */
  readonly isSettled: boolean;
}

/** The state of a store, by size and time of one file; null where there is none. Reads nothing in it. */
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

/** Exports what changed, and removes what the agent no longer has. */
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
  await Promise.all(Array.from({ length: MAX_PARALLEL }, keepNext));
  return failures;
}

async function keep(path: string, text: string, changed: number): Promise<void> {
  await replaceFile(path, text, { mode: 0o600, isCache: true });
  await utimes(path, changed / 1000, changed / 1000);
}

/** The environment with the user's own agents: without programs of the project, e.g. under `node_modules/.bin`. */
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

// Decides which sessions are of this place: those begun in the current project, in any of its folders and worktrees, however their
// paths are spelled; outside of a project, those begun in the current directory and below. A session belongs to the nearest project
// around the directory in which it was begun: a submodule, or a clone within a project, is a project of its own.

/** A project, or a directory that is in none. */
export interface KeptPlace {
  /** Equal in all worktrees of a project, absolute. */
  readonly key: string;
  /** Its directories, absolute: the top, the current one, those between them, and other worktrees. */
  readonly directories: readonly [string, ...string[]];
  /** Whether a session begun in a directory is of this place. Null = unknown, because the directory no longer exists. */
  holds(directory: SessionDirectory): Promise<boolean | null>;
}

/** Directories to search for the one with a given digest, at most. */
const MAX_DIRECTORIES = 5000;
/** Nobody begins a session in these. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Finds the place around the current directory. */
export async function openKeptPlace({
  runtime,
  location,
}: Pick<Workspace, "runtime" | "location">): Promise<KeptPlace> {
  const { platform } = runtime;
  const here = canonicalOf(runtime.cwd, platform);
  const project = location.project?.commonDir ?? (await projects.around(here.existing));
  const worktrees = project === null ? [] : await projects.worktrees(project);
  const top = location.project?.root ?? worktrees[0];
  const isOfProject = project === null ? null : sameAs(project);
  const isHere = sameAs(here.path);
  const around = new Map<string, Promise<string | null>>();
  const projectAround = (directory: string): Promise<string | null> => {
    // A directory that cannot be read is in no project.
    const asked = around.get(directory) ?? projects.around(directory).catch(() => directory);
    around.set(directory, asked);
    return asked;
  };

  const holdsPath = async (named: string): Promise<boolean | null> => {
    if (!isAbsolute(localFolder(named, platform))) return null;
    const { path, existing } = canonicalOf(named, platform);
    const isGone = path !== existing;
    if (isGone && worktrees.some((worktree) => isWithin(localKey(path, platform), localKey(worktree, platform))))
      return true;
    const nearest = await projectAround(existing);
    if (nearest !== null) return isOfProject?.(nearest) ?? false;
    return isGone ? null : isOfProject === null && ancestorsOf(path).some(isHere);
  };

  const directories = [
    ...(top === undefined ? [] : [top]),
    ...(runtime.gitDir === undefined || top === undefined ? [runtime.cwd] : []),
    ...ancestorsOf(here.path).filter((path) => top !== undefined && isWithin(path, top)),
    ...worktrees,
  ];
  const digests = new Set(directories.flatMap(digestsOf));
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

/** Resolves the symbolic links of a path in any notation as far as it exists, and returns how much of it exists. */
export function canonicalOf(
  path: string,
  platform: string | undefined,
): { readonly path: string; readonly existing: string } {
  const whole = resolve(localFolder(path, platform));
  for (const at of ancestorsOf(whole)) {
    try {
      const existing = realpathSync.native(at);
      return { path: join(existing, relative(at, whole)), existing };
    } catch {
      // missing, or not readable
    }
  }
  return { path: whole, existing: whole };
}

/** A path and the folders above it, nearest first. */
function ancestorsOf(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...ancestorsOf(above)];
}

/** Whether a path is a folder, or something below it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!/^\.\.(?:[/\\]|$)/.test(way) && !isAbsolute(way));
}

/** Compares folders by inode, not by name: names may differ in case or Unicode form. */
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
    return undefined; // missing, or not readable
  }
}

/** Digests of a path in the spellings under which an agent may have got it. */
function digestsOf(path: string): readonly string[] {
  return spellingsOf(path).map(sha256);
}

/** Digests of the paths of a project's folders, nearest first, without those of projects within it. */
async function digestsBelow(tops: readonly string[]): Promise<ReadonlySet<string>> {
  const digests = new Set<string>();
  const waiting = [...tops];
  for (let at = waiting.shift(); at !== undefined && digests.size < MAX_DIRECTORIES; at = waiting.shift()) {
    const folder = at;
    const entries: readonly Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
    if (!tops.includes(folder) && entries.some(({ name }) => name === ".git")) continue;
    for (const digest of digestsOf(folder)) digests.add(digest);
    const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name));
    for (const { name } of folders) waiting.push(join(folder, name));
  }
  return digests;
}

/** Inserts after each session the sub-agents' sessions in its folder; one that is named keeps its place. */
export async function withAgentFiles(files: readonly SessionFile[]): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = [];
  const known = new Set(files.map(({ path }) => path));
  for (const file of files) {
    found.push(file);
    for (const { files: kept } of agents()) {
      const isSession = kept.sideFiles?.isSession;
      if (isSession === undefined) continue;
      const { folder, files: names } = await listSideFiles(file, kept.sideFiles);
      for (const path of names.filter(isSession).map((name) => join(folder, name))) {
        if (!known.has(path)) found.push({ path, named: false, isSideFile: true });
      }
    }
  }
  return found;
}
