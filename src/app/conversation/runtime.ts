// What the outside world gives to the app: environment, clock and time zone, randomness, where things are. Made once in
// cli/main.ts.
import { createHash, type Hash } from "node:crypto";
import { chmod, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod/mini";
import { resolveUserPaths } from "../../config/trust.ts";
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import { isTurnNumber } from "../../core/conversation/name.ts";
import type { Calendar } from "../../core/conversation/range-bound.ts";
import { JpgError, reasonOf, userError } from "../../core/errors.ts";
import { type FileContent, makeFolders, replaceFile, umaskFor } from "../../store/files.ts";
import type { Engine } from "../../store/store.ts";

/** What stands at standard input. `open`: a pipe or socket, whose writer may write, or never; `file`: it ends by itself; `none`: nothing to read. */
export type InputKind = "terminal" | "open" | "file" | "none";

export interface Runtime extends Calendar {
  /** Of this jpg, for those it talks to, e.g. `0.1.0`; `0.0.0` when run from source. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  /** The engine that the user asked for; absent = jpg chooses. */
  readonly engine?: Engine;
  /** Absolute paths that git hooks call. */
  readonly nodePath: string;
  readonly jpgPath: string;
  now(): Date;
  /** Random bytes, for ids and padding. */
  random(length: number): Uint8Array;
  inputKind(): Promise<InputKind>;
  /** The whole of standard input. */
  readStdin(): Promise<Uint8Array>;
  /** The same; null when nothing came, not even its end, within so many milliseconds. */
  readStdinWithin(firstByteMs: number): Promise<Uint8Array | null>;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS = 10;
const LETTERS = 22;

/**
 * Creates a random id of base-32 characters (no i, l, o, u), e.g. `k3f9q2`. There is a letter in it: digits alone would be the
 * number of a turn.
 */
export function randomId(runtime: Runtime, length = 6): string {
  const bytes = runtime.random(length);
  const id = [...bytes].map((byte) => ALPHABET[byte % 32]).join("");
  const [first = 0] = bytes;
  return isTurnNumber(id) ? `${ALPHABET[DIGITS + (first % LETTERS)]}${id.slice(1)}` : id;
}

// Digests: git's object ids, and content hashes. Node's crypto in one place.

/** An object id as a file may claim it: nothing else ever becomes an argument of git. */
export const objectId: z.ZodMiniString = z.string().check(z.regex(/^[0-9a-f]{40}$/));

/** The git object id (SHA-1) of a blob with these bytes. */
export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.byteLength}\0`).update(bytes).digest("hex");
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** SHA-1 bytes, for UUIDv5. */
export function sha1Bytes(bytes: Uint8Array): Uint8Array {
  return createHash("sha1").update(bytes).digest();
}

/** A SHA-1 to be fed piece by piece; `copy()` gives what it is so far. */
export function contentHash(): Hash {
  return createHash("sha1");
}

/** Reads a template by its file name. */
export function readTemplate(name: string): Promise<string> {
  return readPackaged(join("templates", name));
}

/** Reads the script of pages. */
export function readPageScript(): Promise<string> {
  return readPackaged(join("dist", "browser", "page.js"));
}

async function readPackaged(path: string): Promise<string> {
  let folder = dirname(fileURLToPath(import.meta.url));
  // The bundle lies at another depth than the source: both stand beside package.json.
  for (;;) {
    try {
      return await readFile(join(folder, path), "utf8");
    } catch (error) {
      const parent = dirname(folder);
      if (parent === folder) throw error;
      folder = parent;
    }
  }
}

/**
 * Writes the file, replacing what is there; a new one has the mode that the user's umask gives. Throws `cannot_write`, or what
 * making the content throws, and leaves what was there.
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

// What jpg writes is a conversation's, and for its owner alone, as far as the store does not say otherwise. Programs that it
// starts for the user, and results in files that the user named, follow the user's own umask.

/** The umask that jpg was started with; null before it was changed. */
let userUmask: number | null = null;

/** From here on, files of this process and of the git it starts are for those whom a store is shared with, by its `core.sharedRepository`. */
export function setSharingUmask(sharing: string | undefined): void {
  userUmask ??= process.umask(0o077);
  process.umask(umaskFor(sharing, userUmask));
}

/** Does something at once, such as starting a program, under the user's own umask. */
export function withUserUmask<Value>(action: () => Value): Value {
  if (userUmask === null) return action();
  const own = process.umask(userUmask);
  try {
    return action();
  } finally {
    process.umask(own);
  }
}

/** Permission bits of a new file of the user's own. */
export function userFileMode(): number {
  return 0o666 & ~(userUmask ?? process.umask());
}

// Small files in the user's cache folder. They are only a help: one that cannot be read or written is as good as none, and
// what stands in one is checked by whoever reads it.

/** Reads a file, `name` relative to the cache folder; no fields when there is no JSON object in it. */
export async function readCacheFile(runtime: Runtime, name: string): Promise<Fields> {
  try {
    return fieldsOf(JSON.parse(await readFile(pathOf(runtime, name), "utf8")));
  } catch {
    return {}; // not there, not readable, or not written by jpg
  }
}

/** Writes a file at once. */
export async function writeCacheFile(runtime: Runtime, name: string, fields: Fields): Promise<void> {
  const path = pathOf(runtime, name);
  try {
    makeFolders(dirname(path));
    await replaceFile(path, `${JSON.stringify(fields)}\n`, { isCache: true });
  } catch {
    // A cache folder that is full or not the user's: what would be in it is worked out again next time.
  }
}

function pathOf({ env, home }: Runtime, name: string): string {
  return join(resolveUserPaths(env, home).cacheDir, name);
}
