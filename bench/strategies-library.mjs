// What the benchmarks of the strategies call of the tree as it is, bundled as the command is.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const CORE = [
  'export { createBufferSource } from "./src/app/buffer-source.ts";',
  'export { findSubsumed } from "./src/app/subsumption.ts";',
  'export { isNothing } from "./src/core/bound-resolution.ts";',
  'export { CACHE_READ, CACHE_WRITE } from "./src/core/cache-receipt.ts";',
  'export { compareTimestamps } from "./src/core/compaction.ts";',
  'export { traitsOf } from "./src/core/event.ts";',
  'export { pinnedEvents } from "./src/core/pin.ts";',
  'export { planCompaction } from "./src/core/plan-compaction.ts";',
  'export { projectTurns } from "./src/core/projection.ts";',
  'export { definedTools } from "./src/core/strategies/defined-tools.ts";',
  'export { choosePipelines, MIN_GAIN_TOKENS, parseTarget, PROTECT_TOKENS } from "./src/core/strategies/pipelines.ts";',
  'export { STRATEGIES } from "./src/core/strategies/strategy-list.ts";',
  'export { estimateEvent } from "./src/core/token-estimate.ts";',
  'export { callFacts } from "./src/core/tools/call-facts.ts";',
  'export { listToolCalls } from "./src/core/tools/tool-call.ts";',
  'export { DEFAULT_TOOL_HINTS } from "./src/core/tools/tool-hints.ts";',
  'export { readClaudeSession } from "./src/formats/claude-code/import.ts";',
].join("\n");

const PLANNING = [
  'export { loadBranchTree } from "./src/app/branch-tree.ts";',
  'export { planOnBranch } from "./src/app/compact-plan.ts";',
  'export { coveredEvents } from "./src/app/covered-events.ts";',
  'export { loadView } from "./src/app/load-view.ts";',
  'export { openWorkspace } from "./src/app/workspace.ts";',
  'export { isNothing } from "./src/core/bound-resolution.ts";',
  'export { lossReceipt } from "./src/core/loss/receipt.ts";',
  'export { choosePipelines } from "./src/core/strategies/pipelines.ts";',
].join("\n");

/** Loads what plans and projects in memory. Its `count` gives an event's estimated tokens, each worked out once. */
export async function loadLibrary() {
  const folder = mkdtempSync(join(ROOT, "node_modules/.jpg-bench-"));
  try {
    const outfile = join(folder, "strategies.mjs");
    await bundle(CORE, outfile);
    const library = await import(pathToFileURL(outfile).href);
    return { ...library, count: remember(library.estimateEvent) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Bundles what strategies-worker.mjs needs to plan over a store. */
export function bundlePlanning(outfile) {
  return bundle(PLANNING, outfile);
}

async function bundle(exports, outfile) {
  await build({
    absWorkingDir: ROOT,
    stdin: { contents: exports, resolveDir: ROOT, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    banner: {
      js: 'import { createRequire as jpgCreateRequire } from "node:module"; const require = jpgCreateRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
}

function remember(count) {
  const known = new WeakMap();
  return (event) => {
    const tokens = known.get(event) ?? count(event);
    known.set(event, tokens);
    return tokens;
  };
}
