// Finds the sessions that agents on this machine keep for this project, after exporting those in agents' own stores. Many agents
// keep the sessions of several directories together, so each session is read for the directory in which it was begun.
import { type Dirent, existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, type JpgError, userError } from "../../core/errors.ts";
import { localFolder, localKey } from "../../core/folder-path.ts";
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

/** A session file in a folder where an agent keeps sessions. */
export interface KeptSession extends SessionFile {
  /** The agent's display name. */
  readonly agent: string;
}

/** A session in a folder of this project that may also be another project's. */
interface UnclearSession extends KeptSession {
  /** The directory that it names, which no longer exists; null = it names none. */
  readonly directory: string | null;
}

/** Which of the agents' sessions to find; absent fields do not restrict. */
export interface KeptChoice {
  /** Names of formats. */
  readonly agents?: readonly string[];
  /** Changed no earlier, milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Absolute paths. */
  readonly only?: ReadonlySet<string>;
  /** Whether an unclear session is known to be of this project; absent = none is. */
  readonly isClaimed?: (file: SessionFile) => Promise<boolean>;
  /** Whether the user was asked about unclear sessions: then those left out are not reported. */
  readonly wasAsked?: true;
}

export interface KeptFiles {
  readonly files: readonly KeptSession[];
  /** Sessions that may be of another project. */
  readonly unclear: readonly UnclearSession[];
  readonly failed: readonly StoreFailure[];
}

type Place = Pick<Workspace, "runtime" | "location">;

/** Finds the chosen sessions of this project, those in agents' own stores included. */
export async function findKeptFiles(workspace: Place, choice: KeptChoice = {}): Promise<KeptFiles> {
  const place = await openKeptPlace(workspace);
  const failed = await refreshStores(workspace.runtime, place, choice);
  return { ...(await findIn(place, workspace.runtime, choice)), failed };
}

/** Like findKeptFiles, but only in files: asks no agent. */
export async function findAgentSessions(workspace: Place, choice: KeptChoice = {}): Promise<Omit<KeptFiles, "failed">> {
  return findIn(await openKeptPlace(workspace), workspace.runtime, choice);
}

/** The folders, absolute, in which agents keep or would keep sessions of this project; they may not exist. */
export async function agentSessionFolders(workspace: Place): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const { folder } of await keptFolders(await openKeptPlace(workspace), workspace.runtime))
    for await (const { path } of foldersWithin(folder)) folders.add(path);
  return [...folders];
}

/** Why a session was left out, and how to import it. */
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

/**
 * The directory in which a session was begun, by its file, absolute; null = unknown. `agent` = its format, `kept` = where the agent
 * keeps the file.
 */
export async function startOfSession({
  path,
  agent,
  kept,
  platform,
}: Pick<Runtime, "platform"> & { readonly [Field in "path" | "agent" | "kept"]: string }): Promise<string | null> {
  const format = agents().find(({ name }) => name === agent);
  const named = format === undefined ? null : await readDirectory(path, format, basename(dirname(kept)));
  return named != null && "path" in named && isAbsolute(localFolder(named.path, platform)) ? named.path : null;
}

/** A session of any project on this machine. */
export interface MachineSession extends KeptSession {
  /** The name of the agent's format. */
  readonly format: string;
  /** The directory that it was begun in, as the session names it; null = it names none that can be read. */
  readonly directory: SessionDirectory | null;
}

/** Finds the sessions of all projects in the folders where agents keep those of several; asks no agent. */
export async function findMachineSessions(runtime: Runtime): Promise<readonly MachineSession[]> {
  const machine = machineOf(runtime);
  const found = new Map<string, MachineSession>();
  for (const agent of agents()) {
    const { files } = agent;
    const texts = (files.settings?.(machine, runtime.home) ?? []).map(readSettings);
    const folders = (files.folders?.(machine, runtime.home, texts) ?? []).filter((one) => one.directory === undefined);
    for (const folder of folders.sort((a, b) => certaintyOf(b) - certaintyOf(a))) {
      const isNamed = (name: string, within: string): boolean => isSessionName(agent, name, within);
      for await (const { path, within } of sessionsIn({ agent, folder, isNamed })) {
        if (found.has(localKey(path, runtime.platform)) || dirname(path) !== within) continue;
        const directory = (await readDirectory(path, agent, basename(within))) ?? null;
        found.set(localKey(path, runtime.platform), {
          path,
          named: false,
          agent: agent.agent.name,
          format: agent.name,
          directory,
        });
      }
    }
  }
  return [...found.values()];
}

