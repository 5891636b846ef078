// Compacts a conversation: load → plan → have the summary written if the plan needs one → append one commit with one compaction;
// a dry run stops after the plan. A pipeline that leaves the view too large goes on to a summary, in a commit of its own.
import { JpgError } from "../../core/errors.ts";
import { type ChosenStrategies, tokensOf } from "../../core/strategies/pipelines.ts";
import { chooseStrategies } from "../../core/strategies/strategy-list.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { NothingPlanned, PlannedCompaction } from "../plan/compact-plan.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CompactRequest } from "./compact-request.ts";
import { beginSeries, type CompactionSeries } from "./compaction-series.ts";

/** Stands beside the function that takes it. */
export type { CompactRequest };

/**
 * Compacts. Throws `summary_rejected` and what asking a model throws (kind `provider`), `interrupted`, `range_changed`,
 * `view_grows` when the view would grow and that is not forced, and planning errors; nothing is committed then. A pipeline that
 * has committed its own steps throws none of them: the report says what became of the summary behind them.
 */
export async function compact(workspace: Workspace, tree: BranchTree, request: CompactRequest): Promise<CompactReport> {
  const series = beginSeries(workspace, tree);
  const { report, planned } = await series.append(request);
  const limit = summaryLimit(planned, request.strategies);
  if (limit === null || report.tokens.after <= limit) return report;
  return goOnToSummary(series, { request, report, limit, bounds: planned.bounds });
}

/** Size above which the pipeline goes on to a summary, tokens; null when it never does. */
function summaryLimit(
  { windowTokens, config }: PlannedCompaction | NothingPlanned,
  strategies: ChosenStrategies | undefined,
): number | null {
  const above = strategies?.summarizeAbove;
  if (above === undefined) return null;
  return tokensOf(
    above === "threshold" ? { share: config.conversation.compaction.summarize_threshold } : above,
    windowTokens,
  );
}

interface Mechanical {
  readonly request: CompactRequest;
  /** What the mechanical steps came to. */
  readonly report: CompactReport;
  readonly limit: number;
  /** Of the range, before the steps made it mean another. */
  readonly bounds: PlannedCompaction["bounds"];
}

/**
 * The last tier: has a summary stand for the older turns. When that fails the mechanical steps stand, with a warning. Throws
 * `interrupted` where they committed nothing.
 */
async function goOnToSummary(series: CompactionSeries, done: Mechanical): Promise<CompactReport> {
  const { request, report, limit, bounds } = done;
  const { strategies, stubs: _, summaryFrom, ...rest } = request;
  const names = [...(strategies?.names ?? []), "summarize"];
  const isCommitted = report.commit !== null;
  const onward: CompactRequest = {
    ...rest,
    range: { ...rest.range, ...bounds, ...(summaryFrom === undefined ? {} : { from: summaryFrom }) },
    strategies: { uses: chooseStrategies(["summarize"]), names },
  };
  const start = `the view still has ${report.tokens.after} tokens, more than ${limit}`;
  const warned = (problem: string): CompactReport => ({
    ...report,
    warnings: [...report.warnings, `${start}: ${problem}`],
  });
  try {
    const { report: summary } = await series.append(onward);
    if (summary.compaction === null)
      return warned(`no summary, for ${summary.reason ?? "there is nothing to summarise"}`);
    const { planned_summary: planned } = summary;
    if (planned !== null) return { ...report, planned_summary: { ...planned, reason: start } };
    return isCommitted ? { ...report, further: summary } : summary;
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind === "internal" || error.kind === "repository") throw error;
    if (error.code === "interrupted" && !isCommitted) throw error;
    return { ...warned(withoutSummary(error)), summary_error: error.code };
  }
}

function withoutSummary({ code, message }: JpgError): string {
  const why = code === "interrupted" ? "it was interrupted." : message;
  return `no summary was made, the mechanical steps stand: ${why}`;
}
