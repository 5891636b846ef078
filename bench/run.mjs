// npm run bench: measures what jpg must reach, as ratios within one run, and prints a table for each part when it ends. Exit code 1
// when a target is missed or a part failed, which stops no other. Options: --json, --only NAME[,NAME], --repetitions N (5),
// --no-build, --keep; of hindsight --hold-out and --write.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PARTS, resultFile } from "./part.mjs";
import { formatNumber, renderRows } from "./row.mjs";
import { createSandbox, openSandbox } from "./sandbox.mjs";

const PART = fileURLToPath(new URL("./part.mjs", import.meta.url));

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string" },
    repetitions: { type: "string", default: "5" },
    "no-build": { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    "hold-out": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});

/**
 * What is measured so far, in the order of the parts; and the process of the part that runs.
 * @type {{ dir: string, machine: object, rows: any[], failed: { part: string, error: string }[], running: { name: string, child: import("node:child_process").ChildProcess } | null }}
 */
const state = { dir: "", machine: {}, rows: [], failed: [], running: null };

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.once(signal, () => endBy(signal));
process.exitCode = await main();

async function main() {
  const repetitions = Number(values.repetitions);
  if (!Number.isInteger(repetitions) || repetitions < 1)
    throw new Error(`--repetitions ${values.repetitions} is no whole number from 1 on`);
  const chosen = values.only?.split(",") ?? Object.keys(PARTS);
  const unknown = chosen.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) throw new Error(`--only ${unknown} is none of ${Object.keys(PARTS).join(", ")}`);

  state.dir = createSandbox({ isBuilt: values["no-build"] });
  try {
    state.machine = { ...(await describeMachine(openSandbox(state.dir, "machine"))), repetitions };
    if (!values.json) console.log(`${renderMachine(state.machine)}\n`);
    for (const name of chosen) {
      console.error(`bench: ${name} …`);
      take(name, await runPart(name, { repetitions, holdOut: values["hold-out"], write: values.write }));
    }
  } finally {
    removeSandbox();
  }
  return report();
}

/** Runs a part in a process of its own, which leads a group: with it all ends that it started. */
async function runPart(name, options) {
  const args = [PART, name, state.dir, JSON.stringify(options)];
  // The tables that some parts print on their way are no result.
  const child = spawn(process.execPath, args, { stdio: ["ignore", 2, 2], detached: true });
  state.running = { name, child };
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (...ended) => resolve(ended));
  });
  state.running = null;
  const file = resultFile(state.dir, name);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  return { error: signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}` };
}

/** Keeps what came of a part, and prints it. */
function take(name, { rows = [], error }) {
  state.rows.push(...rows);
  if (error !== undefined) state.failed.push({ part: name, error });
  if (rows.length === 0) return;
  const text = `${renderRows(rows)}\n`;
  if (values.json) console.error(text);
  else console.log(text);
}

/** Prints what there is to say at the end. Gives the exit code. */
function report() {
  const { machine, rows, failed } = state;
  const loadAtEnd = loadavg().map(formatNumber).join(" ");
  if (values.json) console.log(JSON.stringify({ machine: { ...machine, loadAtEnd }, rows, failed }, null, 1));
  else console.log(renderMachine({ loadAtEnd }));
  for (const { name, detail } of rows.filter(({ result }) => result === "SKIPPED"))
    console.error(`bench: SKIPPED ${name}: ${detail}`);
  const missed = rows.filter(({ result }) => result === "miss");
  for (const { id, name, value, unit } of missed)
    console.error(`bench: missed ${id}: ${name}: ${formatNumber(value)} ${unit}`);
  for (const { part, error } of failed) console.error(`bench: failed ${part}: ${error}`);
  return missed.length === 0 && failed.length === 0 ? 0 : 1;
}

/** Ends the part that runs, leaves nothing behind, says what was measured, and ends as the signal asks. */
function endBy(signal) {
  if (state.running !== null) {
    const { name, child } = state.running;
    try {
      process.kill(-Number(child.pid), "SIGKILL");
    } catch {
      // It has just ended.
    }
    state.failed.push({ part: name, error: `it was ended by ${signal}` });
  }
  removeSandbox();
  report();
  process.kill(process.pid, signal);
}

function removeSandbox() {
  if (state.dir === "") return;
  if (values.keep) console.error(`bench: kept ${state.dir}`);
  else openSandbox(state.dir, "machine").dispose();
  state.dir = "";
}

async function describeMachine(sandbox) {
  const git = (await sandbox.run("git", ["--version"])).output.trim();
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return {
    node: process.versions.node,
    git: git.replace("git version ", ""),
    system: `${process.platform} ${release()}`,
    processors: `${cpus().length} × ${model}`,
    memory: `${formatNumber(totalmem() / 2 ** 30)} GiB`,
    loadAtStart: loadavg().map(formatNumber).join(" "),
  };
}

function renderMachine(machine) {
  return Object.entries(machine)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
