// How many examples a law draws. One that is dear or cheap has a number of its own; `npm run explore` raises all alike.

/** What fast-check draws where a law says nothing. */
const USUAL_RUNS = 100;

/** Examples of a law that draws `own` in `npm test`: so many there, and while exploring more by as much as the others (JPG_RUNS for the usual 100). */
export function runs(own: number): number {
  const { JPG_RUNS: usual } = process.env;
  return usual === undefined ? own : Math.ceil((own * Number(usual)) / USUAL_RUNS);
}
