// The only code with which jpg opens and replaces files of a store: it follows no link, and each file appears whole.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFile,
  writeFileSync,
} from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { codeOf, type JpgError, repositoryError } from "../core/errors.ts";
import { raiseSignal } from "../core/process-signals.ts";
import { shellWord } from "../core/safe-text.ts";
import { formatMark, markThisProcess, type ProcessMark, parseMark } from "./running-process.ts";

// Opening a file that may exist already in a store or its worktrees: a stranger may have put a link there to a file of the
// user's, or a pipe that blocks for ever. The file that was checked is the one that is read or appended to.

/** Whether to follow a link at the end of the path: only for git's own files, because git makes such links. */
interface LinkChoice {
  readonly followLink?: boolean;
}

/**
 * Opens a regular file for reading. Throws what the file system throws, `ELOOP` for a link, `EINVAL` for a folder, and
 * `store_unsafe` for a pipe or a device. The caller closes it.
 */
export function openOwnFile(path: string, { followLink = false }: LinkChoice = {}): number {
  if (!followLink) refuseLink(path);
  return requireFile(path, openSync(path, constants.O_RDONLY | NEVER_WAIT | (followLink ? 0 : constants.O_NOFOLLOW)));
}

/** Opens a regular file for appending, creating it if missing. Throws like `openOwnFile`; the caller closes it. */
function openForAppending(path: string, mode = 0o600): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  refuseLink(path);
  return requireFile(path, openSync(path, O_WRONLY | O_APPEND | O_CREAT | NEVER_WAIT | O_NOFOLLOW, mode));
}

/** Appends text to a regular file, creating it if missing. Throws like `openOwnFile`. */
export function appendToOwnFile(path: string, text: string, mode?: number): void {
  const file = openForAppending(path, mode);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/**
 * Throws `ELOOP` for a link where opening cannot: Windows has no O_NOFOLLOW. A link that is made between this and the opening is
 * followed; making one takes rights there that few have.
 */
function refuseLink(path: string): void {
  const canOpenRefuse = (constants as { readonly O_NOFOLLOW?: number }).O_NOFOLLOW !== undefined;
  if (canOpenRefuse || lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw Object.assign(new Error(`${path} is a link`), { code: "ELOOP", syscall: "open", path });
}

/** Opening a pipe would wait for its other end. */
const NEVER_WAIT = constants.O_NONBLOCK;

function requireFile(path: string, file: number): number {
  const found = fstatSync(file);
  if (found.isFile()) return file;
  closeSync(file);
  if (!found.isDirectory()) throw notAFile("Nothing is read", path);
  throw Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL", syscall: "open", path });
}

/** The error of a pipe, a socket or a device in place of a file; `notDone` = what jpg does not do, as a clause. */
export function notAFile(notDone: string, path: string): JpgError {
  return unsafeAt(`${notDone}: ${path} is neither a file nor a folder.`, path);
}

export function unsafeAt(message: string, path: string): JpgError {
  return repositoryError("store_unsafe", message, {
    hints: [
      `To see what it is: ls -l ${shellWord(path)}`,
      `To remove it, when you trust the rest of the store: rm ${shellWord(path)}`,
    ],
    data: { path },
  });
}

/** Whether an error says that a path, or a folder on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}

/** Reads a regular file. Throws like `openOwnFile`. */
export function readOwnFile(path: string, choice: LinkChoice = {}): Buffer {
  const file = openOwnFile(path, choice);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

export function readOwnText(path: string, choice: LinkChoice = {}): string {
  return readOwnFile(path, choice).toString("utf8");
}

/**
 * Reads a file as text; null when it, or a folder on the way, does not exist. For git's small files: synchronous, because the
 * thread pool costs many times what reading does.
 */
export async function readFileIfExists(path: string): Promise<string | null> {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    return isThere ? readOwnText(path, { followLink: true }) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return null;
    throw error;
  }
}

// The only code with which jpg writes a file: under a random name that must not exist, then renamed. Readers see the old content or
// the new, never a part, and a link or pipe that a stranger's tree put in the way is never written through. The name identifies
// the writer, so that drafts of killed processes can be found and cleared.

/** Permission bits of files and folders before the umask, which jpg sets by `umaskFor`. */
const FILE_MODE = 0o666;
const FOLDER_MODE = 0o777;
const PRIVATE_FOLDER_MODE = 0o700;
/** Shorter content is written synchronously: the thread pool costs many times what that does. Bytes or characters. */
const SMALL = 64 * 1024;
/** Errors of file systems without hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV"];
/** Prefix of drafts: hidden, because some are in the user's folders for a moment. */
const PREFIX = ".jpg-draft_";

interface FileMode {
  /** Permission bits before the umask. */
  readonly mode?: number;
  /** Whether the content can be computed again: then jpg does not wait for the disk. */
  readonly isCache?: boolean;
}

/** Content of a file, whole or in pieces that are produced while it is written. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** A file that is being written, under a name that no reader knows. */
export interface Draft {
  write(content: string | Uint8Array): Promise<void>;
  /** Renames it to the path; a link there is replaced, not followed. */
  moveTo(path: string): Promise<void>;
  /** Removes it, unless it was moved. */
  discard(): Promise<void>;
}

/** Replaces a file atomically. Throws what the file system throws; the old content then stays. */
export async function replaceFile(path: string, content: FileContent, options: FileMode = {}): Promise<void> {
  const draft = await openDraft(dirname(path), options);
  try {
    if (typeof content === "string" || content instanceof Uint8Array) await draft.write(content);
    else for await (const piece of content) await draft.write(piece);
    await draft.moveTo(path);
  } finally {
    await draft.discard();
  }
}

/** Creates a draft in a folder: the target's, or one that strangers' files never get into. */
export async function openDraft(folder: string, { mode = FILE_MODE, isCache = false }: FileMode = {}): Promise<Draft> {
  const path = await draftPath(join(folder, "file"));
  const file = openSync(path, "wx", mode);
  let [isOpen, isThere] = [true, true];
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    write: async (content) => {
      if (content.length <= SMALL) writeFileSync(file, content);
      else await writeLong(file, content);
    },
    moveTo: async (target) => {
      if (!isCache) await syncFile(file);
      close();
      await moveFile(path, target);
      isThere = false;
      if (!isCache) await syncFolders([dirname(target)]);
    },
    discard: async () => {
      close();
      if (isThere) rmSync(path, { force: true });
    },
  };
}

const writeLong = promisify(writeFile);

/** Creates a file unless something exists there, even a link; returns whether it did. The file appears with its content. */
export async function createFile(path: string, content: string): Promise<boolean> {
  const written = await draftPath(path);
  const options = { flag: "wx", mode: FILE_MODE };
  try {
    writeFileSync(written, content, options);
    linkOrWrite(written, path, () => writeFileSync(path, content, options));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(written, { force: true });
  }
}

function linkOrWrite(from: string, to: string, write: () => void): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.includes(codeOf(error))) throw error;
    write();
  }
}

