// What planning `auto` and computing its receipt cost on the largest session, against its projection in the same process. Run by
// itself, this file is that process.
import { rmSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median } from "./measure.mjs";
import { createRow, ms } from "./row.mjs";
import { activeTree, createRuntime } from "./sandbox.mjs";

const WORKER = fileURLToPath(import.meta.url);
const WARM_ROUNDS = 9;

/** Measures planning over a session as it was imported, and with the agent's compactions taken back. */
export async function benchPlanning(sandbox, { path, compactions }, { runs }) {
  const library = await sandbox.libraryFile();
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, path, "--quiet"]);
  const imported = await measure(sandbox, [library, store, "view"], runs);
  if (compactions.length > 0) await sandbox.jpg(["revert", "--store", store, ...compactions.map(({ id }) => id)]);
  const viewFirst = await measure(sandbox, [library, store, "view"], runs);
  const planFirst = await measure(sandbox, [library, store, "plan"], runs);
  rmSync(store, { recursive: true });
  return [
    createRow("plan", "planning auto over a 4 MB session ÷ its projection from git", {
      ...share(viewFirst, ["warm", "plan"], viewFirst),
      limit: { atMost: 2 },
    }),
    createRow("plan-receipt", "the loss receipt of it ÷ the same projection", {
      ...share(viewFirst, ["warm", "receipt"], viewFirst),
      limit: { atMost: 3 },
    }),
    createRow("plan-cold", "planning, both as the first call of a process", {
      ...share(planFirst, ["cold", "plan"], viewFirst),
    }),
    createRow("plan-receipt-cold", "the receipt, the first of a process ÷ the first projection of one", {
      ...share(viewFirst, ["cold", "receipt"], viewFirst),
    }),
    createRow("plan-imported", "planning under the agent's own compactions ÷ that projection", {
      ...share(imported, ["warm", "plan"], imported),
    }),
    createRow("plan-imported-receipt", "the receipt of that ÷ that projection", {
      ...share(imported, ["warm", "receipt"], imported),
    }),
  ];
}

async function measure(sandbox, args, count) {
  const runs = [];
  for (let run = 0; run < count; run++) {
    const { output } = await sandbox.run(process.execPath, [WORKER, ...args]);
    runs.push(JSON.parse(output));
  }
  return runs;
}

/** A measurement over the projection in the same state; medians over the processes. */
function share(runs, [state, what], over) {
  const time = median(runs.map((run) => run[state][what]));
  const view = median(over.map((run) => run[state].view));
  const { turns, tokens } = runs[0];
  return { value: time / view, detail: `${ms(time)} ÷ ${ms(view)}; ${turns} turns read, ${tokens.before} tokens` };
}

/**
 * Milliseconds of first calls (cold) and medians of later ones (warm). `libraryPath` is the bundle; `first` = what is called
 * first, `view` or `plan`; after `plan` nothing is repeated.
 */
async function measureHere(libraryPath, store, first) {
  /** @type {import("./sandbox.mjs").Library} */
  const library = await import(pathToFileURL(libraryPath).href);
  const input = { range: {}, strategies: library.choosePipelines(["auto"]), force: true };

  /** @type {any} */
  let planned;
  const measured = {
    view: () => onStore(library, store, (workspace, tree) => library.loadView(workspace.store, tree)),
    plan: () =>
      onStore(library, store, async (workspace, tree) => {
        planned = await library.planOnBranch(workspace, tree, input);
        if (library.isNothing(planned)) throw new Error(`nothing to plan: ${planned.nothing}`);
      }),
    receipt: () =>
      library.lossReceipt({ raw: listRaw(library, planned), before: planned.before, after: planned.after }),
  };
  const order = first === "plan" ? ["plan", "view", "receipt"] : ["view", "plan", "receipt"];
  const cold = {};
  for (const name of order) cold[name] = await timed(measured[name]);
  const warm = { view: [], plan: [], receipt: [] };
  for (let round = 0; round < (first === "view" ? WARM_ROUNDS : 1); round++) {
    for (const name of Object.keys(warm)) warm[name].push(await timed(measured[name]));
  }
  return {
    turns: planned.turns.size,
    tokens: planned.tokens,
    cold,
    warm: Object.fromEntries(Object.entries(warm).map(([name, times]) => [name, median(times)])),
  };
}

/**
 * From nothing: a fresh store handle, its git process, the tree; then what is measured.
 * @param {import("./sandbox.mjs").Library} library
 */
async function onStore({ openWorkspace, loadBranchTree }, store, run) {
  const workspace = await openWorkspace(createRuntime(process.env, store), { store });
  await run(workspace, await activeTree(loadBranchTree, workspace));
  await workspace.close();
}

/** @param {import("./sandbox.mjs").Library} library */
function listRaw({ coveredEvents }, { plan, turns }) {
  return coveredEvents(plan.compaction, turns).map(({ event }) => event);
}

async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

if (process.argv[1] === WORKER)
  console.log(JSON.stringify(await measureHere(process.argv[2], process.argv[3], process.argv[4])));
