// What the app gets from outside: environment, clock and time zone, randomness, paths. Created once in cli/main.ts.
import { createHash, type Hash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import * as z from "zod/mini";
import { resolveUserPaths } from "../../config/trust.ts";
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import { isTurnNumber } from "../../core/conversation/name.ts";
import type { Calendar } from "../../core/conversation/range-bound.ts";
import { JpgError, reasonOf, userError } from "../../core/errors.ts";
import { type FileContent, makeFolders, replaceFile, umaskFor } from "../../store/files.ts";
import type { Engine } from "../../store/store.ts";

/**
 * What standard input is. `open`: a pipe or socket, whose writer may never write; `file`: it ends by itself; `none`: nothing to
 * read.
 */
export type InputKind = "terminal" | "open" | "file" | "none";

export interface Runtime extends Calendar {
  /** Version of jpg, sent to servers and clients, e.g. `0.1.0`; `0.0.0` when run from source. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The system's name in node, e.g. `win32`; absent = one like Linux. */
  readonly platform?: string;
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  /** Absolute: the git dir that git named when it started jpg (`git --git-dir DIR jpg`, an alias, a hook); absent = none. */
  readonly gitDir?: string;
  /** The engine that the user named; absent = jpg chooses. */
  readonly engine?: Engine;
  /** Absolute paths, which git hooks call: of Node and of jpg's script, or twice that of the executable that holds both. */
  readonly nodePath: string;
  readonly jpgPath: string;
  now(): Date;
  random(length: number): Uint8Array;
  inputKind(): Promise<InputKind>;
  readStdin(): Promise<Uint8Array>;
  /** Reads standard input line by line, as it comes. */
  readLines(): AsyncIterable<string>;
  /** Reads all of standard input; null when neither a byte nor its end came within `firstByteMs`. */
  readStdinWithin(firstByteMs: number): Promise<Uint8Array | null>;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS = 10;
const LETTERS = 22;

/**
 * Creates a random id of base-32 characters (no i, l, o, u), e.g. `k3f9q2`. It contains a letter, since digits alone would be a
 * turn number.
 */
export function randomId(runtime: Runtime, length = 6): string {
  const bytes = runtime.random(length);
  const id = [...bytes].map((byte) => ALPHABET[byte % 32]).join("");
  const [first = 0] = bytes;
  return isTurnNumber(id) ? `${ALPHABET[DIGITS + (first % LETTERS)]}${id.slice(1)}` : id;
}

// Digests: git's object ids and content hashes, with Node's crypto.

/** Validates an object id read from a file: nothing else from there becomes an argument of git. */
export const objectId: z.ZodMiniString = z.string().check(z.regex(/^[0-9a-f]{40}$/));

/** Computes the git object id (SHA-1) of a blob. */
export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.byteLength}\0`).update(bytes).digest("hex");
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Computes SHA-1 as bytes, for UUIDv5. */
export function sha1Bytes(bytes: Uint8Array): Uint8Array {
  return createHash("sha1").update(bytes).digest();
}

/** Creates an incremental SHA-1; `copy()` gives an intermediate one. */
export function createSha1(): Hash {
  return createHash("sha1");
}

/** The words that start jpg, before its own. */
export function startWords({ nodePath, jpgPath }: Pick<Runtime, "nodePath" | "jpgPath">): [string, ...string[]] {
  return nodePath === jpgPath ? [jpgPath] : [nodePath, jpgPath];
}

/** Reads a template by its file name. */
export function readTemplate(name: string): Promise<string> {
  return readPackaged(join("templates", name));
}

/** Reads the script of web pages. */
export function readPageScript(): Promise<string> {
  return readPackaged(join("dist", "browser", "page.js"));
}

/** The part of a runtime that the system's clock and time zone give. */
export const SYSTEM_CLOCK: Pick<Runtime, "now" | "localTime" | "startOfDay"> = {
  now: () => new Date(),
  localTime: ({ year, month, day, hours = 0, minutes = 0, seconds = 0 }) =>
    new Date(year, month - 1, day, hours, minutes, seconds),
  startOfDay: (daysAgo) => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
  },
};

/** Finds a file of jpg's package by its path there; absolute. Null if the code was bundled without it. */
export function findPackaged(path: string): string | null {
  // The bundle is at another depth than the source: search upwards to the package's root.
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, path))) {
    if (dirname(folder) === folder) return null;
    folder = dirname(folder);
  }
  return join(folder, path);
}

/** Reads a file of jpg's package by its path there; the executable has these files in itself. */
export async function readPackaged(path: string): Promise<string> {
  if (isSea()) return getAsset(path.replaceAll("\\", "/"), "utf8");
  // Never from the current folder: what is not there is not there.
  return readFile(findPackaged(path) ?? join(dirname(fileURLToPath(import.meta.url)), path), "utf8");
}

/**
 * Writes or replaces a file; a new one gets the mode of the user's umask. Throws `cannot_write`, or what creating the content
 * throws; the old file stays then.
 */
export async function writeResultFile(path: string, content: FileContent): Promise<void> {
  try {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isFile()) return await writeFile(path, content);
    const target = found === null ? path : await realpath(path);
    await replaceFile(target, content);
    await chmod(target, found === null ? userFileMode() : found.mode & 0o777);
  } catch (error) {
    if (error instanceof JpgError) throw error;
    throw userError("cannot_write", `${path} cannot be written: ${reasonOf(error)}.`, {
      hints: ["Name a file in a folder that exists and that you can write to."],
      cause: error,
    });
  }
}

// Files of conversations are for their owner alone unless the store is shared. Programs that jpg starts for the user, and results
// in files that the user named, get the user's own umask.

/** The umask with which jpg was started; null until jpg changes it. */
let userUmask: number | null = null;

/** Sets the umask of this process and the git it starts to those whom the store is shared with (`core.sharedRepository`). */
export function setSharingUmask(sharing: string | undefined): void {
  userUmask ??= process.umask(0o077);
  process.umask(umaskFor(sharing, userUmask));
}

/** Gives this process the umask back with which jpg was started. */
export function restoreUmask(): void {
  if (userUmask !== null) process.umask(userUmask);
  userUmask = null;
}

/** Runs a synchronous action, such as starting a program, under the user's own umask. */
export function withUserUmask<Value>(action: () => Value): Value {
  if (userUmask === null) return action();
  const own = process.umask(userUmask);
  try {
    return action();
  } finally {
    process.umask(own);
  }
}

/** Returns the mode of a new file under the user's own umask. */
export function userFileMode(): number {
  return 0o666 & ~(userUmask ?? process.umask());
}

// Small files in the user's cache folder. One that cannot be read counts as missing, and readers check the content.

/** Reads a file, `name` relative to the cache folder; empty when it holds no JSON object. */
export async function readCacheFile(runtime: Runtime, name: string): Promise<Fields> {
  try {
    return fieldsOf(JSON.parse(await readFile(pathOf(runtime, name), "utf8")));
  } catch {
    return {}; // missing, unreadable, or not written by jpg
  }
}

/** Writes a file atomically; ignores errors. */
export async function writeCacheFile(runtime: Runtime, name: string, fields: Fields): Promise<void> {
  const path = pathOf(runtime, name);
  try {
    makeFolders(dirname(path));
    await replaceFile(path, `${JSON.stringify(fields)}\n`, { isCache: true });
  } catch {
    // Full, or not writable: the content is computed again next time.
  }
}

function pathOf(runtime: Runtime, name: string): string {
  return join(resolveUserPaths(runtime).cacheDir, name);
}
