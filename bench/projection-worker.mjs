// One process of the projection benchmark: prints, as JSON, the times of the first call (cold) and the medians of later ones
// (warm). Arguments: the bundled library, the store, the session file it holds.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { median } from "./measure.mjs";
import { activeTree, createRuntime } from "./sandbox.mjs";

const WARM_ROUNDS = 9;
const [libraryPath = "", store = "", file = ""] = process.argv.slice(2);
/** @type {import("./sandbox.mjs").Library} */
const { openWorkspace, loadBranchTree, loadTurns, loadView, planReading, project } = await import(
  pathToFileURL(libraryPath).href
);

const source = readFileSync(file, "utf8").split("\n");
const cold = { git: await timed(openView) };
const { input, texts } = await readInput();
const measured = {
  parse: () => timed(() => texts.map(parseLine)),
  source: () => timed(() => source.map(parseLine)),
  lines: () => timed(() => project(input)),
  git: () => timed(openView),
};
for (const name of ["parse", "source", "lines"]) cold[name] = await measured[name]();
const warm = { parse: [], source: [], lines: [], git: [] };
for (let round = 0; round < WARM_ROUNDS; round++) {
  for (const name of Object.keys(warm)) warm[name].push(await measured[name]());
}
console.log(
  JSON.stringify({
    turns: input.turnCount,
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0),
    sourceBytes: readFileSync(file).length,
    cold,
    warm: Object.fromEntries(Object.entries(warm).map(([name, times]) => [name, median(times)])),
  }),
);

/** From nothing to the view: a fresh store handle, its git process, the tree, the turns, the projection. */
async function openView() {
  const { workspace, tree } = await open();
  const loaded = await loadView(workspace.store, tree);
  await workspace.close();
  return { tree, loaded };
}

/** The event lines of all turns, also of those that a summary hides, and what projection takes. */
async function readInput() {
  const { tree, loaded } = await openView();
  const { workspace } = await open();
  const lines = [];
  for await (const bytes of workspace.store.readBlobs(tree.turnOids)) {
    lines.push(...Buffer.from(bytes).toString().split("\n").slice(0, -1));
  }
  const [turnCount, compactions] = [tree.turnOids.length, loaded.live.applied];
  const turns = await loadTurns(workspace.store, tree, planReading(turnCount, compactions));
  await workspace.close();
  return { texts: lines, input: { turnCount, turns, compactions } };
}

async function open() {
  const workspace = await openWorkspace(createRuntime(process.env, store), { store });
  return { workspace, tree: await activeTree(loadBranchTree, workspace) };
}

function parseLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null; // real sessions end in an empty line, and have one now and then that is no JSON
  }
}

async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
