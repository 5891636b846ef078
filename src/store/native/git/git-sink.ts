// Feeds a git process: many small texts become few writes, and the caller is told when git is behind, so that memory stays
// bounded.
import { once } from "node:events";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { GitPipe } from "./git-process.ts";

/** A stream of text and bytes into a git process. */
export interface GitSink {
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  isFull(): boolean;
  /** Waits until what was given is mostly written, or the process is gone. */
  drained(): Promise<void>;
  end(): Promise<void>;
}

const SMALL_BYTES = 64 * 1024;
/** How far the caller may run ahead of git: it prepares the next commits while git deflates these. Bytes. */
const AHEAD_BYTES = 4 * 1024 * 1024;

/** Creates a sink that collects small pieces into larger writes and tells when git is behind. */
export function createSink(pipe: GitPipe): GitSink {
  const { stdin } = pipe.child;
  let pending = "";
  let isBehind = false;
  const push = (chunk: string | Uint8Array): void => {
    if (!stdin.destroyed) isBehind = !stdin.write(chunk);
  };
  const flush = (): void => {
    if (pending !== "") push(pending);
    pending = "";
  };
  const gone = pipe.ended.then(
    () => undefined,
    () => undefined,
  );
  return {
    text(text) {
      pending += text;
      if (pending.length > SMALL_BYTES) flush();
    },
    bytes(bytes) {
      flush();
      push(bytes);
    },
    isFull: () => isBehind,
    async drained() {
      isBehind = false;
      // A turn of the event loop lets the pipe move; only a git that is far behind is waited for.
      if (stdin.writableLength < AHEAD_BYTES) return await turnOfLoop();
      const stop = new AbortController();
      const drain = once(stdin, "drain", { signal: stop.signal }).catch(() => undefined);
      if (!stdin.destroyed && stdin.writableNeedDrain) await Promise.race([drain, gone]);
      stop.abort();
    },
    async end() {
      flush();
      stdin.end();
      await gone;
    },
  };
}
