// The file system as isomorphic-git is given it: what it writes, which is only objects, is written under another name, brought
// to the disk and renamed. Its own writing leaves half an object behind when it is interrupted, which then counts as whole.
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { foldersOf, syncFolders } from "../files/sync-folders.ts";
import type { FileSystem } from "../refs/ref-place.ts";

/** Names that git itself clears from folders of objects (`git gc`). */
const DRAFT = "tmp_obj_jpg_";
/** Objects are never changed: what may be read stays. Permission bits. */
const READABLE = 0o444;

/** Gives a file system of the same content whose `writeFile` makes a file whole or not at all. */
export function withSafeWrites({ promises: files }: Pick<FileSystem, "promises">): Pick<FileSystem, "promises"> {
  return {
    promises: {
      ...bound(files),
      writeFile: async (path, content) => {
        const target = String(path);
        const draft = join(dirname(target), `${DRAFT}${process.pid}_${randomBytes(8).toString("hex")}`);
        const file = await files.open(draft, "wx");
        try {
          await file.writeFile(content as Uint8Array);
          await file.chmod((await file.stat()).mode & READABLE);
          await file.sync();
        } finally {
          await file.close();
        }
        await files.rename(draft, target).catch(async (error: unknown) => {
          await files.rm(draft, { force: true });
          throw error;
        });
        await syncFolders(foldersOf([target]));
      },
    },
  };
}

/** Calls that keep their object; isomorphic-git takes them off it. */
function bound(files: FileSystem["promises"]): FileSystem["promises"] {
  return {
    appendFile: files.appendFile.bind(files),
    lstat: files.lstat.bind(files),
    mkdir: files.mkdir.bind(files),
    open: files.open.bind(files),
    readdir: files.readdir.bind(files),
    readFile: files.readFile.bind(files),
    readlink: files.readlink.bind(files),
    rename: files.rename.bind(files),
    rm: files.rm.bind(files),
    rmdir: files.rmdir.bind(files),
    stat: files.stat.bind(files),
    symlink: files.symlink.bind(files),
    unlink: files.unlink.bind(files),
    writeFile: files.writeFile.bind(files),
  };
}
