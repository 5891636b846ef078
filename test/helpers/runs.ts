// How many examples a law draws. One that is dear or cheap has a number of its own. `npm test` draws a quarter of them,
// `npm run test:slow` all, and `npm run explore` raises all alike.
import { inject } from "vitest";

/** What fast-check draws where a law says nothing. */
export const USUAL_RUNS = 100;

/** A quarter of a few is none: no law draws less in `npm test`, unless its own number is less. */
const FEWEST_RUNS = 5;

/**
 * Examples of a law that has `own`: so many; in `npm test`, which gives it one part of several (`parts`), so many fewer; and while
 * exploring more by as much as the others (JPG_RUNS for the usual 100), or `explored`.
 */
export function runs(own: number, explored?: number, parts: number = inject("partsOfExamples") ?? 1): number {
  const { JPG_RUNS: usual } = process.env;
  if (usual !== undefined) return explored ?? Math.ceil((own * Number(usual)) / USUAL_RUNS);
  return Math.min(own, Math.max(FEWEST_RUNS, Math.ceil(own / parts)));
}

/**
 * How a law ends whose examples take seconds each: in the suite with the first failure, as it is; while exploring after so many
 * milliseconds, its failure shrunk.
 */
export function endOfLongLaw(
  longestMs: number,
): { readonly endOnFailure: true } | { readonly interruptAfterTimeLimit: number } {
  return process.env["JPG_RUNS"] === undefined ? { endOnFailure: true } : { interruptAfterTimeLimit: longestMs };
}