/** Creates a folder of jpg's own inside an existing one. Throws `ENOTDIR` when something else, even a link, has its name. */
export async function makeOwnFolder(path: string): Promise<void> {
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  if (!lstatSync(path).isDirectory()) {
    throw Object.assign(new Error(`${path} is no folder`), { code: "ENOTDIR", syscall: "mkdir", path });
  }
}

/** Creates a temporary folder for this user alone. If this process is killed, the folder is cleared as drafts are. */
export async function makeDraftFolder(parent: string): Promise<string> {
  const path = await draftPath(join(parent, "folder"));
  mkdirSync(path, { mode: PRIVATE_FOLDER_MODE });
  return path;
}

/** Parses the writer of a draft from its name; null when the name is not a draft's. */
export function writerOfDraft(name: string): ProcessMark | null {
  return name.startsWith(PREFIX) ? parseMark(name.slice(PREFIX.length, name.lastIndexOf("_"))) : null;
}

/** Returns a new path for a draft, in the folder of a file. Its random part does not come from a Runtime: no result depends on it. */
export async function draftPath(path: string): Promise<string> {
  const mark = formatMark(await markThisProcess());
  return join(dirname(path), `${PREFIX}${mark}_${randomBytes(16).toString("hex")}`);
}

/** What Windows says of a file that another program has open. */
const IN_USE = ["EPERM", "EACCES", "EBUSY"];
/** Waits between attempts, milliseconds; in all 1.3 s. */
const WAITS_MS = [10, 20, 40, 80, 160, 320, 640];

interface RenameWorld {
  readonly platform: string;
  rename(from: string, to: string): void;
  wait(milliseconds: number): void;
}

const SYSTEM: RenameWorld = {
  platform: process.platform,
  rename: renameSync,
  wait: (milliseconds) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds),
};

/**
 * Renames a file over another. On Windows that fails while a program has either open, as search indexers and virus scanners do for
 * a moment: then it waits and tries again, for at most 1.3 s. Throws what the file system throws.
 */
export function renameFile(from: string, to: string, world: Partial<RenameWorld> = {}): void {
  const { platform, rename, wait } = { ...SYSTEM, ...world };
  for (const next of platform === "win32" ? WAITS_MS : []) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      if (!IN_USE.includes(codeOf(error))) throw error;
      wait(next);
    }
  }
  rename(from, to);
}

