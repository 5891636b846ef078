// A program that goes on running while jpg talks with it over its standard input and output. However it ends, what it
// started ends with it, and nobody waits for it longer than the grace it is given.

import type { Readable, Writable } from "node:stream";
import { reasonOf } from "../../core/errors.ts";
import { endGroup, type GroupLeader, holdGroup } from "./process-group.ts";

/** A started program. */
export interface RunningProgram {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** How it ended; completes "the program …". Resolves when everything it wrote has been read. Never rejects. */
  readonly ended: Promise<string>;
  /** Closes its input, and ends it with everything that it started when it does not go by itself. Never rejects. */
  end(): Promise<void>;
}

/** A child process with pipes, leader of its own group. */
export interface PipedChild extends GroupLeader {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  on(event: "error", listener: (cause: Error) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
  on(event: "close", listener: (code: number | null, signal: string | null) => void): unknown;
}

/** How long a program has to go by itself once its input is closed, and then once it is told to; milliseconds. */
const GRACE_MS = 500;

/** Watches over a started program until it has ended. */
export function watchProgram(child: PipedChild): RunningProgram {
  const letGo = holdGroup(child);
  const ended = howItEnds(child).finally(letGo);
  // Writing to a program that has gone is told by how it ended.
  child.stdin.on("error", () => {});
  const hasEnded = (): Promise<boolean> => within(GRACE_MS, ended);
  return {
    input: child.stdin,
    output: child.stdout,
    errors: child.stderr,
    ended,
    async end() {
      child.stdin.end();
      if (await hasEnded()) return;
      endGroup(child, "SIGTERM");
      if (await hasEnded()) return;
      endGroup(child);
      // What left the group may hold the pipes open; it must not hold jpg.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      await hasEnded();
    },
  };
}

function howItEnds(child: PipedChild): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (cause) => resolve(`could not be started: ${reasonOf(cause)}`));
    // What it leaves behind would keep the pipes open.
    child.on("exit", () => endGroup(child));
    child.on("close", (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    );
  });
}

function within(waitMs: number, ended: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  return Promise.race([ended.then(() => true), late]).finally(() => clearTimeout(timer));
}
