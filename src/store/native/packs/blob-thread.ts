// A blob packer in a thread of its own, so that the next commits are prepared meanwhile. Blobs go over in segments of shared
// memory that are used again: what is on its way never takes more than a few of them.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { createBlobPacker } from "./blob-pack.ts";
import { packError } from "./pack-error.ts";
import { removeUnfinished } from "./write-pack.ts";

/** What the thread is given: the blobs of a segment, one after the other, or the order to write the pack. */
export type BlobRequest =
  | {
      readonly segment: SharedArrayBuffer;
      readonly blobs: readonly { readonly bytes: number; readonly starts: boolean }[];
    }
  | { readonly flush: true };

/** What it answers to each, in order: the segment is free again, or the ids of the blobs in the pack. */
export type BlobAnswer = { readonly segment: SharedArrayBuffer } | { readonly oids: readonly string[] };

/**
 * The packer as its users see it; see `BlobPacker`. Waiting throws `disk_full`, `store_not_writable`, `pack_not_written`; then
 * there is nothing left to do but to close it.
 */
export interface BlobThread {
  /** Copies the blob. */
  add(bytes: Uint8Array, starts: boolean): void;
  /** Waits until the thread is not far behind. */
  settled(): Promise<void>;
  flush(): Promise<readonly string[]>;
  /** Ends the thread, whatever it does, and leaves no unfinished file. */
  close(): Promise<void>;
}

/** A larger blob has a segment to itself. */
const SEGMENT_BYTES = 1024 * 1024;
/** Segments that may be on their way. */
const AHEAD = 3;

/** Starts a packer for the repository with that directory; where no built thread file lies beside, it runs in this thread. */
export function startBlobThread(gitDir: string): BlobThread {
  const file = new URL("../store/blob-worker.js", import.meta.url);
  return existsSync(fileURLToPath(file)) ? startWorker(file, gitDir) : runHere(gitDir);
}

function runHere(gitDir: string): BlobThread {
  const packer = createBlobPacker(gitDir);
  return {
    add: packer.add,
    settled: () => Promise.resolve(),
    flush: async () => {
      try {
        return packer.flush();
      } catch (cause) {
        throw packError(gitDir, cause);
      }
    },
    close: () => Promise.resolve(),
  };
}

function startWorker(file: URL, gitDir: string): BlobThread {
  // What it makes is short-lived and lies outside the heap: a small one is cleared often enough to keep that little.
  const worker = new Worker(file, {
    workerData: gitDir,
    resourceLimits: { maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  });
  const { threadId } = worker;
  const free: SharedArrayBuffer[] = [];
  let waiting: { readonly resolve: (answer: BlobAnswer) => void; readonly reject: (cause: unknown) => void }[] = [];
  let sent: Promise<BlobAnswer>[] = [];
  let segment: SharedArrayBuffer | null = null;
  let blobs: { readonly bytes: number; readonly starts: boolean }[] = [];
  let used = 0;
  worker.on("message", (answer: BlobAnswer) => {
    if ("segment" in answer && answer.segment.byteLength === SEGMENT_BYTES) free.push(answer.segment);
    waiting.shift()?.resolve(answer);
  });
  let failure: { readonly cause: unknown } | null = null;
  const fail = (reason: unknown): void => {
    failure ??= { cause: packError(gitDir, reason) };
    for (const { reject } of waiting) reject(failure.cause);
    waiting = [];
  };
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the thread that packs blobs ended early")));
  const send = (request: BlobRequest): Promise<BlobAnswer> => {
    const answer = new Promise<BlobAnswer>((resolve, reject) => waiting.push({ resolve, reject }));
    answer.catch(() => undefined); // reported by whoever waits for it
    if (failure === null) worker.postMessage(request);
    else waiting.pop()?.reject(failure.cause);
    return answer;
  };
  const sendSegment = (): void => {
    if (segment !== null) sent.push(send({ segment, blobs }));
    segment = null;
    blobs = [];
    used = 0;
  };
  return {
    add(bytes, starts) {
      if (segment !== null && used + bytes.length > segment.byteLength) sendSegment();
      segment ??=
        bytes.length > SEGMENT_BYTES
          ? new SharedArrayBuffer(bytes.length)
          : (free.pop() ?? new SharedArrayBuffer(SEGMENT_BYTES));
      new Uint8Array(segment).set(bytes, used);
      blobs.push({ bytes: bytes.length, starts });
      used += bytes.length;
    },
    async settled() {
      while (sent.length > AHEAD) await sent.shift();
    },
    async flush() {
      sendSegment();
      const written = send({ flush: true });
      await Promise.all(sent);
      sent = [];
      const answer = await written;
      return "oids" in answer ? answer.oids : [];
    },
    async close() {
      await worker.terminate();
      removeUnfinished(gitDir, threadId);
    },
  };
}
