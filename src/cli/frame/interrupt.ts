// Work that Ctrl-C may end before anything is committed.
import { JpgError } from "../../core/errors.ts";
import { INTERRUPTED } from "./command.ts";
import type { Output } from "./output.ts";

/** Runs work with a signal that Ctrl-C sets off, and gives its exit code; 130 when it throws `interrupted`. */
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

// Work that goes on until somebody ends it: the first signal asks it to stop, the second one ends the process as ever.

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Runs work with a signal that Ctrl-C (SIGINT) and SIGTERM set off. */
export async function untilStopped<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const controller = new AbortController();
  const stop = (): void => {
    controller.abort();
    // Not at once: others who hear this very signal end the process when nobody else seems to listen.
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
