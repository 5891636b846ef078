// One process of the planning benchmark: prints, as JSON, milliseconds of first calls (cold) and medians of later ones (warm).
// Arguments: the bundled library, the store, and what is called first, `view` or `plan`; after `plan` nothing is repeated.
import { pathToFileURL } from "node:url";
import { median } from "./measure.mjs";
import { createRuntime } from "./sandbox.mjs";

const WARM_ROUNDS = 9;
const [libraryPath = "", store = "", first = "view"] = process.argv.slice(2);
const {
  choosePipelines,
  coveredEvents,
  isNothing,
  loadBranchTree,
  loadView,
  lossReceipt,
  openWorkspace,
  planOnBranch,
} = await import(pathToFileURL(libraryPath).href);
const input = { range: {}, strategies: choosePipelines(["auto"]), force: true };

let planned;
const measured = {
  view: () => onStore((workspace, tree) => loadView(workspace.store, tree)),
  plan: () =>
    onStore(async (workspace, tree) => {
      planned = await planOnBranch(workspace, tree, input);
      if (isNothing(planned)) throw new Error(`nothing to plan: ${planned.nothing}`);
    }),
  receipt: () => lossReceipt({ raw: listRaw(planned), before: planned.before, after: planned.after }),
};
const order = first === "plan" ? ["plan", "view", "receipt"] : ["view", "plan", "receipt"];
const cold = {};
for (const name of order) cold[name] = await timed(measured[name]);
const warm = { view: [], plan: [], receipt: [] };
for (let round = 0; round < (first === "view" ? WARM_ROUNDS : 1); round++) {
  for (const name of Object.keys(warm)) warm[name].push(await timed(measured[name]));
}
console.log(
  JSON.stringify({
    turns: planned.turns.size,
    tokens: planned.tokens,
    cold,
    warm: Object.fromEntries(Object.entries(warm).map(([name, times]) => [name, median(times)])),
  }),
);

/** From nothing: a fresh store handle, its git process, the tree; then what is measured. */
async function onStore(run) {
  const workspace = await openWorkspace(createRuntime(process.env, store), { store });
  const branch = await workspace.store.readActiveBranch();
  await run(workspace, await loadBranchTree(workspace.store, branch, await workspace.store.readBranch(branch)));
  await workspace.close();
}

function listRaw({ plan, turns }) {
  return coveredEvents(plan.compaction, turns).map(({ event }) => event);
}

async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
