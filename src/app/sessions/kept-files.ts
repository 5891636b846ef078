// The sessions that agents on this machine keep for this project; those that agents have in stores of their own are brought up to
// date first. Many agents keep the sessions of several directories together, so each session is asked for the one it was begun in.
import { type Dirent, existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, type JpgError, userError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import {
  type AgentFormat,
  SESSION_BEGINNING,
  type SessionDirectory,
  type SessionFolder,
} from "../../formats/agent-format.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { type KeptPlace, openKeptPlace, refreshStores, type StoreFailure, storeFolder } from "./agent-stores.ts";
import { readBeginning, type SessionFile } from "./session-files.ts";
import { agents, detectFormat, isPacked, isSessionName, machineOf, unpackBeginning } from "./session-registry.ts";
import { listSideFiles } from "./side-files.ts";
import { createBufferSource } from "./sources.ts";

/** A session file that was found where an agent keeps its sessions. */
export interface KeptSession extends SessionFile {
  /** What the agent is called. */
  readonly agent: string;
}

/** A session in a folder that an agent keeps for this project, and perhaps for another one too. */
interface UnclearSession extends KeptSession {
  /** The directory that it names, which is not there any more; null = it names none. */
  readonly directory: string | null;
}

/** Which of the sessions that agents keep are meant; whatever is absent chooses none out. */
export interface KeptChoice {
  /** Names of formats. */
  readonly agents?: readonly string[];
  /** Changed no earlier, milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Absolute paths. */
  readonly only?: ReadonlySet<string>;
  /** Whether an unclear session is known to be of this project; absent = none is. */
  readonly isClaimed?: (file: SessionFile) => Promise<boolean>;
  /** Whether the user was asked about unclear sessions: then nobody is told which were left out. */
  readonly wasAsked?: true;
}

/** Sessions of agents, and what could not be had. */
export interface KeptFiles {
  readonly files: readonly KeptSession[];
  /** Sessions that may be of another project. */
  readonly unclear: readonly UnclearSession[];
  readonly failed: readonly StoreFailure[];
}

/** Where sessions are looked for. */
type Place = Pick<Workspace, "runtime" | "location">;

/** Finds the sessions of this project, of those that are chosen, with what agents have in stores of their own. */
export async function findKeptFiles(workspace: Place, choice: KeptChoice = {}): Promise<KeptFiles> {
  const place = await openKeptPlace(workspace);
  const failed = await refreshStores(workspace.runtime, place, choice);
  return { ...(await findIn(place, workspace.runtime, choice)), failed };
}

/** The same of what is in files: no agent is asked. */
export async function findAgentSessions(workspace: Place, choice: KeptChoice = {}): Promise<Omit<KeptFiles, "failed">> {
  return findIn(await openKeptPlace(workspace), workspace.runtime, choice);
}

/** The folders, absolute, in which agents keep sessions of this project or may begin to; they need not exist. */
export async function agentSessionFolders(workspace: Place): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const { folder } of await keptFolders(await openKeptPlace(workspace), workspace.runtime))
    for await (const { path } of foldersWithin(folder)) folders.add(path);
  return [...folders];
}

/** Says why a session was left out, and how it comes in all the same. */
export function unclearError({ path, directory }: UnclearSession): JpgError {
  const why =
    directory === null
      ? "does not say which directory it was begun in"
      : `was begun in ${directory}, which does not exist`;
  return userError(
    "unclear_project",
    `A session ${why}, so it may be of another project and was left out; \`jpg import ${shellWord(path)}\` imports it.`,
    { hints: [`If it is of this project: jpg import ${shellWord(path)}`], data: { path, directory } },
  );
}

/** The path of the directory that a session was begun in, as its file says, absolute; null = it does not say. `agent` = its format, `kept` = where the agent keeps the file. */
export async function startOfSession(path: string, agent: string, kept: string = path): Promise<string | null> {
  const format = agents().find(({ name }) => name === agent);
  const named = format === undefined ? null : await readDirectory(path, format, basename(dirname(kept)));
  return named != null && "path" in named && isAbsolute(named.path) ? named.path : null;
}