async function findIn(place: KeptPlace, runtime: Runtime, choice: KeptChoice): Promise<Omit<KeptFiles, "failed">> {
  // By what is the same file here: an agent's folder may be listed by two spellings of its name.
  const found = new Map<string, KeptSession | UnclearSession | null>();
  const keyOf = (path: string): string => localKey(path, runtime.platform);
  for (const kept of await keptFolders(place, runtime)) {
    if (choice.agents?.includes(kept.agent.name) === false) continue;
    for await (const { path, within } of sessionsIn(kept))
      if (!found.has(keyOf(path)))
        found.set(
          keyOf(path),
          isChosen(path, choice) ? await toKeptSession(path, within, kept, { place, choice }) : null,
        );
  }
  const sessions = [...found.values()].filter((session) => session !== null);
  const isUnclear = (session: KeptSession): session is UnclearSession => "directory" in session;
  return { files: sessions.filter((session) => !isUnclear(session)), unclear: sessions.filter(isUnclear) };
}

/** A session's file, and the agent's folder that it is in or below. */
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

/** Sub-agents' sessions of a session whose own file is gone; others are found with it. */
async function orphansIn(
  within: string,
  folder: string,
  { agent, names }: { readonly agent: AgentFormat; readonly names: ReadonlySet<string> },
): Promise<readonly string[]> {
  const { sideFiles: beside, endings } = agent.files;
  const main = endings.map((ending) => `${folder}${ending}`).find((name) => beside?.folder(name) === folder);
  if (beside?.isSession === undefined || main === undefined || names.has(main)) return [];
  const listing = await listSideFiles({ path: join(within, main), named: false }, beside);
  return listing.files.filter(beside.isSession).map((name) => join(listing.folder, name));
}

/** A session of this place, or one that may be; null = it is another's. The import reports one that cannot be read or unpacked. */
async function toKeptSession(
  path: string,
  within: string,
  { agent, folder }: KeptFolder,
  { place, choice }: { readonly place: KeptPlace; readonly choice: KeptChoice },
): Promise<KeptSession | UnclearSession | null> {
  const isSideFile = dirname(path) !== within;
  const session = { path, named: false, agent: agent.agent.name, ...(isSideFile && { isSideFile }) };
  if (folder.directory !== undefined || agent.files.directory === undefined) return session;
  const directory = await readDirectory(path, agent, basename(within));
  if (directory === undefined) return folder.isOwn === false ? null : session;
  const isHeld = directory === null ? null : await place.holds(directory);
  if (isHeld !== null) return isHeld ? session : null;
  if (folder.isOwn !== true) return null;
  const wasMoved = directory !== null && "path" in directory && directory.wasMoved === true;
  const isClaimed = wasMoved || (await choice.isClaimed?.(session)) === true;
  return isClaimed ? session : unclearSession(session, directory);
}

/** Null for a session without a turn that names no directory. */
async function unclearSession(
  session: KeptSession,
  directory: SessionDirectory | null,
): Promise<UnclearSession | null> {
  const named = directory !== null && "path" in directory ? directory : null;
  // Agents create files at their start, before anything is said: it does not matter whose these are.
  return named === null && (await isUnused(session.path)) ? null : { ...session, directory: named?.path ?? null };
}

/** Bytes: a file without a turn is no longer. */
const MAX_UNUSED_BYTES = 256 * 1024;

/** Whether a session file has no turn. */
async function isUnused(path: string): Promise<boolean> {
  try {
    const bytes = readBeginning(path, MAX_UNUSED_BYTES);
    if (bytes.length === MAX_UNUSED_BYTES) return false;
    const source = createBufferSource(bytes);
    return bytes.toString("utf8").trim() === "" || detectFormat(source, path).read(source).turnCount === 0;
  } catch {
    return false; // the import reports the error
  }
}

/** Bytes to read of a file, one after the other: a user has thousands of sessions, but a first line may hold images. */
const BEGINNINGS: readonly number[] = [8 * 1024, SESSION_BEGINNING, 8 * 1024 * 1024];

/** The directory in which a session says it was begun; null = it names none, undefined = it cannot be read. */
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

