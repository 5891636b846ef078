// Property tests draw the same examples in every run, so that a green one can be repeated: in `npm test` the first quarter of them,
// elsewhere all. `npm run explore` sets another seed and a file for what it finds.
import { appendFileSync } from "node:fs";
import fc, { type RunDetails } from "fast-check";
import { expect } from "vitest";
import { runs, USUAL_RUNS } from "./runs.ts";

/** What every run draws from; any number will do, as long as it stays. */
export const SEED = 20_261_122;

/** While exploring a dear law ends here, with what it drew until then: no more than tests may take. */
const LONGEST_MS = 40_000;

const { JPG_SEED: seed = String(SEED), JPG_RUNS: exploring, JPG_FOUND: found } = process.env;

fc.configureGlobal({
  seed: Number(seed),
  numRuns: runs(USUAL_RUNS),
  ...(exploring === undefined ? {} : { interruptAfterTimeLimit: LONGEST_MS }),
  ...(found === undefined ? {} : { reporter: (details: RunDetails<unknown>) => report(details, found) }),
});

/** Writes a failing case down, shrunk, and fails as fast-check does. */
function report(details: RunDetails<unknown>, file: string): void {
  if (!details.failed) return;
  const { testPath, currentTestName } = expect.getState();
  const values = Array.isArray(details.counterexample) ? details.counterexample : [];
  const entry = {
    file: testPath,
    test: currentTestName,
    seed: details.seed,
    path: details.counterexamplePath,
    values: values.map((value) => fc.stringify(value)),
  };
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
  throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
}
