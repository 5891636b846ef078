// Which blob `git fast-import` stores the next one as a delta of: always the one before, however little that saves, so that a
// record of a few lines comes to stand behind ten long pieces of a session, and whoever reads it inflates them all. git makes a
// blob that `cat-blob` prints the base instead: what shares nothing with a small one is stored whole.
import { createHash } from "node:crypto";

/** Told of all files in the order in which they are sent. */
export interface DeltaBase {
  /** The commands to send before a file; it may be a delta of files of its own commit that are not much longer. */
  before(bytes: Uint8Array, isFirstOfCommit: boolean): string;
}

/** A base of at most so many bytes costs a reader nothing. */
const SMALL_BYTES = 1024;
/** One from so many bytes on is not read for the sake of another file; printing a blob costs git some 50 µs. */
const LARGE_BYTES = 16 * 1024;
/** Within a commit, how many times as long as a file its base may be. */
const TIMES_LONGER = 4;

/** Creates the base of a stream, in which nothing was sent yet. */
export function createDeltaBase(): DeltaBase {
  let small: Uint8Array | null = null;
  let lastBytes = 0;
  return {
    before(bytes, isFirstOfCommit) {
      const isFar = isFirstOfCommit || bytes.length * TIMES_LONGER < lastBytes;
      const command = lastBytes >= LARGE_BYTES && isFar && small !== null ? `cat-blob ${blobId(small)}\n` : "";
      lastBytes = bytes.length;
      if (bytes.length <= SMALL_BYTES) small = bytes;
      return command;
    },
  };
}

/** The ids that `get-mark` printed, without the blobs that `cat-blob` printed between them. Both as bytes, one a character. */
export function parseMarks(answer: string): string[] {
  const ids: string[] = [];
  for (let at = 0; at < answer.length; ) {
    const end = answer.indexOf("\n", at);
    const line = answer.slice(at, end < 0 ? answer.length : end);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(line) ?? [];
    if (size === undefined) ids.push(line);
    at += line.length + 1 + (size === undefined ? 0 : Number(size) + 1);
  }
  return ids;
}

function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
