// Puts packs in place: each file appears as a whole, and is on the disk when it does.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolders } from "../files/make-folders.ts";
import { syncFolders } from "../files/sync-folders.ts";
import type { Pack } from "./pack-format.ts";

/** Puts a pack in place, its index last: that is what git looks for. One of the same name has the same content. */
export async function writePack(folder: string, { name, pack, index }: Pack): Promise<void> {
  makeFolders(folder);
  writeDurably(join(folder, `pack-${name}.pack`), pack);
  writeDurably(join(folder, `pack-${name}.idx`), index);
  await syncFolders([folder]);
}

/** Writes a read-only file as a whole or not at all, and waits until it is on the disk, as git does for packs. */
function writeDurably(path: string, chunks: readonly Uint8Array[]): void {
  // Git clears files of such names that a crash left.
  const temporary = join(dirname(path), `tmp_jpg_${process.pid}`);
  rmSync(temporary, { force: true });
  try {
    const file = openSync(temporary, "wx", 0o444);
    try {
      for (const chunk of chunks) writeWhole(file, chunk);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeWhole(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}