async function moveFile(path: string, target: string): Promise<void> {
  try {
    renameFile(path, target);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    const temporary = await draftPath(target);
    try {
      copyFileSync(path, temporary, constants.COPYFILE_EXCL);
      renameFile(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
    rmSync(path, { force: true });
  }
}

/** Waits until a file's content, or a folder's renames, are on the disk; takes a descriptor. */
export const syncFile: (file: number) => Promise<void> = promisify(fsync);

/** Errors of systems and file systems that do not sync folders, and of a folder that was just removed. */
const IGNORED_ERRORS = ["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOENT", "ENOTDIR", "ENOTSUP", "EPERM"];

/** Waits until renames into these folders are on the disk, once per folder. Throws what a failing disk throws. */
export async function syncFolders(paths: Iterable<string>): Promise<void> {
  await Promise.all([...new Set(paths)].map(syncFolder));
}

/** The folders of files that were just renamed, and their parents, which may be new too. */
export function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  return new Set([...paths].flatMap((path) => [dirname(path), dirname(dirname(path))]));
}

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await syncFile(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (!IGNORED_ERRORS.includes(codeOf(error))) throw error;
  }
}

// Creates a folder with its parents. Node's own `recursive` never ends where creating in an existing folder says ENOENT (/proc,
// a home that is not mounted), and blocks signals meanwhile.

/** Creates a folder and its missing parents. Throws what the file system throws; an existing folder is no error. */
export function makeFolders(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = path; !existsOrMade(at, mode); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) makeFolder(folder, mode);
}

/** Creates a folder unless it exists; false when its parent is missing. */
function existsOrMade(path: string, mode: number): boolean {
  try {
    makeFolder(path, mode);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" && dirname(path) !== path) return false;
    throw error;
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Milliseconds since a file, or a link itself, was written, by its file system's clock; 0 when unknown or gone. */
export async function fileAge(path: string): Promise<number> {
  const now = await draftPath(path);
  try {
    await (await open(now, "wx")).close();
    const [one, other] = await Promise.all([lstat(now), lstat(path)]);
    return Math.max(0, one.mtimeMs - other.mtimeMs);
  } catch {
    return 0;
  } finally {
    await rm(now, { force: true }).catch(() => undefined);
  }
}

/** The default of `core.sharedRepository`: files for the owner alone. */
export const PRIVATE = "0600";

/** The umask (permission bits that new files do not get) for a value of `core.sharedRepository`, from the user's own umask. */
export function umaskFor(sharing: string | undefined, userUmask: number): number {
  const value = (sharing ?? PRIVATE).toLowerCase();
  if (/^(umask|false|no|off|0+|)$/.test(value)) return userUmask;
  if (/^(group|true|yes|on|0*1)$/.test(value)) return userUmask & ~0o070;
  if (/^(all|world|everybody|0*2)$/.test(value)) return userUmask & ~0o075;
  const mode = /^[0-7]+$/.test(value) ? Number.parseInt(value, 8) & 0o666 : 0o600;
  // Who may read a file may enter a folder.
  return 0o777 & ~(mode | 0o700 | ((mode & 0o444) >> 2));
}

// Keeps a signal from ending this process in the middle of a critical section.

const ENDING = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Number of critical sections that are running; global because signals go to the process. */
let holders = 0;
const pendingSignals = new Set<NodeJS.Signals>();

/** Milliseconds that a signal waits at most. The next jpg repairs what is then left unfinished, as after a power cut. */
const LONGEST_MS = 1500;

function hold(signal: NodeJS.Signals): void {
  if (pendingSignals.size === 0) setTimeout(releaseSignals, LONGEST_MS).unref();
  pendingSignals.add(signal);
}

/**
 * Runs a critical section. A signal that would have ended the process ends it afterwards, or after 1.5 seconds, unless
 * something else listens for it.
 */
export async function holdSignals<T>(work: () => Promise<T>): Promise<T> {
  if (holders++ === 0) for (const signal of ENDING) process.on(signal, hold);
  try {
    return await work();
  } finally {
    // A pending signal is delivered when the event loop next polls: wait for that, or the signal is lost. Two rounds, because
    // the first may have polled already.
    await setImmediate();
    await setImmediate();
    if (--holders === 0) releaseSignals();
  }
}

function releaseSignals(): void {
  for (const signal of ENDING) process.off(signal, hold);
  for (const signal of pendingSignals) if (process.listenerCount(signal) === 0) raiseSignal(process, signal);
  pendingSignals.clear();
}
