// Finds session files: the paths given, files below folders, standard input, or what agents keep for this project.
import { closeSync, type Dirent, openSync, readSync, statSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { codeOf, JpgError, reasonOf, userError } from "../../core/errors.ts";
import { type AgentFormat, SESSION_BEGINNING, type SessionFolder } from "../../formats/agent-format.ts";
import type { Runtime } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { storeFolder } from "./agent-stores.ts";
import { type ByteSource, createBufferSource } from "./buffer-source.ts";
import { sessionOfCompanion } from "./companion.ts";
import { createFileSource } from "./file-source.ts";
import { isPacked, unpackBeginning, unpackFile } from "./packed-file.ts";
import { type FolderScan, scanFolder } from "./scan-folder.ts";
import { readScattered } from "./scattered-session.ts";
import { isReadInPlace, withBase } from "./session-base.ts";
import { agentMeant, agents, isSessionName, machineOf } from "./session-registry.ts";

export interface SessionFile {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  /** Named by the user, not found in a folder: then trouble with it is an error, not a skip. */
  readonly named: boolean;
  /** Whether it stands beside another session, whose agents may have written it: then it is passed over if it is none of theirs. */
  readonly isBeside?: boolean;
}

/** A session file that was found where an agent keeps its sessions. */
export interface KeptSession extends SessionFile {
  /** What the agent is called. */
  readonly agent: string;
}

/** Which of the sessions that agents keep are meant; whatever is absent chooses none out. */
export interface KeptChoice {
  /** Names of formats. */
  readonly agents?: readonly string[];
  /** Changed no earlier, milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Absolute paths. */
  readonly only?: ReadonlySet<string>;
}

/** Session files, and folders that cannot be looked into. */
export interface FoundFiles {
  readonly files: readonly SessionFile[];
  readonly failed: FolderScan["failed"];
}

/** Lists the session files that the arguments name, in the order given, folders sorted. Throws `no_such_file`. */
export async function findSessionFiles(runtime: Runtime, paths: readonly string[]): Promise<FoundFiles> {
  const found: FoundFiles[] = [];
  for (const path of paths) {
    if (path === "-") found.push({ files: [{ path, named: true }], failed: [] });
    else found.push(await expandPath(resolve(runtime.cwd, path)));
  }
  return { files: found.flatMap(({ files }) => files), failed: found.flatMap(({ failed }) => failed) };
}

/** The directories whose sessions are those of this project: its root, and where jpg was started. */
export function projectDirectories({ runtime, location }: Pick<Workspace, "runtime" | "location">): readonly string[] {
  return location.project === undefined ? [runtime.cwd] : [location.project.root, runtime.cwd];
}

/** The folders, absolute, in which agents on this machine keep the sessions of directories; they need not exist. */
export async function agentSessionFolders(
  runtime: Runtime,
  directories: readonly string[],
): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const { folder } of keptFolders(runtime, directories)) {
    for await (const { path } of foldersWithin(folder.path, folder.levels ?? 0)) folders.push(path);
  }
  return folders;
}

