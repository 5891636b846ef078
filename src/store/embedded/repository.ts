// A repository as the embedded engine sees it: a git dir in a file system, which may be in memory, and what its parts share.

import type { promises } from "node:fs";
import { codeOf } from "../../core/errors.ts";
import type { ObjectFiles } from "../native/objects/object-files.ts";
import { readFileIfThere } from "../native/refs/ref-reader.ts";
import type { Identity } from "../store-surroundings.ts";

/** The calls of `node:fs` that the engine is made of; memfs has them, too. */
export interface FileSystem {
  readonly promises: Pick<
    typeof promises,
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

/** Where the engine works. */
export interface EmbeddedRepository {
  readonly fs: FileSystem;
  /** The store's own worktree, absolute. */
  readonly root: string;
  /** The git dir that all worktrees share, absolute. */
  readonly gitDir: string;
  readonly isBare: boolean;
  /** Whether git and other processes may work here, too: not so in memory. */
  readonly isOnDisk: boolean;
  /** Reads objects before isomorphic-git is asked: on a disk as the native engine does. */
  readonly files: Omit<ObjectFiles, "size">;
  /** What isomorphic-git keeps of packs that only it can read. */
  readonly cache: object;
  /** Who commits are by, and who moves refs. */
  readonly identity: (role: "author" | "committer") => Promise<Identity>;
  /** Whether the user's git signs commits. */
  readonly signs: () => Promise<boolean>;
  readonly now: () => Date;
}

/** Reads a small file as text; null when it is not there. */
export async function readText(
  { fs, isOnDisk }: Pick<EmbeddedRepository, "fs" | "isOnDisk">,
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

/** Whether a path, or a folder on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}
