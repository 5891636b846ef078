// Looks for what the property tests miss: runs them again and again with fresh seeds until the time is up, and prints each failing
// case, shrunk, as a test to paste. Usage: npm run explore [-- --minutes N] [test files]; or npm run explore -- --inputs N [FORMATS], which
// has every format read N files with something wrong in them; or npm run explore -- --sequences N, which draws N sequences of the law of
// sharing, however long they take, and counts them. Exit code 1 when something was found.
import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findPropertyTests } from "./property-tests.mjs";
import { readyTest } from "./ready-test.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** Examples of a law that has the usual 100; others draw more by as much. */
const RUNS = 300;
/** A test may hold several laws; each ends by itself (test/helpers/seed.ts). */
const LONGEST_MS = 600_000;
const MUTATED_INPUTS = "test/formats/mutated-inputs.test.ts";
const LAW_OF_SHARING = ["test/app/share/clones-branches.test.ts", "test/app/share/clones-hidden.test.ts"];

const { values: options, positionals } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    inputs: { type: "string" },
    sequences: { type: "string" },
  },
  allowPositionals: true,
});
if (options.inputs !== undefined) {
  runOnce([MUTATED_INPUTS], { JPG_INPUTS: options.inputs, JPG_FORMATS: positionals.join(" ") });
}
if (options.sequences !== undefined) runOnce(LAW_OF_SHARING, { JPG_SEQUENCES: options.sequences });
const endsAt = Date.now() + Number(options.minutes) * 60_000;
const files = positionals.length > 0 ? positionals : findPropertyTests(ROOT);
const folder = mkdtempSync(join(tmpdir(), "jpg-explore-"));
const printed = new Set();
let rounds = 0;
try {
  while (Date.now() < endsAt) {
    const seed = randomInt(2 ** 31);
    console.log(`round ${++rounds}, seed ${seed}`);
    const found = join(folder, `${rounds}.jsonl`);
    const code = await runTests({ JPG_SEED: String(seed), JPG_RUNS: String(RUNS), JPG_FOUND: found });
    const entries = readFound(found);
    for (const entry of entries) printFound(entry);
    if (code !== 0 && entries.length === 0 && Date.now() < endsAt) {
      console.log("The tests fail by themselves: run them with `npx vitest run` first.");
      process.exit(1);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(printed.size === 0 ? `Nothing found in ${rounds} rounds.` : `${printed.size} properties failed.`);
process.exitCode = printed.size === 0 ? 0 : 1;

/** Runs tests that count for themselves what they draw, from a fresh seed, and ends as they end. */
function runOnce(files, env) {
  const seed = String(randomInt(2 ** 31));
  console.log(`seed ${seed}`);
  const words = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...files, "--disable-console-intercept"];
  const run = { cwd: ROOT, env: { ...process.env, JPG_SEED: seed, ...env }, stdio: "inherit" };
  process.exit(spawnSync(process.execPath, words, run).status ?? 1);
}

/** Resolves to the exit code when the round is over or the time is up. */
function runTests(env) {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const child = spawn(
    process.execPath,
    [vitest, "run", "--reporter=dot", "--silent=true", `--testTimeout=${LONGEST_MS}`, ...files],
    {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: "ignore",
    },
  );
  const timer = setTimeout(() => child.kill("SIGTERM"), Math.max(0, endsAt - Date.now()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

function readFound(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Prints the first case of each property. */
function printFound(found) {
  const key = `${found.file} ${found.test}`;
  if (printed.has(key)) return;
  printed.add(key);
  console.log(`\n${relative(ROOT, found.file)}\n\n${readyTest(readFileSync(found.file, "utf8"), found)}`);
}