/** The session files that agents on this machine keep for the given directories, of those that are chosen. */
export async function findAgentSessions(
  runtime: Runtime,
  directories: readonly string[],
  choice: KeptChoice = {},
): Promise<KeptSession[]> {
  const found: KeptSession[] = [];
  for (const { agent, folder, isNamed } of keptFolders(runtime, directories)) {
    if (choice.agents?.includes(agent.name) === false) continue;
    for await (const { path: within, entries } of foldersWithin(folder.path, folder.levels ?? 0)) {
      const isSession = ({ name }: Dirent): boolean => isNamed(name, within);
      const names = entries.filter((entry) => isSession(entry) && !isPipe(entry)).map(({ name }) => join(within, name));
      for (const path of names.filter((name) => isChosen(name, choice))) {
        const file = { path, named: false, agent: agent.agent.name };
        if (folder.holds === undefined || (await isHeld(path, folder.holds))) found.push(file);
      }
    }
  }
  return found;
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

/** Where agents write files, and where jpg keeps as files what they have in stores of their own. */
function keptFolders(runtime: Runtime, directories: readonly string[]): readonly KeptFolder[] {
  const machine = machineOf(runtime);
  return [...new Set(directories)].flatMap((directory) =>
    agents().flatMap((agent) => {
      const { store, files } = agent;
      const isNamed = (name: string, within: string): boolean => isSessionName(agent, name, within);
      const texts = (files.settings?.(machine, directory) ?? []).map(readSettings);
      const folders = files.folders?.(machine, directory, texts) ?? [];
      const written = folders.map((folder) => ({ agent, folder, isNamed }));
      if (store === undefined) return written;
      const folder = { path: storeFolder(runtime, agent, directory) };
      return [...written, { agent, folder, isNamed: (name: string): boolean => name.endsWith(store.ending) }];
    }),
  );
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
async function* foldersWithin(
  path: string,
  levels: number,
): AsyncGenerator<{ readonly path: string; readonly entries: readonly Dirent[] }> {
  const read = await readdir(path, { withFileTypes: true }).catch(noneIfAbsent); // the agent was never used here
  const entries = read.sort((a, b) => (a.name < b.name ? -1 : 1));
  yield { path, entries };
  if (levels === 0) return;
  for (const entry of entries) if (entry.isDirectory()) yield* foldersWithin(join(path, entry.name), levels - 1);
}

/** Whether a session is of the directory that is asked for; of one that cannot be read, or unpacked, the import says so. */
async function isHeld(path: string, holds: NonNullable<SessionFolder["holds"]>): Promise<boolean> {
  try {
    const bytes = readBeginning(path, SESSION_BEGINNING);
    const text = isPacked(bytes) ? await unpackBeginning(bytes, SESSION_BEGINNING) : bytes;
    return text === null || holds(createBufferSource(text));
  } catch {
    return true;
  }
}

/** Reads the first bytes of a session file, unpacked, up to the end of a line where there is more. */
export async function readSessionBeginning(path: string, byteLength: number): Promise<Buffer> {
  const bytes = readBeginning(path, byteLength);
  const text = isPacked(bytes) ? ((await unpackBeginning(bytes, byteLength)) ?? bytes) : bytes;
  return text.length < byteLength ? text : text.subarray(0, text.lastIndexOf(NEWLINE) + 1);
}

const NEWLINE = 10;

/** At once: for each of thousands of files a detour through the thread pool would cost many times what reading costs. */
function readBeginning(path: string, byteLength: number): Buffer {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(byteLength);
    return buffer.subarray(0, readSync(file, buffer, 0, byteLength, 0));
  } finally {
    closeSync(file);
  }
}

/** A larger file is read in blocks, bytes. */
const LARGE_FILE = 16 * 1024 * 1024;

/** Reads a session file whole, unpacked. Throws `unreadable_file`, `damaged_file`, `large_file`. */
export async function readSessionFile(runtime: Runtime, file: SessionFile): Promise<Buffer> {
  const bytes = await readBytes(runtime, file);
  const unpacked = isPacked(bytes) ? await unpackFile(bytes, file.path === "-" ? "standard input" : file.path) : bytes;
  return withBase(runtime, file.path, unpacked);
}

async function readBytes(runtime: Runtime, { path }: SessionFile): Promise<Buffer> {
  try {
    const scattered = await readScattered(path);
    if (scattered !== null) return scattered;
    return path === "-" ? Buffer.from(await runtime.readStdin()) : await readFile(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Reads the lines of a session file, of a large one where they begin. Throws what `readSessionFile` does, and `file_changed`. */
export async function readSessionSource(runtime: Runtime, file: SessionFile): Promise<ByteSource> {
  try {
    const isLarge = file.path !== "-" && (await stat(file.path)).size > LARGE_FILE;
    if (isLarge && isReadInPlace(readBeginning(file.path, SESSION_BEGINNING))) return createFileSource(file.path);
  } catch (error) {
    throw error instanceof JpgError ? error : unreadable(file.path, error);
  }
  return createBufferSource(await readSessionFile(runtime, file));
}

function unreadable(path: string, error: unknown): Error {
  return userError("unreadable_file", `${path} cannot be read: ${reasonOf(error)}.`, {
    hints: ["Give yourself read access to it, or copy it to where you have it."],
    cause: error,
  });
}

async function expandPath(path: string): Promise<FoundFiles> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw userError("unreadable_file", `${path} cannot be read: ${reasonOf(error)}.`, {
      hints: ["Give yourself read access to it, or copy it to where you have it."],
      cause: error,
    });
  });
  if (found === null) {
    throw userError("no_such_file", `${path} does not exist.`, {
      hints: [...agentMeant(path), "`jpg import` without a path finds the sessions of this project."],
    });
  }
  // Who names the second file of a session means the session.
  if (!found.isDirectory()) return { files: [{ path: sessionOfCompanion(path) ?? path, named: true }], failed: [] };
  const { files, failed } = await scanFolder(path);
  return { files: files.map((name) => ({ path: name, named: false })), failed };
}

/** Reading one would wait for a writer. */
function isPipe(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket();
}

function noneIfAbsent(error: unknown): Dirent[] {
  if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return [];
  throw userError("unreadable_file", error instanceof Error ? `${error.message}.` : String(error), { cause: error });
}
