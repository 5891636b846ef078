// What commits are made of, on its way to `git fast-import`: as text with the blobs in it while they are few; once they are
// many, blobs go into packs of their own and the text names them.
import type { GitSink } from "../git/git-sink.ts";
import { type BlobThread, startBlobThread } from "../packs/blob-thread.ts";
import { formatInlineFile, formatNamedFile } from "./fast-import-text.ts";

/** Takes the commands of commits in their order. */
export interface CommitFeed {
  /** The head of a commit. */
  startCommit(text: string): void;
  text(text: string): void;
  file(path: string, bytes: Uint8Array): void;
  /** Waits when too much was given: memory stays bounded. */
  settled(): Promise<void>;
  /** Sends what is left. */
  flush(): Promise<void>;
  /** To be called in any case, last. */
  close(): Promise<void>;
}

/** Fewer bytes than this are not worth a pack beside the one, or the loose objects, that git writes. */
const PACK_FROM_BYTES = 1024 * 1024;
/** What is sent to a pack before it is written and git is told of it; bytes before deflating. */
const PACK_BYTES = 32 * 1024 * 1024;

interface File {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A command, or a file; `starts` = it begins a commit. */
type Part = string | (File & { readonly starts: boolean });

/** Creates a feed into a running fast-import of the repository with that directory. */
export function createCommitFeed(sink: GitSink, gitDir: string): CommitFeed {
  let parts: Part[] = [];
  let bytes = 0;
  let thread: BlobThread | null = null;
  let starts = false;
  /** Commands, and the paths of files whose bytes went to the thread. */
  let packed: (string | { readonly path: string })[] = [];
  const pack = (to: BlobThread, part: Part): void => {
    if (typeof part !== "string") to.add(part.bytes, part.starts);
    packed.push(typeof part === "string" ? part : { path: part.path });
  };
  const flushPacked = async (from: BlobThread): Promise<void> => {
    const texts = packed;
    packed = [];
    bytes = 0;
    const oids = await from.flush();
    let next = 0;
    for (const text of texts)
      sink.text(typeof text === "string" ? text : formatNamedFile(text.path, oids[next++] ?? ""));
    if (sink.isFull()) await sink.drained();
  };
  return {
    startCommit(text) {
      starts = true;
      this.text(text);
    },
    text(text) {
      if (thread === null) parts.push(text);
      else pack(thread, text);
    },
    file(path, content) {
      bytes += content.length;
      const part = { path, bytes: content, starts };
      starts = false;
      if (thread === null) parts.push(part);
      else pack(thread, part);
    },
    async settled() {
      if (thread === null && bytes >= PACK_FROM_BYTES) {
        thread = startBlobThread(gitDir);
        for (const part of parts) pack(thread, part);
        parts = [];
      }
      if (thread === null) return;
      await thread.settled();
      if (bytes >= PACK_BYTES) await flushPacked(thread);
    },
    async flush() {
      if (thread !== null) return await flushPacked(thread);
      for (const part of parts) sendInline(sink, part);
      parts = [];
    },
    async close() {
      await thread?.close();
    },
  };
}

function sendInline(sink: GitSink, part: Part): void {
  if (typeof part === "string") sink.text(part);
  else {
    sink.text(formatInlineFile(part.path, part.bytes.length));
    sink.bytes(part.bytes);
    sink.text("\n");
  }
}