async function findIn(place: KeptPlace, runtime: Runtime, choice: KeptChoice): Promise<Omit<KeptFiles, "failed">> {
  const found = new Map<string, KeptSession | UnclearSession | null>();
  for (const kept of await keptFolders(place, runtime)) {
    if (choice.agents?.includes(kept.agent.name) === false) continue;
    for await (const { path, within } of sessionsIn(kept))
      if (!found.has(path))
        found.set(path, isChosen(path, choice) ? await toKeptSession(path, within, kept, { place, choice }) : null);
  }
  const sessions = [...found.values()].filter((session) => session !== null);
  const isUnclear = (session: KeptSession): session is UnclearSession => "directory" in session;
  return { files: sessions.filter((session) => !isUnclear(session)), unclear: sessions.filter(isUnclear) };
}

/** A session's file, and the folder in which the agent keeps it or what it stands beside. */
interface PlacedFile {
  readonly path: string;
  readonly within: string;
}

async function* sessionsIn({ agent, folder, isNamed }: KeptFolder): AsyncGenerator<PlacedFile> {
  for await (const { path: within, entries } of foldersWithin(folder)) {
    const names = new Set(entries.map(({ name }) => name));
    for (const entry of entries) {
      if (isNamed(entry.name, within) && !isPipe(entry)) yield { path: join(within, entry.name), within };
      else if (entry.isDirectory())
        for (const path of await orphansIn(within, entry.name, { agent, names })) yield { path, within };
    }
  }
}

/** What the agents of a session wrote whose own file is gone: of others it is found beside that. */
async function orphansIn(
  within: string,
  folder: string,
  { agent, names }: { readonly agent: AgentFormat; readonly names: ReadonlySet<string> },
): Promise<readonly string[]> {
  const { beside, endings } = agent.files;
  const main = endings.map((ending) => `${folder}${ending}`).find((name) => beside?.folder(name) === folder);
  if (beside?.isSession === undefined || main === undefined || names.has(main)) return [];
  const listing = await listSideFiles({ path: join(within, main), named: false }, beside);
  return listing.files.filter(beside.isSession).map((name) => join(listing.folder, name));
}

/** A session that is one of this place, or may be; null = it is another's. Of one that cannot be read, or unpacked, the import says so. */
async function toKeptSession(
  path: string,
  within: string,
  { agent, folder }: KeptFolder,
  { place, choice }: { readonly place: KeptPlace; readonly choice: KeptChoice },
): Promise<KeptSession | UnclearSession | null> {
  const isSideFile = dirname(path) !== within;
  const session = { path, named: false, agent: agent.agent.name, ...(isSideFile && { isSideFile }) };
  if (folder.of !== undefined || agent.files.directory === undefined) return session;
  const directory = await readDirectory(path, agent, basename(within));
  if (directory === undefined) return folder.isOwn === false ? null : session;
  const isHeld = directory === null ? null : await place.holds(directory);
  if (isHeld !== null) return isHeld ? session : null;
  if (folder.isOwn !== true) return null;
  const wasMoved = directory !== null && "path" in directory && directory.wasMoved === true;
  const isClaimed = wasMoved || (await choice.isClaimed?.(session)) === true;
  return isClaimed ? session : unclearSession(session, directory);
}

/** Null for one in which nothing was said, and which names no directory. */
async function unclearSession(
  session: KeptSession,
  directory: SessionDirectory | null,
): Promise<UnclearSession | null> {
  const named = directory !== null && "path" in directory ? directory : null;
  // Agents make files at their start, before anything is said: whose these are is of no matter.
  return named === null && (await isUnused(session.path)) ? null : { ...session, directory: named?.path ?? null };
}

/** A file in which nothing was said is no longer, bytes. */
const MOST_UNUSED = 256 * 1024;

