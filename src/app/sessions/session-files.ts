// Session files that a user names: the paths given, files below folders, standard input; and reading them, whole or their beginning.
import { closeSync, openSync, readSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { JpgError, reasonOf, userError } from "../../core/errors.ts";
import { SESSION_BEGINNING } from "../../formats/agent-format.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { type ByteSource, createBufferSource } from "./buffer-source.ts";
import { sessionOfCompanion } from "./companion.ts";
import { createFileSource } from "./file-source.ts";
import { isPacked, unpackBeginning, unpackFile } from "./packed-file.ts";
import { type FolderScan, scanFolder } from "./scan-folder.ts";
import { readScattered } from "./scattered-session.ts";
import { isReadInPlace, withBase } from "./session-base.ts";
import { agentMeant } from "./session-registry.ts";

export interface SessionFile {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  /** Named by the user, not found in a folder: then trouble with it is an error, not a skip. */
  readonly named: boolean;
  /** Whether it stands beside another session, whose agents may have written it: then it is passed over if it is none of theirs. */
  readonly isBeside?: boolean;
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

/** Reads the first bytes of a session file, unpacked, up to the end of a line where there is more. */
export async function readSessionBeginning(path: string, byteLength: number): Promise<Buffer> {
  const bytes = readBeginning(path, byteLength);
  const text = isPacked(bytes) ? ((await unpackBeginning(bytes, byteLength)) ?? bytes) : bytes;
  return text.length < byteLength ? text : text.subarray(0, text.lastIndexOf(NEWLINE) + 1);
}

const NEWLINE = 10;

/** Reads the first bytes of a file. At once: for each of thousands of files a detour through the thread pool would cost many times what reading costs. */
export function readBeginning(path: string, byteLength: number): Buffer {
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
