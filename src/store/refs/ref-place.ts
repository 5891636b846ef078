// A git dir as who reads and changes refs by their files sees it; its file system may be in memory.
import type * as nodeFs from "node:fs";
import { codeOf } from "../../core/errors.ts";
import { isMissing, readFileIfThere } from "../files/read-file.ts";
import type { Identity } from "../store-surroundings.ts";

/**
 * The calls of `node:fs` that refs and the embedded engine are made of; memfs has them, too. Refs are small files: a detour
 * through the thread pool costs many times what the call does.
 */
export interface FileSystem
  extends Pick<
    typeof nodeFs,
    | "appendFileSync"
    | "closeSync"
    | "fsync"
    | "mkdirSync"
    | "openSync"
    | "readdirSync"
    | "renameSync"
    | "rmdirSync"
    | "rmSync"
    | "statSync"
    | "writeFileSync"
  > {
  readonly promises: Pick<
    typeof nodeFs.promises,
    | "appendFile"
    | "lstat"
    | "mkdir"
    | "open"
    | "readdir"
    | "readFile"
    | "readlink"
    | "rename"
    | "rm"
    | "rmdir"
    | "stat"
    | "symlink"
    | "unlink"
    | "writeFile"
  >;
}

/** Where refs are. */
export interface RefPlace {
  readonly fs: FileSystem;
  /** The store's own worktree, absolute. */
  readonly root: string;
  /** The git dir that all worktrees share, absolute. */
  readonly gitDir: string;
  /** Whether git and other processes may work here, too: not so in memory. */
  readonly isOnDisk: boolean;
  /** Who commits are by, and who moves refs. */
  readonly identity: (role: "author" | "committer") => Promise<Identity>;
  readonly now: () => Date;
}

/** Reads a small file as text; null when it is not there. */
export async function readText(
  { fs, isOnDisk }: Pick<RefPlace, "fs" | "isOnDisk">,
  path: string,
): Promise<string | null> {
  if (isOnDisk) return await readFileIfThere(path);
  try {
    return (await fs.promises.readFile(path)).toString("utf8");
  } catch (error) {
    if (isMissing(error) || codeOf(error) === "EISDIR") return null;
    throw error;
  }
}
