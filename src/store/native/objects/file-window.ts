// A file read in windows: what lies close behind the last read is in memory already. A system call costs more than the few
// hundred bytes that most objects of a pack are.
import { readSync } from "node:fs";

/** Bytes read at once where a reader goes on from where it was. */
const WINDOW_BYTES = 256 * 1024;
/** Bytes read at once anywhere else. */
const PAGE_BYTES = 4096;

/** Reads an open file. */
export interface FileWindow {
  /** The `count` bytes at `at`, fewer at the end of the file; valid until the next call on any window. */
  read(at: number, count: number): Buffer;
}

/** For what is larger than a window, of all files: memory that is used already is much faster than new memory. */
let scratch = Buffer.alloc(0);

/** Creates a window on an open file, which the caller closes. */
export function createFileWindow(file: number): FileWindow {
  let memory = Buffer.alloc(0);
  let start = 0;
  let length = 0;
  const load = (at: number, count: number): void => {
    const goesOn = length > 0 && at >= start && at <= start + length + WINDOW_BYTES;
    // A tree stands before its commit, and blobs before their tree: who goes back a little comes forward again.
    const goesBack = length > 0 && at < start && at > start - WINDOW_BYTES / 2;
    const wanted = goesOn || goesBack ? WINDOW_BYTES : Math.max(count, PAGE_BYTES);
    if (memory.length < wanted) memory = Buffer.allocUnsafeSlow(wanted);
    start = goesBack ? Math.max(0, Math.min(at, at + count - WINDOW_BYTES / 2)) : at;
    length = readSync(file, memory, 0, wanted, start);
  };
  return {
    read(at, count) {
      if (count > WINDOW_BYTES) {
        if (scratch.length < count) scratch = Buffer.allocUnsafeSlow(count);
        return scratch.subarray(0, readSync(file, scratch, 0, count, at));
      }
      if (at < start || at + count > start + length) load(at, count);
      return memory.subarray(at - start, Math.min(at - start + count, length));
    },
  };
}
