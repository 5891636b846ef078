// Compacts a conversation: load → plan → have the summary written if the plan needs one → append one commit with one compaction. A
// dry run stops after the plan. If a pipeline leaves the view too large, a summary follows in its own commit.
import { type ChosenStrategies, tokensOf } from "../../core/compact/strategies/pipelines.ts";
import { chooseStrategies } from "../../core/compact/strategies/strategy-list.ts";
import { hasRoomForSummary } from "../../core/compact/summary-answer.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type CompactionGroup, groupRange } from "../../core/conversation/group.ts";
import { project } from "../../core/conversation/projection.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { JpgError } from "../../core/errors.ts";
import type { CompactionEffect } from "../../store/compaction-body.ts";
import type { ConversationStore } from "../../store/store.ts";
import { loadCounted } from "../conversation/counted-view.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { type KnownTurns, loadShown } from "../conversation/view.ts";
import { type Workspace, withoutOverrides } from "../conversation/workspace.ts";
import { largestChanges } from "../diff/diff-hunks.ts";
import { type AppendedCompaction, appendCompaction } from "./append-compaction.ts";
import { type CompactReport, hiddenBy } from "./compact-report.ts";
import type { CompactRequest, Planned } from "./plan.ts";

/** Re-exported for callers of `compact`. */
export type { CompactRequest };

/**
 * Compacts a branch. Throws `summary_rejected` and other errors of asking a model (kind `provider`), `interrupted`,
 * `range_changed`, and planning errors. Nothing is committed then, nor if the view would grow and that is not forced. Once a
 * pipeline has committed its own steps, it throws none of these for the summary after them; the report says what happened.
 */
export function compact(workspace: Workspace, tree: BranchTree, request: CompactRequest): Promise<CompactReport> {
  return compactInSeries(beginSeries(workspace, tree), request);
}

/** Like `compact`, continuing a series. */
export async function compactInSeries(series: CompactionSeries, request: CompactRequest): Promise<CompactReport> {
  const { report, planned } = await series.append(request);
  const limit = summaryLimit(planned, request.strategies);
  if (limit === null || report.tokens.after <= limit) return report;
  return continueWithSummary(series, { request, report, limit, planned });
}

/** Returns the view size above which a summary follows the steps, tokens; null = never. */
function summaryLimit({ windowTokens, config }: Planned, strategies: ChosenStrategies | undefined): number | null {
  const above = strategies?.summarizeAbove;
  if (above === undefined) return null;
  if (above === "always") return ALWAYS;
  return tokensOf(
    above === "threshold" ? { share: config.conversation.compaction.summarize_threshold } : above,
    windowTokens,
  );
}

/** Less than the size of any view. */
const ALWAYS = -1;

interface MechanicalSteps {
  readonly request: CompactRequest;
  /** Report of the mechanical steps. */
  readonly report: CompactReport;
  readonly limit: number;
  /** As it was before the steps, which change what the range means. */
  readonly planned: Pick<Planned, "bounds" | "live">;
}

/**
 * Summarises the older turns as the last step. If a pipeline's summary fails, the mechanical steps stay, with a warning. Throws the
 * error of a summary that was asked for by name, and `interrupted` if the steps committed nothing.
 */
async function continueWithSummary(series: CompactionSeries, done: MechanicalSteps): Promise<CompactReport> {
  const { request, planned } = done;
  const { strategies, stubs: _, summaryFrom, ...rest } = request;
  const names = [...(strategies?.names ?? []), "summarize"];
  const next: CompactRequest = {
    ...rest,
    range: {
      ...rest.range,
      ...planned.bounds,
      ...(summaryFrom !== undefined && hasRoomForSummary(planned.live.applied, done.limit) && { from: summaryFrom }),
    },
    strategies: { uses: chooseStrategies(["summarize"]), names },
  };
  try {
    const { report: summary } = await series.append(next);
    return withSummary(done, summary);
  } catch (error) {
    return withoutSummary(done, error);
  }
}

/** Says why a summary follows the steps. */
function reasonOf({ report, limit }: MechanicalSteps): string {
  if (limit === ALWAYS) return "summarize was named, too";
  return `the view still has ${formatTokens(report.tokens.after)} tokens, more than ${formatTokens(limit)}`;
}

