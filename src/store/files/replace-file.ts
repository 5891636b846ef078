// The one way in which jpg writes a file. It is made anew, under a name that nobody can guess and only if nothing is there,
// then renamed: readers see the old content or the new, never a part, and whatever link or pipe a stranger's tree puts in
// the way is never written through. The name says who writes, so that what a killed process left can be told and cleared.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFile,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "../../core/errors.ts";
import { formatMark, markThisProcess, type ProcessMark, parseMark } from "./running-process.ts";
import { syncFile, syncFolders } from "./sync-folders.ts";

/** Permission bits of files and folders before the umask, which jpg sets so that a store is as private as it should be. */
const FILE_MODE = 0o666;
const FOLDER_MODE = 0o777;
const PRIVATE_FOLDER_MODE = 0o700;
/** What is shorter is written at once: a detour through the thread pool costs many times what that does. Bytes or characters. */
const SMALL = 64 * 1024;
/** Errors of file systems that know no hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV"];
/** What names of drafts begin with: hidden, because some stand in folders of the user's for a moment. */
const PREFIX = ".jpg-draft_";

/** How a file is made. */
export interface FileMode {
  /** Permission bits before the umask. */
  readonly mode?: number;
  /** Whether what it holds can be made anew: then the disk is not waited for. */
  readonly isCache?: boolean;
}

/** What is to stand in a file, whole or in pieces that are made while it is written. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** A file that is being written and that nobody knows yet. */
export interface Draft {
  /** Adds to it. */
  write(content: string | Uint8Array): Promise<void>;
  /** Puts it in place of what is there, of a link itself and not of what it points to. */
  moveTo(path: string): Promise<void>;
  /** Removes it, unless it was put in place. */
  discard(): Promise<void>;
}

/** Replaces a file. Throws what the file system throws, and leaves what was there. */
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

/** Begins a file in a folder that strangers' files never get into, or in the one where it is to stand. */
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

/** Makes a file unless something is there, a link for one; says whether it did. The file appears with its content. */
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

/** Makes a folder of jpg's own inside one that is there. Throws `ENOTDIR` when something else, a link too, has its name. */
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

/** Makes a folder that is there for a while only, for this user alone; what a killed process left of one is cleared as a draft is. */
export async function makeDraftFolder(parent: string): Promise<string> {
  const path = await draftPath(join(parent, "folder"));
  mkdirSync(path, { mode: PRIVATE_FOLDER_MODE });
  return path;
}

/** Tells who writes, or wrote, a draft by its name; null when the name is none of a draft. */
export function writerOfDraft(name: string): ProcessMark | null {
  return name.startsWith(PREFIX) ? parseMark(name.slice(PREFIX.length, name.lastIndexOf("_"))) : null;
}

/**
 * Names a draft beside a file. Of all that jpg does only this takes randomness without being handed it: no result depends
 * on it.
 */
export async function draftPath(path: string): Promise<string> {
  const mark = formatMark(await markThisProcess());
  return join(dirname(path), `${PREFIX}${mark}_${randomBytes(16).toString("hex")}`);
}

async function moveFile(path: string, target: string): Promise<void> {
  try {
    renameSync(path, target);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    const beside = await draftPath(target);
    try {
      copyFileSync(path, beside, constants.COPYFILE_EXCL);
      renameSync(beside, target);
    } finally {
      rmSync(beside, { force: true });
    }
    rmSync(path, { force: true });
  }
}
