// npm run bench: measures what jpg must reach, as ratios within one run, and prints a table for each part when it ends. Exit code 1
// when a target is missed or a part failed, which stops no other. Options: --json, --only NAME[,NAME], --repetitions N (5),
// --no-build, --keep; of hindsight --hold-out and --write.
import { cpus, loadavg, release, totalmem } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PARTS } from "./part.mjs";
import { chooseParts, startPart } from "./part-process.mjs";
import { formatNumber, renderRows } from "./row.mjs";
import { createSandbox, openSandbox } from "./sandbox.mjs";
import { fullSizes } from "./sizes.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

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
 * What is measured so far, in the order of the parts; and the part that runs.
 * @type {{ dir: string, machine: object, rows: any[], failed: { part: string, error: string }[], running: import("./part-process.mjs").StartedPart | null }}
 */
const state = { dir: "", machine: {}, rows: [], failed: [], running: null };

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.once(signal, () => endBy(signal));
process.exitCode = await main();

async function main() {
  const repetitions = Number(values.repetitions);
  if (!Number.isInteger(repetitions) || repetitions < 1)
    throw new Error(`--repetitions ${values.repetitions} is no whole number from 1 on`);
  const chosen = chooseParts(values.only, Object.keys(PARTS));
  const common = { corpus: findCorpus(), holdOut: values["hold-out"], write: values.write };
  const sizes = fullSizes(repetitions);

  state.dir = createSandbox({ isBuilt: values["no-build"] });
  try {
    state.machine = { ...(await describeMachine(openSandbox(state.dir, "machine"))), repetitions };
    if (!values.json) console.log(`${renderMachine(state.machine)}\n`);
    for (const name of chosen) {
      console.error(`bench: ${name} …`);
      state.running = startPart(state.dir, name, { options: { ...sizes[name], ...common }, output: 2 });
      const result = await state.running.ended;
      state.running = null;
      take(name, result);
    }
  } finally {
    removeSandbox();
  }
  return report();
}

/** The folder of real sessions: the one that JPG_CORPUS names, or `corpus` below it. */
function findCorpus() {
  const named = resolve(ROOT, process.env.JPG_CORPUS ?? "../shared");
  return basename(named) === "corpus" ? named : join(named, "corpus");
}

/**
 * Keeps what came of a part, and prints it.
 * @param {string} name
 * @param {{ rows?: any[], error?: string }} result
 */
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
    state.running.kill();
    state.failed.push({ part: state.running.name, error: `it was ended by ${signal}` });
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
