// Finds session files: the paths given, files below folders, standard input, or what agents keep for this project.
import type { Dirent } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { codeOf, JpgError, messageOf, userError } from "../../core/errors.ts";
import type { Runtime } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ByteSource, createBufferSource } from "./buffer-source.ts";
import { createFileSource } from "./file-source.ts";
import { type FolderScan, scanFolder } from "./scan-folder.ts";

export interface SessionFile {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  /** Named by the user, not found in a folder: then trouble with it is an error, not a skip. */
  readonly named: boolean;
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

/** Where Claude Code keeps the sessions of a directory. */
export function claudeProjectDir(runtime: Runtime, directory: string): string {
  const configured = runtime.env["CLAUDE_CONFIG_DIR"];
  const base = configured !== undefined && configured !== "" ? configured : join(runtime.home, ".claude");
  return join(base, "projects", directory.replace(/[^A-Za-z0-9]/g, "-"));
}

/** The directories whose sessions are those of this project: its root, and where jpg was started. */
export function projectDirectories({ runtime, location }: Pick<Workspace, "runtime" | "location">): readonly string[] {
  return location.project === undefined ? [runtime.cwd] : [location.project.root, runtime.cwd];
}

/** The folders, absolute, in which agents on this machine keep the sessions of directories; they need not exist. */
export function agentSessionFolders(runtime: Runtime, directories: readonly string[]): readonly string[] {
  return [...new Set(directories)].map((directory) => claudeProjectDir(runtime, directory));
}

/** The session files that agents on this machine keep for the given directories. */
export async function findAgentSessions(runtime: Runtime, directories: readonly string[]): Promise<SessionFile[]> {
  const files: SessionFile[] = [];
  for (const folder of agentSessionFolders(runtime, directories)) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(noneIfAbsent); // the agent was never used here
    const names = entries.filter((entry) => entry.name.endsWith(".jsonl") && !isPipe(entry)).map(({ name }) => name);
    for (const name of names.sort()) files.push({ path: join(folder, name), named: false });
  }
  return files;
}

/** A larger file is read in blocks, bytes. */
const LARGE_FILE = 16 * 1024 * 1024;

/** Reads a session file whole. Throws `unreadable_file`. */
export async function readSessionFile(runtime: Runtime, file: SessionFile): Promise<Buffer> {
  try {
    return file.path === "-" ? Buffer.from(await runtime.readStdin()) : await readFile(file.path);
  } catch (error) {
    throw unreadable(file.path, error);
  }
}

/** Reads the lines of a session file, of a large one where they begin. Throws `unreadable_file`, `file_changed`. */
export async function readSessionSource(runtime: Runtime, file: SessionFile): Promise<ByteSource> {
  try {
    if (file.path !== "-" && (await stat(file.path)).size > LARGE_FILE) return createFileSource(file.path);
  } catch (error) {
    throw error instanceof JpgError ? error : unreadable(file.path, error);
  }
  return createBufferSource(await readSessionFile(runtime, file));
}

function unreadable(path: string, error: unknown): Error {
  return userError("unreadable_file", `${path} cannot be read: ${messageOf(error)}.`, {
    hints: ["Give yourself access to it, or copy it somewhere."],
    cause: error,
  });
}

async function expandPath(path: string): Promise<FoundFiles> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw userError("unreadable_file", `${path} cannot be read: ${error.message}.`, {
      hints: ["Give yourself access to it, or copy it somewhere."],
      cause: error,
    });
  });
  if (found === null) {
    throw userError("no_such_file", `${path} does not exist.`, {
      hints: ["`jpg import` without a path finds the sessions of this project by itself."],
    });
  }
  if (!found.isDirectory()) return { files: [{ path, named: true }], failed: [] };
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
