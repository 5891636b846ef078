// Puts a few objects into a repository as files of their own, as git keeps what is new. Each appears whole and is on the disk
// when it does, whatever `core.fsync` says. One that is there already is put in its place again: its age begins anew, so that a
// `git gc` which runs meanwhile does not take it for something that nobody wants.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

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

/** Puts objects in place, in the order given. Throws what the file system throws; what was put in place stays. */
export function writeLooseObjects(gitDir: string, objects: Iterable<NewObject>): void {
  for (const { oid, deflated } of objects) {
    const folder = join(gitDir, "objects", oid.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    // Git clears files of such names that a crash left.
    const draft = join(folder, `tmp_obj_jpg_${process.pid}_${randomBytes(8).toString("hex")}`);
    try {
      writeDurably(draft, deflated);
      renameSync(draft, join(folder, oid.slice(2)));
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx", READ_ONLY);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