function withWarning(done: MechanicalSteps, problem: string): CompactReport {
  return { ...done.report, warnings: [...done.report.warnings, `${reasonOf(done)}: ${problem}`] };
}

function withSummary(done: MechanicalSteps, summary: CompactReport): CompactReport {
  const { report, limit } = done;
  if (summary.compaction === null) {
    const { reason = "there is nothing to summarise", hints = [] } = summary;
    return { ...withWarning(done, `no summary, because ${reason}`), hints: report.hints ?? hints };
  }
  const { planned_summary: planned } = summary;
  const isSecond = planned !== null && (limit !== ALWAYS || report.compaction !== null);
  const reported = isSecond ? { ...summary, planned_summary: { ...planned, reason: reasonOf(done) } } : summary;
  return report.compaction === null ? reported : { ...report, further: reported };
}

/**
 * Returns the report of the steps after a summary failed. Rethrows if the steps committed nothing, or the summary was asked for by
 * name.
 */
function withoutSummary(done: MechanicalSteps, error: unknown): CompactReport {
  if (!(error instanceof JpgError) || error.kind === "internal" || error.kind === "repository") throw error;
  const { report, limit } = done;
  const isNamed = limit === ALWAYS;
  const isInterrupted = error.code === "interrupted";
  if (report.commit === null && (isNamed || isInterrupted)) throw error;
  if (isNamed && !isInterrupted) throw withSteps(error, report);
  const why = isInterrupted ? "it was interrupted." : error.message;
  return {
    ...withWarning(done, `no summary was made, but the mechanical steps stay: ${why}`),
    summary_error: error.code,
  };
}

/** Adds the committed steps to the error of a summary that was asked for by name. */
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

// Several compactions of one command, each planned on the result of the previous one, also in a dry run. The call's settings are
// stored with the first that is committed; only that one may create a fork.

export interface CompactionSeries {
  /** Branch of the next compaction: the fork, once there is one. */
  readonly branch: string;
  /** Loads the branch as the previous compaction left it. */
  tree(): Promise<BranchTree>;
  /** Appends the next one, or plans it in a dry run. Throws like `appendCompaction`; the series can continue then. */
  append(request: CompactRequest): Promise<AppendedCompaction>;
}

/** Begins a series on a branch. */
export function beginSeries(workspace: Workspace, tree: BranchTree): CompactionSeries {
  let { branch } = tree;
  // Lazy, because after the last compaction nobody needs the tree.
  let load = (): Promise<BranchTree> => Promise.resolve(tree);
  let stepWorkspace = workspace;
  let isMade = false;
  return {
    get branch() {
      return branch;
    },
    tree: () => load(),
    async append(request) {
      const current = await load();
      const appended = await appendCompaction(stepWorkspace, current, isMade ? { ...request, fork: false } : request);
      const { branch: made, commit, compaction, planned_summary: summary } = appended.report;
      if (compaction === null) return appended;
      branch = made;
      isMade = true;
      if (commit === null) {
        const assumed = [...(current.assumed ?? []), summary === null ? compaction : withText(compaction)];
        load = () => Promise.resolve({ ...current, branch: made, assumed });
      } else {
        stepWorkspace = withoutOverrides(workspace);
        load = () => loadBranchTree(workspace.store, made, commit);
      }
      return appended;
    },
  };
}

/** Uses an empty text for a summary that a dry run does not have written. */
function withText(compaction: Compaction): Compaction {
  return { summary: { summary: "" }, ...compaction };
}

/** Computes the effect of a group of compactions on a branch that does not have them yet. Reads the turns of their ranges. */
export async function viewEffectOf(
  store: ConversationStore,
  tree: BranchTree,
  group: CompactionGroup,
): Promise<CompactionEffect> {
  const known: KnownTurns = new Map();
  const turnCount = tree.turnOids.length;
  const { view: before, live, meter } = await loadCounted(store, tree, known);
  const compactions = [...live.applied, ...group];
  const { from, to } = groupRange(group);
  const covered = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const turns = await loadShown(store, tree, { positions: covered, views: [live.applied, compactions], known });
  const after = project({ turnCount, turns, compactions });
  return {
    hidden: hiddenBy({ from_turn: from, to_turn: to }, { turns, before, after, meter }),
    changes: largestChanges({ before, after, meter }, new Set(group.map(({ id }) => id))),
  };
}