/** Whether a session is chosen, by its path and the time of its file. */
function isChosen(path: string, { sinceMs, only }: KeptChoice): boolean {
  if (only?.has(path) === false) return false;
  return sinceMs === undefined || (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs;
}

interface KeptFolder {
  readonly agent: AgentFormat;
  readonly folder: SessionFolder;
  /** Whether the name of a file may be a session's. */
  readonly isNamed: (fileName: string, folder: string) => boolean;
}

/** The folders of agents, and those with sessions exported from agents' stores: each once, with the most specific rule. */
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
      const isElsewhere = folder.directory !== undefined && (await place.holds({ path: folder.directory })) !== true;
      if (!isElsewhere) found.set(key, { agent, folder, isNamed });
    }
    if (store === undefined) continue;
    const folder = { path: storeFolder(runtime, agent, place.key), directory: place.directories[0] };
    found.set(`${agent.name} ${folder.path}`, { agent, folder, isNamed: (name) => name.endsWith(store.ending) });
  }
  return [...found.values()];
}

/** How certain it is that the sessions in a folder are of this project. */
function certaintyOf({ directory, isOwn }: SessionFolder): number {
  if (directory !== undefined) return 3;
  return isOwn === true ? 2 : isOwn === undefined ? 1 : 0;
}

/** The text of an agent's settings file; null if missing or unreadable: the agent itself will complain. */
function readSettings(path: string): string | null {
  try {
    return readBeginning(path, LARGEST_SETTINGS).toString("utf8");
  } catch {
    return null;
  }
}

const LARGEST_SETTINGS = 1024 * 1024;

/** A folder and those below it, `levels` deep, with their entries in order; follows no links. */
async function* foldersWithin({
  path,
  levels = 0,
  isOwn,
}: SessionFolder): AsyncGenerator<{ readonly path: string; readonly entries: readonly Dirent[] }> {
  const read = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    // The agent was never used here, or the folder is named after another user's directory.
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error)) || isOwn === false) return [];
    throw userError("unreadable_file", error instanceof Error ? `${error.message}.` : String(error), { cause: error });
  });
  const entries = read.sort((a, b) => (a.name < b.name ? -1 : 1));
  yield { path, entries };
  if (levels === 0) return;
  for (const entry of entries)
    if (entry.isDirectory()) yield* foldersWithin({ path: join(path, entry.name), levels: levels - 1, isOwn });
}

/** Reading a pipe would wait for a writer. */
function isPipe(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket();
}

// Watches files for changes: by events of the operating system, and by looking at them after an interval in any case. Writes
// nothing; for what cannot be watched (too many watches) the interval has to do.

/** A watch; must be closed. */
interface FileWatch {
  /** Watches these folders from now on, not what is below them. For a missing one, watches where it would be created. */
  follow(folders: readonly string[]): void;
  /**
   * Resolves when something changed since the last call and then nothing for a moment, after the interval (milliseconds), or when
   * the signal ends it. Returns the changed files, absolute; null = any file or folder may have changed.
   */
  changed(everyMs: number): Promise<ReadonlySet<string> | null>;
  close(): void;
}

/** Milliseconds without a change after which a change is complete: an agent writes lines in bursts. */
const QUIET_MS = 80;
/** Further bursts to wait for, at most, so that an agent that never pauses is imported, too. */
const MAX_WAITS = 10;

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
        // The creation of a missing folder counts as a change; other changes where it would be created do not.
        if (name === null) note(changed === null ? at : join(at, changed));
        else if (changed === null || changed === name) note(at);
      });
      watcher.on("error", () => forget(folder));
      watchers.set(folder, { watcher, at, inode });
    } catch {
      // Too many watches, or none permitted: the interval has to do.
    }
  };
  return {
    follow(folders) {
      const wanted = new Set(folders);
      // A folder that was created, or deleted and created again, has to be watched anew.
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
      for (let seen = 0, waits = 0; seen !== events && waits < MAX_WAITS && !signal.aborted; waits++) {
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

/** What to watch for a folder: itself, or the folder where it would be created, and the name to expect there. */
function watchable(folder: string): { readonly at: string; readonly name: string | null } {
  if (existsSync(folder)) return { at: folder, name: null };
  let missing = folder;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  return { at: dirname(missing), name: basename(missing) };
}

/** A folder that is watched, or the one watched in its place. */
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

/** Waits; the signal ends the wait. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
