// Timing: medians of interleaved repetitions, so that what else the machine does meets every variant alike.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The middle value; of an even number the mean of the two in the middle. `values` is not empty. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs every variant once per round, in turns; with `warmUp` after a round that is not measured. A variant is a function that gives
 * its time in milliseconds, or nothing to have its call timed. Gives `{median, best}` in milliseconds by variant name.
 * @template {string} Name
 * @param {import("./sizes.mjs").Rounds} rounds
 * @param {Record<Name, (round: number) => unknown>} variants
 * @returns {Promise<Record<Name, { median: number, best: number }>>}
 */
export async function interleave({ measured, warmUp }, variants) {
  const names = /** @type {Name[]} */ (Object.keys(variants));
  const times = /** @type {Record<Name, number[]>} */ ({});
  for (const name of names) times[name] = [];
  for (let round = warmUp ? -1 : 0; round < measured; round++) {
    for (const name of names) {
      const start = performance.now();
      const own = await variants[name](round);
      if (round >= 0) times[name].push(typeof own === "number" ? own : performance.now() - start);
    }
  }
  const told = /** @type {Record<Name, { median: number, best: number }>} */ ({});
  for (const name of names) told[name] = { median: median(times[name]), best: Math.min(...times[name]) };
  return told;
}

/**
 * Runs a program with its output going to a file. Gives `{ms, output}`. Throws when it fails.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, scratch: string, input?: string }} options
 * @returns {Promise<any>}
 */
export async function runProgram(program, args, { cwd, env, scratch, input }) {
  const output = join(scratch, `output-${process.pid}`);
  const file = openSync(output, "w");
  const start = performance.now();
  try {
    const child = spawn(program, args, { cwd, env, stdio: [input === undefined ? "ignore" : "pipe", file, "pipe"] });
    child.stdin?.end(input);
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
    const ms = performance.now() - start;
    if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${stderr}`);
    const text = readFileSync(output, "utf8");
    return { ms, output: text };
  } finally {
    closeSync(file);
    rmSync(output, { force: true });
  }
}
