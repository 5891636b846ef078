// Puts a few objects into a repository as files of their own, as git keeps what is new. Each appears whole and is on the disk
// when it does, whatever `core.fsync` says. One that is there already is put in its place again: its age begins anew, so that a
// `git gc` which runs meanwhile does not take it for something that nobody wants.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { makeFolders } from "../../files/make-folders.ts";
import { foldersOf, syncFile, syncFolders } from "../../files/sync-folders.ts";

/** An object that is not in the repository yet. */
export interface NewObject {
  /** 40 hex digits. */
  readonly oid: string;
  /** With git's head, deflated. */
  readonly deflated: Uint8Array;
}

/** Objects are never changed: nobody may write to them. Permission bits, before the umask. */
const READ_ONLY = 0o444;

/** Makes an object of its content. SHA-1. */
export function createObject(type: "blob" | "tree" | "commit", content: Uint8Array): NewObject {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { oid: createHash("sha1").update(whole).digest("hex"), deflated: deflateSync(whole, { level: 1 }) };
}

/** Puts objects in place, in the order given, once all are on the disk. Throws what the file system throws; what was put in place stays. */
export async function writeLooseObjects(gitDir: string, objects: Iterable<NewObject>): Promise<void> {
  const drafts: Draft[] = [];
  try {
    for (const object of objects) drafts.push(openDraft(gitDir, object));
    // All at once: the disk is waited for once, not for one after the other.
    await Promise.all(drafts.map(({ file }) => syncFile(file)));
    for (const { path, target } of drafts) renameSync(path, target);
    await syncFolders(foldersOf(drafts.map(({ target }) => target)));
  } finally {
    for (const { file, path } of drafts) {
      closeSync(file);
      rmSync(path, { force: true });
    }
  }
}

/** An object in a file that nobody knows yet. */
interface Draft {
  readonly file: number;
  readonly path: string;
  /** Where it is to stand. */
  readonly target: string;
}

function openDraft(gitDir: string, { oid, deflated }: NewObject): Draft {
  const folder = join(gitDir, "objects", oid.slice(0, 2));
  makeFolders(folder);
  // Git clears files of such names that a crash left.
  const path = join(folder, `tmp_obj_jpg_${process.pid}_${randomBytes(8).toString("hex")}`);
  const file = openSync(path, "wx", READ_ONLY);
  try {
    writeFileSync(file, deflated);
  } catch (error) {
    closeSync(file);
    rmSync(path, { force: true });
    throw error;
  }
  return { file, path, target: join(folder, oid.slice(2)) };
}
