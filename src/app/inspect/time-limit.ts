// A pattern that a person typed, or a program wrote, may take longer over a text than anybody waits: it is ended in the middle.
import { createContext, runInContext } from "node:vm";
import { fieldsOf } from "../../core/conversation/event.ts";
import { userError } from "../../core/errors.ts";

/**
 * Looks for a pattern in a place, and ends that after so many milliseconds; undefined = it cannot take long. Nothing in `look` may
 * be asynchronous. Throws `slow_pattern`.
 */
export function endLatePattern<Found>(longestMs: number | undefined, place: string, look: () => Found): Found {
  if (longestMs === undefined) return look();
  try {
    return runInContext("look()", createContext({ look }), { timeout: longestMs }) as Found;
  } catch (error) {
    // It is an error of the other context: no instance of what is one here.
    if (fieldsOf(error)["code"] !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw userError(
      "slow_pattern",
      `The expression takes more than ${longestMs / 1000} s on ${place}, so it was stopped.`,
      {
        hints: [
          "Repetitions inside repetitions, such as (a+)+, take that long; without --regex a text is found at once.",
        ],
      },
    );
  }
}
