// How many examples a law draws. One that is dear or cheap has a number of its own; `npm run explore` raises all alike.

/** What fast-check draws where a law says nothing. */
const USUAL_RUNS = 100;

/**
 * Examples of a law that draws `own` in `npm test`: so many there, and while exploring more by as much as the others (JPG_RUNS for the
 * usual 100), or `explored`.
 */
export function runs(own: number, explored?: number): number {
  const { JPG_RUNS: usual } = process.env;
  return usual === undefined ? own : (explored ?? Math.ceil((own * Number(usual)) / USUAL_RUNS));
}

/**
 * How a law ends whose examples take seconds each: in `npm test` with the first failure, as it is; while exploring after so many
 * milliseconds, its failure shrunk.
 */
export function endOfLongLaw(
  longestMs: number,
): { readonly endOnFailure: true } | { readonly interruptAfterTimeLimit: number } {
  return process.env["JPG_RUNS"] === undefined ? { endOnFailure: true } : { interruptAfterTimeLimit: longestMs };
}
