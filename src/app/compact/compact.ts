// Compacts a conversation: load → plan → have the summary written if the plan needs one → append one commit with one compaction;
// a dry run stops after the plan. A pipeline that leaves the view too large goes on to a summary, in a commit of its own.

import { type ChosenStrategies, tokensOf } from "../../core/compact/strategies/pipelines.ts";
import { chooseStrategies } from "../../core/compact/strategies/strategy-list.ts";
import { hasRoomBehind } from "../../core/compact/summary-answer.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { NothingPlanned, PlannedCompaction } from "../plan/compact-plan.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CompactRequest } from "./compact-request.ts";
import { beginSeries, type CompactionSeries } from "./compaction-series.ts";

/** Stands beside the function that takes it. */
export type { CompactRequest };

/**
 * Compacts. Throws `summary_rejected` and what asking a model throws (kind `provider`), `interrupted`, `range_changed`, and
 * planning errors; nothing is committed then, nor where the view would grow and that is not forced. A pipeline that has committed its own steps throws none of them: the report says what became of the summary behind them.
 */
export function compact(workspace: Workspace, tree: BranchTree, request: CompactRequest): Promise<CompactReport> {
  return compactInSeries(beginSeries(workspace, tree), request);
}

/** The same, behind what the call has appended already. */
export async function compactInSeries(series: CompactionSeries, request: CompactRequest): Promise<CompactReport> {
  const { report, planned } = await series.append(request);
  const limit = summaryLimit(planned, request.strategies);
  if (limit === null || report.tokens.after <= limit) return report;
  return goOnToSummary(series, { request, report, limit, planned });
}

/** Size above which a summary comes behind the steps, tokens; null when none ever does. */
function summaryLimit(
  { windowTokens, config }: PlannedCompaction | NothingPlanned,
  strategies: ChosenStrategies | undefined,
): number | null {
  const above = strategies?.summarizeAbove;
  if (above === undefined) return null;
  if (above === "always") return ALWAYS;
  return tokensOf(
    above === "threshold" ? { share: config.conversation.compaction.summarize_threshold } : above,
    windowTokens,
  );
}

/** Every view is larger. */
const ALWAYS = -1;

interface Mechanical {
  readonly request: CompactRequest;
  /** What the mechanical steps came to. */
  readonly report: CompactReport;
  readonly limit: number;
  /** What was known before the steps: they make the range mean another. */
  readonly planned: Pick<PlannedCompaction, "bounds" | "live">;
}

/**
 * The last step: has a summary stand for the older turns. When that of a pipeline fails the mechanical steps stand, with a
 * warning. Throws what went wrong with one that was named, and `interrupted` where the steps committed nothing.
 */
async function goOnToSummary(series: CompactionSeries, done: Mechanical): Promise<CompactReport> {
  const { request, planned } = done;
  const { strategies, stubs: _, summaryFrom, ...rest } = request;
  const names = [...(strategies?.names ?? []), "summarize"];
  const onward: CompactRequest = {
    ...rest,
    range: {
      ...rest.range,
      ...planned.bounds,
      ...(summaryFrom !== undefined && hasRoomBehind(planned.live.applied, done.limit) && { from: summaryFrom }),
    },
    strategies: { uses: chooseStrategies(["summarize"]), names },
  };
  try {
    const { report: summary } = await series.append(onward);
    return withSummary(done, summary);
  } catch (error) {
    return outlive(done, error);
  }
}

/** Why a summary comes behind the steps. */
function reasonOf({ report, limit }: Mechanical): string {
  if (limit === ALWAYS) return "summarize was named, too";
  return `the view still has ${report.tokens.after} tokens, more than ${limit}`;
}

function warned(done: Mechanical, problem: string): CompactReport {
  return { ...done.report, warnings: [...done.report.warnings, `${reasonOf(done)}: ${problem}`] };
}

function withSummary(done: Mechanical, summary: CompactReport): CompactReport {
  const { report, limit } = done;
  if (summary.compaction === null) {
    const { reason = "there is nothing to summarise", hints = [] } = summary;
    return { ...warned(done, `no summary, because ${reason}`), hints: report.hints ?? hints };
  }
  const { planned_summary: planned } = summary;
  const isSecond = planned !== null && (limit !== ALWAYS || report.compaction !== null);
  const told = isSecond ? { ...summary, planned_summary: { ...planned, reason: reasonOf(done) } } : summary;
  return report.compaction === null ? told : { ...report, further: told };
}

/** What is left when a summary fails: the report of the steps. Throws where these committed nothing, and what was asked for by name. */
function outlive(done: Mechanical, error: unknown): CompactReport {
  if (!(error instanceof JpgError) || error.kind === "internal" || error.kind === "repository") throw error;
  const { report, limit } = done;
  const isNamed = limit === ALWAYS;
  const isInterrupted = error.code === "interrupted";
  if (report.commit === null && (isNamed || isInterrupted)) throw error;
  if (isNamed && !isInterrupted) throw withSteps(error, report);
  const why = isInterrupted ? "it was interrupted." : error.message;
  return {
    ...warned(done, `no summary was made, the mechanical steps stand: ${why}`),
    summary_error: error.code,
  };
}

/** The error of a summary that was named, with what stands all the same. */
function withSteps(
  { kind, code, message, hints, data, cause }: JpgError,
  { commit, compaction }: CompactReport,
): JpgError {
  return new JpgError(kind, code, message, {
    data: { ...data, committed: [commit] },
    cause,
    hints: [
      ...hints.filter((hint) => hint !== "Nothing was committed."),
      `The steps before the summary are committed and stay; \`jpg revert ${compaction?.id ?? ""}\` undoes them.`,
    ],
  });
}
