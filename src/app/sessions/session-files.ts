// Finds session files that a user names: paths, files below folders, standard input. Reads them, whole or only the beginning.
import { closeSync, openSync, readSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { JpgError, reasonOf, userError } from "../../core/errors.ts";
import { SESSION_BEGINNING, type SideFileRules } from "../../formats/agent-format.ts";
import type { Runtime } from "../conversation/runtime.ts";
import {
  agentMeant,
  agents,
  isPacked,
  isReadInPlace,
  isSessionName,
  readScattered,
  sessionOfCompanion,
  unpackBeginning,
  unpackFile,
  withBase,
} from "./session-registry.ts";
import { type ByteSource, createBufferSource, createFileSource } from "./sources.ts";

export interface SessionFile {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  /** Named by the user, not found in a folder: then an error is thrown, not skipped. */
  readonly named: boolean;
  /** Whether it is in the folder of another session: then it is skipped unless a sub-agent of that session wrote it. */
  readonly isSideFile?: boolean;
}

/** Session files, and folders that cannot be read. */
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

/** Reads the first bytes of a session file, unpacked; if there is more, only whole lines. */
export async function readSessionBeginning(path: string, byteLength: number): Promise<Buffer> {
  const bytes = readBeginning(path, byteLength);
  const text = isPacked(bytes) ? ((await unpackBeginning(bytes, byteLength)) ?? bytes) : bytes;
  return text.length < byteLength ? text : text.subarray(0, text.lastIndexOf(NEWLINE) + 1);
}

/**
 * Reads a file's first line and its last whole lines, `byteLength` bytes at most; null if it is packed or has no line end where one is
 * needed. `size`: bytes of the file.
 */
export function readSessionEnding(
  path: string,
  { byteLength, size }: { readonly byteLength: number; readonly size: number },
): Buffer | null {
  const beginning = readBeginning(path, SESSION_BEGINNING);
  const first = beginning.indexOf(NEWLINE) + 1;
  const bytes = readPart(path, byteLength, Math.max(first, size - byteLength));
  const last = bytes.indexOf(NEWLINE) + 1;
  if (isPacked(beginning) || first === 0 || last === 0) return null;
  return Buffer.concat([beginning.subarray(0, first), bytes.subarray(last)]);
}

const NEWLINE = 10;

/** Reads the first bytes of a file. Synchronous: for thousands of files, the thread pool would cost far more than the reading. */
export function readBeginning(path: string, byteLength: number): Buffer {
  return readPart(path, byteLength, 0);
}

function readPart(path: string, byteLength: number, from: number): Buffer {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(byteLength);
    return buffer.subarray(0, readSync(file, buffer, 0, byteLength, from));
  } finally {
    closeSync(file);
  }
}

/** Bytes: a larger file is read in blocks. */
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

/**
 * Reads the lines of a session file; those of a large file only on demand. Throws as `readSessionFile` does, and `file_changed`.
 */
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
  // The second file of a session names the session.
  if (!found.isDirectory()) return { files: [{ path: sessionOfCompanion(path) ?? path, named: true }], failed: [] };
  const { files, failed } = await scanFolder(path);
  return { files: files.map((name) => ({ path: name, named: false })), failed };
}

// Finds session files below a folder that the user named. Follows no links, and skips folders without sessions of the user: git's
// own, installed packages, jpg's own.

interface FolderScan {
  /** Absolute paths, ordered. */
  readonly files: readonly string[];
  readonly failed: readonly { readonly path: string; readonly error: JpgError }[];
}

/** Never entered. `.git` also has jpg's store and its worktrees. */
const FOREIGN_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);
/** In every worktree of a conversation. */
const WORKTREE_MARKS = ["conversation.json", ".gitattributes"];
/** Entries in a worktree of a conversation that hold lines: `sources` has the session that it was made from. */
const WORKTREE_NAMES: ReadonlySet<string> = new Set([
  "turns",
  "sources",
  "compactions",
  "config",
  "meta",
  "view.jsonl",
]);

/** Lists the files in a folder and below it that may be sessions by their names, except side files of other sessions. */
export async function scanFolder(folder: string): Promise<FolderScan> {
  const files: string[] = [];
  const failed: FolderScan["failed"][number][] = [];
  const scan = async (at: string): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) => {
      failed.push({ path: at, error: unreadableFolder(at, error) });
      return [];
    });
    const names = new Set(entries.map(({ name }) => name));
    const isWorktree = WORKTREE_MARKS.every((name) => names.has(name));
    for (const entry of entries) {
      if (FOREIGN_FOLDERS.has(entry.name) || (isWorktree && WORKTREE_NAMES.has(entry.name))) continue;
      if (entry.isDirectory()) await scan(join(at, entry.name));
      else if (entry.isFile() && agents().some((agent) => isSessionName(agent, entry.name, at)))
        files.push(join(at, entry.name));
    }
  };
  await scan(folder);
  const agentFolders = agents().flatMap(({ files: { sideFiles } }) =>
    sideFiles === undefined ? [] : [sessionFolders(files, sideFiles)],
  );
  const isSideFile = (path: string): boolean =>
    agentFolders.some((one) => isWrittenBySession(path, { folder, ...one }));
  const isOwn = (path: string): boolean => !isSideFile(path) && sessionOfCompanion(path) === null;
  return { files: files.filter(isOwn).sort(), failed };
}

/** The folders, absolute, that an agent may have made for its sessions among some files. */
interface SessionFolders {
  readonly folders: ReadonlySet<string>;
  readonly rules: SideFileRules;
}

function sessionFolders(files: readonly string[], rules: SideFileRules): SessionFolders {
  const folders = files.flatMap((path) => {
    const name = rules.folder(basename(path));
    return name === null ? [] : [join(dirname(path), name)];
  });
  return { folders: new Set(folders), rules };
}

/** Whether an agent wrote the file into the folder of one of its sessions (sub-agents). */
function isWrittenBySession(
  path: string,
  { folder, folders, rules }: SessionFolders & { readonly folder: string },
): boolean {
  const names = relative(folder, path).split(sep);
  return names.some(
    (_, depth) => folders.has(join(folder, ...names.slice(0, depth))) && rules.holdsFile(names.slice(depth).join("/")),
  );
}

function unreadableFolder(path: string, cause: unknown): JpgError {
  return userError("unreadable_file", `${path} cannot be read: ${reasonOf(cause)}.`, {
    hints: ["Give yourself read access, or name the sessions that you want."],
    cause,
  });
}
