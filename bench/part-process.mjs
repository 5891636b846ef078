// A part in a process of its own (part.mjs), as whoever runs the parts starts it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { resultFile } from "./part.mjs";

const PART = fileURLToPath(new URL("./part.mjs", import.meta.url));

/** @typedef {ReturnType<typeof startPart>} StartedPart */

/**
 * Starts a part, which leads a group of processes. What it prints, which is no result, goes to the file descriptor `output`.
 * `kill` ends it with all that it started; `ended` gives what came of it.
 * @param {string} dir the sandbox
 * @param {string} name
 * @param {{ options: object, output: number }} how
 */
export function startPart(dir, name, { options, output }) {
  const args = [PART, name, dir, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", output, output], detached: true });
  /** @type {Promise<{ rows?: any[], error?: string }>} */
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const file = resultFile(dir, name);
      if (existsSync(file)) resolve(JSON.parse(readFileSync(file, "utf8")));
      else resolve({ error: signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}` });
    });
  });
  const kill = () => {
    try {
      process.kill(-Number(child.pid), "SIGKILL");
    } catch {
      // It has just ended.
    }
  };
  return { name, ended, kill };
}

/** The parts that `words`, as in `--only start,growth`, name; all of them without. */
export function chooseParts(words, all) {
  const chosen = words?.split(",") ?? all;
  const unknown = chosen.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown} is none of ${all.join(", ")}`);
  return chosen;
}
