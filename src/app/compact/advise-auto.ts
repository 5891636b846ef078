// A poor trade of the default profile: says what `-s auto` would leave instead. The default profile treats all calls alike, so a
// conversation that is mostly text, or was compacted before, hardly gets smaller by it.
import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { type Workspace, withoutOverrides } from "../conversation/workspace.ts";
import { type CompactRequest, compact } from "./compact.ts";
import { type CompactReport, isPoorTrade } from "./compact-report.ts";

interface Compacted {
  readonly report: CompactReport;
  readonly request: CompactRequest;
}

/**
 * Adds a warning to the report of a poor trade that nobody chose: what `-s auto` would leave. Nothing is added where that is no better.
 * `tree` = the branch as it was before.
 */
export async function adviseAuto(
  workspace: Workspace,
  tree: BranchTree,
  { report, request }: Compacted,
): Promise<CompactReport> {
  if (!isDefault(request) || !isPoorTrade(report)) return report;
  const { range, index } = request;
  const strategies = choosePipelines(["auto"]);
  const other = await compact(withoutOverrides(workspace), tree, {
    range,
    index,
    strategies,
    dryRun: true,
    fork: false,
  });
  const left = (other.further ?? other).tokens.after;
  if (other.compaction === null || left >= report.tokens.after) return report;
  const auto = `\`jpg compact -s auto\` would leave ${formatTokens(left)} tokens`;
  const trade = report.compaction === null ? "" : `a poor trade (${formatTokens(report.tokens.after)} are left): `;
  return { ...report, warnings: [...report.warnings, `${trade}${auto}`] };
}

/** Whether the default profile was used, and nobody named it. */
function isDefault({ strategies, profile, policies, summary }: CompactRequest): boolean {
  return strategies === undefined && profile === undefined && policies === undefined && summary === undefined;
}
