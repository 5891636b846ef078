// What the benchmarks call of the tree, in this process: bundled as the command is (sandbox.mjs), and compiled with the rest, so
// that what moves or is called otherwise is known before somebody measures.

export { planOnBranch } from "../src/app/compact/plan.ts";
export { findSubsumed } from "../src/app/compact/subsumption.ts";
export { coveredEvents } from "../src/app/conversation/covers.ts";
export { refreshViews } from "../src/app/conversation/refresh-view.ts";
export { loadBranchTree } from "../src/app/conversation/tree.ts";
export { loadTurns, loadView } from "../src/app/conversation/view.ts";
export { openWorkspace } from "../src/app/conversation/workspace.ts";
export { createBufferSource } from "../src/app/sessions/sources.ts";
export { extractSummary } from "../src/core/compact/extract.ts";
export { checkGrounding } from "../src/core/compact/grounding.ts";
export { planCompaction } from "../src/core/compact/plan.ts";
export { lossReceipt } from "../src/core/compact/receipt.ts";
export {
  choosePipelines,
  MIN_GAIN_TOKENS,
  PROTECT_TOKENS,
  parseTarget,
} from "../src/core/compact/strategies/pipelines.ts";
export { STRATEGIES } from "../src/core/compact/strategies/strategy-list.ts";
export { callFacts, listToolCalls } from "../src/core/compact/tool-call.ts";
export { DEFAULT_TOOL_HINTS } from "../src/core/compact/tool-hints.ts";
export { isNothing } from "../src/core/conversation/bound-resolution.ts";
export { compareTimestamps } from "../src/core/conversation/compaction.ts";
export { planReading } from "../src/core/conversation/covered-range.ts";
export { toolsDefinedIn } from "../src/core/conversation/defined-tools.ts";
export { traitsOf } from "../src/core/conversation/event.ts";
export { pinnedEvents } from "../src/core/conversation/marks.ts";
export { project, projectTurns } from "../src/core/conversation/projection.ts";
export { estimateEvent, estimateEvents } from "../src/core/conversation/token-estimate.ts";
export { turnPath } from "../src/core/conversation/turn-file.ts";
export { CACHE_READ, CACHE_WRITE } from "../src/core/model/cache-cost.ts";
export { fitLine, recordedRequests, requestSizes } from "../src/core/model/calibration.ts";
export { isCounted, listAnswers, sizeOf, turnFacts } from "../src/core/model/usage.ts";
export { readClaudeSession } from "../src/formats/claude-code/agent.ts";