/** Whether a session file holds no turn. */
async function isUnused(path: string): Promise<boolean> {
  try {
    const bytes = readBeginning(path, MOST_UNUSED);
    if (bytes.length === MOST_UNUSED) return false;
    const source = createBufferSource(bytes);
    return bytes.toString("utf8").trim() === "" || detectFormat(source, path).read(source).turnCount === 0;
  } catch {
    return false; // the import says what is wrong with it
  }
}

/** How much of a file is read, bytes: a user with thousands of sessions waits for each, but a first line may hold pictures. */
const BEGINNINGS: readonly number[] = [8 * 1024, SESSION_BEGINNING, 8 * 1024 * 1024];

/** The directory that a session says it was begun in; null = it says none, undefined = it cannot be read. */
async function readDirectory(
  path: string,
  { files }: AgentFormat,
  folder: string,
): Promise<SessionDirectory | null | undefined> {
  try {
    for (const most of BEGINNINGS) {
      const bytes = readBeginning(path, most);
      const text = isPacked(bytes) ? await unpackBeginning(bytes, most) : bytes;
      if (text === null) return undefined;
      const directory = files.directory?.(createBufferSource(text), folder) ?? null;
      if (directory !== null || bytes.length < most) return directory;
    }
    return null;
  } catch {
    return undefined;
  }
}

/** Told from the path and from when the file changed: nothing is read. */
function isChosen(path: string, { sinceMs, only }: KeptChoice): boolean {
  if (only?.has(path) === false) return false;
  return sinceMs === undefined || (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs;
}

interface KeptFolder {
  readonly agent: AgentFormat;
  readonly folder: SessionFolder;
  /** Whether a file there may be a session by its name. */
  readonly isNamed: (fileName: string, folder: string) => boolean;
}

/** Where agents write files, and where jpg keeps as files what they have in stores of their own: each once, what tells most first. */
async function keptFolders(place: KeptPlace, runtime: Runtime): Promise<readonly KeptFolder[]> {
  const machine = machineOf(runtime);
  const found = new Map<string, KeptFolder>();
  for (const agent of agents()) {
    const { store, files } = agent;
    const folders = place.directories.flatMap((directory) => {
      const texts = (files.settings?.(machine, directory) ?? []).map(readSettings);
      return files.folders?.(machine, directory, texts) ?? [];
    });
    const isNamed = (name: string, within: string): boolean => isSessionName(agent, name, within);
    for (const folder of folders.sort((a, b) => certaintyOf(b) - certaintyOf(a))) {
      const key = `${agent.name} ${folder.path}`;
      if (found.has(key)) continue;
      const isElsewhere = folder.of !== undefined && (await place.holds({ path: folder.of })) !== true;
      if (!isElsewhere) found.set(key, { agent, folder, isNamed });
    }
    if (store === undefined) continue;
    const folder = { path: storeFolder(runtime, agent, place.key), of: place.directories[0] };
    found.set(`${agent.name} ${folder.path}`, { agent, folder, isNamed: (name) => name.endsWith(store.ending) });
  }
  return [...found.values()];
}

/** How much a folder tells of its sessions. */
function certaintyOf({ of, isOwn }: SessionFolder): number {
  if (of !== undefined) return 3;
  return isOwn === true ? 2 : isOwn === undefined ? 1 : 0;
}

/** The text of an agent's settings file; null for one that is not there, or cannot be read: the agent itself says what is wrong. */
function readSettings(path: string): string | null {
  try {
    return readBeginning(path, LARGEST_SETTINGS).toString("utf8");
  } catch {
    return null;
  }
}

/** Bytes. */
const LARGEST_SETTINGS = 1024 * 1024;

/** A folder and those in it, as many levels as there are to be, with what stands in each, ordered; links are not followed. */
async function* foldersWithin({
  path,
  levels = 0,
  isOwn,
}: SessionFolder): AsyncGenerator<{ readonly path: string; readonly entries: readonly Dirent[] }> {
  const read = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    // The agent was never used here, or the folder has the name of somebody else's directory.
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error)) || isOwn === false) return [];
    throw userError("unreadable_file", error instanceof Error ? `${error.message}.` : String(error), { cause: error });
  });
  const entries = read.sort((a, b) => (a.name < b.name ? -1 : 1));
  yield { path, entries };
  if (levels === 0) return;
  for (const entry of entries)
    if (entry.isDirectory()) yield* foldersWithin({ path: join(path, entry.name), levels: levels - 1, isOwn });
}

