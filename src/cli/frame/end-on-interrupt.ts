// Work that Ctrl-C may end before anything is committed.
import { JpgError } from "../../core/errors.ts";
import { INTERRUPTED } from "./exit-code.ts";
import type { Output } from "./output.ts";
import { untilStopped } from "./until-stopped.ts";

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
