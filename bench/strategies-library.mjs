// What the benchmarks of the strategies call of the tree as it is, bundled as the command is.
import { bundle, loadBundle } from "./sandbox.mjs";

const CORE = [
  'export { createBufferSource } from "./src/app/sessions/buffer-source.ts";',
  'export { findSubsumed } from "./src/app/plan/subsumption.ts";',
  'export { isNothing } from "./src/core/range/bound-resolution.ts";',
  'export { CACHE_READ, CACHE_WRITE } from "./src/core/tokens/cache-receipt.ts";',
  'export { compareTimestamps } from "./src/core/compaction/compaction.ts";',
  'export { traitsOf } from "./src/core/event/event.ts";',
  'export { pinnedEvents } from "./src/core/compaction/pin.ts";',
  'export { planCompaction } from "./src/core/plan/plan-compaction.ts";',
  'export { projectTurns } from "./src/core/projection/projection.ts";',
  'export { definedTools } from "./src/core/strategies/defined-tools.ts";',
  'export { choosePipelines, MIN_GAIN_TOKENS, parseTarget, PROTECT_TOKENS } from "./src/core/strategies/pipelines.ts";',
  'export { STRATEGIES } from "./src/core/strategies/strategy-list.ts";',
  'export { estimateEvent } from "./src/core/tokens/token-estimate.ts";',
  'export { callFacts } from "./src/core/tools/call-facts.ts";',
  'export { listToolCalls } from "./src/core/tools/tool-call.ts";',
  'export { DEFAULT_TOOL_HINTS } from "./src/core/tools/tool-hints.ts";',
  'export { readClaudeSession } from "./src/formats/claude-code/import.ts";',
].join("\n");

const PLANNING = [
  'export { loadBranchTree } from "./src/app/branch/branch-tree.ts";',
  'export { planOnBranch } from "./src/app/plan/compact-plan.ts";',
  'export { coveredEvents } from "./src/app/branch/covered-events.ts";',
  'export { loadView } from "./src/app/branch/load-view.ts";',
  'export { openWorkspace } from "./src/app/workspace/workspace.ts";',
  'export { isNothing } from "./src/core/range/bound-resolution.ts";',
  'export { lossReceipt } from "./src/core/loss/receipt.ts";',
  'export { choosePipelines } from "./src/core/strategies/pipelines.ts";',
].join("\n");

/** Loads what plans and projects in memory. Its `count` gives an event's estimated tokens, each worked out once. */
export async function loadLibrary() {
  const library = await loadBundle(CORE);
  return { ...library, count: remember(library.estimateEvent) };
}

/** Bundles what strategies-worker.mjs needs to plan over a store. */
export function bundlePlanning(outfile) {
  return bundle(PLANNING, outfile);
}

function remember(count) {
  const known = new WeakMap();
  return (event) => {
    const tokens = known.get(event) ?? count(event);
    known.set(event, tokens);
    return tokens;
  };
}
