// npm run bench:once: runs every part of the benchmarks once with tiny made-up inputs, as many at a time as there are processors, and
// looks at no figure: that each comes to its end and gives its rows is all that is asked, so that nothing in them rots unseen. Exit
// code 1 when a part failed, which stops no other. Options: --only NAME[,NAME], --no-build.
import { closeSync, openSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { writeMadeCorpus } from "./made-corpus.mjs";
import { PARTS } from "./part.mjs";
import { chooseParts, startPart } from "./part-process.mjs";
import { ms } from "./row.mjs";
import { createSandbox, openSandbox } from "./sandbox.mjs";
import { TINY } from "./sizes.mjs";

/** A part that has not ended by then never will, milliseconds. */
const HANGS = 300_000;

const { values } = parseArgs({
  options: { only: { type: "string" }, "no-build": { type: "boolean", default: false } },
});
const left = chooseParts(values.only, Object.keys(PARTS));
const dir = createSandbox({ isBuilt: values["no-build"] });
const corpus = join(dir, "corpus");
/** @type {Set<import("./part-process.mjs").StartedPart>} */
const running = new Set();
/** @type {string[]} */
const failed = [];

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.once(signal, () => endBy(signal));
try {
  writeMadeCorpus(corpus);
  await Promise.all(Array.from({ length: availableParallelism() }, runParts));
} finally {
  openSandbox(dir, "machine").dispose();
}
for (const failure of failed) console.error(`bench: failed ${failure}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs one part after the other, until none is left. */
async function runParts() {
  for (let name = left.shift(); name !== undefined; name = left.shift()) await runOnce(name);
}

async function runOnce(name) {
  const log = join(dir, `${name}.log`);
  const start = performance.now();
  const output = openSync(log, "w");
  const part = startPart(dir, name, { options: { ...TINY[name], corpus }, output });
  closeSync(output);
  running.add(part);
  const timer = setTimeout(part.kill, HANGS);
  const { rows = [], error = problemOf(rows) } = await part.ended;
  clearTimeout(timer);
  running.delete(part);
  const lasted = performance.now() - start;
  const took = ms(lasted);
  if (error === undefined) {
    console.log(`bench: ${name}: ${rows.length} rows, ${took}`);
    return;
  }
  console.log(`${readFileSync(log, "utf8")}bench: ${name}: FAILED, ${took}`);
  failed.push(`${name}: ${lasted < HANGS ? inShort(error) : `it had not ended after ${took}`}`);
}

/** What is wrong with the rows of a part that ended well. */
function problemOf(rows) {
  if (rows.length === 0) return "it gave no rows";
  const skipped = rows.filter(isSkip);
  return skipped.length === 0 ? undefined : `it skipped ${skipped.map(({ id }) => id).join(", ")}`;
}

/** The first two lines of an error, which say what it is and of which file; the part printed the whole error. */
function inShort(error) {
  const lines = stripVTControlCharacters(error).split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .slice(0, 2)
    .join(" ");
}

function isSkip({ result }) {
  return result === "SKIPPED";
}

/** Ends the parts that run, leaves nothing behind, and ends as the signal asks. */
function endBy(signal) {
  for (const { kill } of running) kill();
  openSandbox(dir, "machine").dispose();
  process.kill(process.pid, signal);
}
