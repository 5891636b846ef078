// Work that Ctrl-C may end before anything is committed.
import { JpgError } from "../../core/errors.ts";
import { INTERRUPTED } from "./command.ts";
import type { Output } from "./output.ts";

/** Runs work with a signal that Ctrl-C aborts, and returns its exit code; 130 when it throws `interrupted`. */
export async function endOnInterrupt(
  output: Pick<Output, "error">,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  try {
    return await untilStopped(work);
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "interrupted") throw error;
    output.error(error);
    return INTERRUPTED;
  }
}

// Work that continues until somebody stops it: the first signal asks it to stop, the second one ends the process as usual.

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Runs work with a signal that Ctrl-C (SIGINT) and SIGTERM abort. */
export async function untilStopped<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const controller = new AbortController();
  const stop = (): void => {
    controller.abort();
    // Not at once: other handlers of this same signal end the process if they find no other listener.
    setImmediate(forget);
  };
  const forget = (): void => {
    for (const name of SIGNALS) process.off(name, stop);
  };
  for (const name of SIGNALS) process.on(name, stop);
  try {
    return await work(controller.signal);
  } finally {
    forget();
  }
}