/** Reading one would wait for a writer. */
function isPipe(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket();
}

// Waits for files to change: the operating system says so where it can, and after an interval they are looked at in any
// case. Nothing is written, and what cannot be watched (too many watches) is left to the interval.

/** A wait for changes; must be closed. */
interface FileWatch {
  /** Watches these folders from now on, not what is below them. One that is not there is waited for where it would stand. */
  follow(folders: readonly string[]): void;
  /**
   * Resolves when something changed since it last resolved and was quiet for a moment, when the interval (milliseconds) is
   * over, or when the signal ends it. Gives the files that changed, absolute; null = it may be any of them, and the folders.
   */
  changed(everyMs: number): Promise<ReadonlySet<string> | null>;
  close(): void;
}

/** How long nothing may change before a change counts as finished, milliseconds: an agent writes lines in bursts. */
const QUIET_MS = 80;
/** Quiet moments waited for at most, so that an agent that never pauses is imported too. */
const MOST_WAITS = 10;

/** Begins a watch that the signal ends. */
export function watchFolders(signal: AbortSignal): FileWatch {
  const watchers = new Map<string, Watched>();
  let files = new Set<string>();
  let events = 0;
  let wake: AbortController | null = null;
  const note = (path: string): void => {
    files.add(path);
    events += 1;
    wake?.abort();
  };
  const forget = (folder: string): void => {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  };
  const open = (folder: string): void => {
    const { at, name } = watchable(folder);
    const inode = inodeOf(at);
    try {
      const watcher = watch(at, (_, changed) => {
        // A folder that is waited for is a change of its own; what else goes on where it would stand is not.
        if (name === null) note(changed === null ? at : join(at, changed));
        else if (changed === null || changed === name) note(at);
      });
      watcher.on("error", () => forget(folder));
      watchers.set(folder, { watcher, at, inode });
    } catch {
      // No more watches, or none may be made here: the interval has to do.
    }
  };
  return {
    follow(folders) {
      const wanted = new Set(folders);
      // A folder that was made again, or has come since, is another one.
      for (const [folder, { at, inode }] of [...watchers])
        if (!wanted.has(folder) || watchable(folder).at !== at || inodeOf(at) !== inode) forget(folder);
      for (const folder of wanted) if (!watchers.has(folder)) open(folder);
    },
    async changed(everyMs) {
      if (events === 0) {
        wake = new AbortController();
        await pause(everyMs, AbortSignal.any([signal, wake.signal]));
        wake = null;
      }
      for (let seen = 0, waits = 0; seen !== events && waits < MOST_WAITS && !signal.aborted; waits++) {
        seen = events;
        await pause(QUIET_MS, signal);
      }
      const found = files;
      files = new Set();
      events = 0;
      return found.size > 0 && ![...found].some(isFolder) ? found : null;
    },
    close() {
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

/** What is watched for a folder: itself, or where it would stand, with the name that is waited for there. */
function watchable(folder: string): { readonly at: string; readonly name: string | null } {
  if (existsSync(folder)) return { at: folder, name: null };
  let missing = folder;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  return { at: dirname(missing), name: basename(missing) };
}

/** A folder that is watched, or what stands in for one. */
interface Watched {
  readonly watcher: FSWatcher;
  readonly at: string;
  readonly inode: number | undefined;
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Waits; a signal ends the wait. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
