// Compacts the history of a chat: what is older than the newest messages becomes one summary, injected as a request, or loses its
// reasoning and tool calls. Load → find the end (pure) → `compact`; a preview asks no model.
import { KEEP_RECENT, keepMessages, LEAST_MESSAGES } from "../../core/compact/compaction-request.ts";
import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { planOmissions } from "../../core/compact/tangents.ts";
import { callFacts, isWriting } from "../../core/compact/tool-call.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { TurnRange, View } from "../../core/conversation/event.ts";
import type { Policies } from "../../core/conversation/policy.ts";
import { boundAt, type RangeBound } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import { countMessages } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadCompactions, loadTurns, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { type CompactionSeries, compact } from "./compact.ts";
import type { CompactReport, NothingReport } from "./compact-report.ts";
import type { CompactRequest } from "./plan.ts";

export interface HistoryRequest {
  /**
   * Newest messages that stay, 0 or more; absent = 15, but at most half of a short conversation. Whole turns stay, so there may be
   * a few more.
   */
  readonly keep?: number;
  /** What happens to the older ones; default `summary`. `strip` asks no model. */
  readonly as?: "summary" | "strip";
  /** Compact even if there are too few messages for a summary. */
  readonly anyway?: boolean;
  /** Summary model as `provider/model`; absent = as configured, else jpg chooses. */
  readonly model?: string;
  /** Plan only: no model is asked, nothing is committed. */
  readonly preview: boolean;
  /** Tools that the chat's requests offer. */
  readonly tools?: readonly ToolDefinition[];
  /** Aborts the writing of the summary; nothing is committed then. */
  readonly signal?: AbortSignal;
  /** Receives progress, a line at a time; not yet safe for a terminal. */
  readonly progress?: (text: string) => void;
}

export type HistoryOutcome =
  /** Too few messages for a summary; `keep` of them would stay. */
  | { readonly kind: "too_short"; readonly messages: number; readonly keep: number }
  /** Nothing is older than what stays; `reason` says why, for people. */
  | ({ readonly kind: "nothing"; readonly reason: string } & NothingReport)
  | {
      readonly kind: "compacted" | "stripped" | "planned";
      /** Messages of the range. */
      readonly messages: number;
      readonly report: CompactReport;
    };

/** Compacts the history, or plans it. Throws the errors of `compact`; nothing is committed then. */
export async function compactHistory(
  workspace: Workspace,
  tree: BranchTree,
  request: HistoryRequest,
): Promise<HistoryOutcome> {
  const { as = "summary", anyway = as === "strip", preview, keep } = request;
  const { view } = await loadView(workspace.store, tree);
  const { messages } = countMessages(view);
  if (messages < LEAST_MESSAGES && !anyway) return { kind: "too_short", messages, keep: keptOfFew(messages) };
  const to = endOf(view, messages, keep);
  if (to === null && as === "summary")
    return { kind: "nothing", reason: `the newest ${keep ?? KEEP_RECENT} of ${messages} messages stay` };
  const report = await compact(workspace, tree, {
    ...optionsOf(request),
    style: isWork(view) ? "sections" : "concise",
    range: to === null ? {} : { to },
    policies: as === "strip" ? STRIPPED : { summary: { policy: "summarize" } },
  });
  if (report.compaction === null) {
    const { reason = "nothing in the range changes", hints = [] } = report;
    return { kind: "nothing", reason, hints };
  }
  const count = report.compaction.stats?.original_message_count ?? 0;
  return { kind: preview ? "planned" : as === "strip" ? "stripped" : "compacted", messages: count, report };
}

const STRIPPED: Policies = { reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } };

/** Returns how many messages of a short conversation stay. */
function keptOfFew(messages: number): number {
  return Math.min(KEEP_RECENT, Math.floor(messages / 2));
}

/** Returns where the compaction ends. Without a number from the user, keeps fewer turns rather than finding nothing to do. */
function endOf(view: View, messages: number, keep: number | undefined): RangeBound | null {
  if (keep !== undefined) return keepMessages(view, keep);
  for (let kept = messages < LEAST_MESSAGES ? keptOfFew(messages) : KEEP_RECENT; kept > 0; kept--) {
    const to = keepMessages(view, kept);
    if (to !== null) return to;
  }
  return keepMessages(view, 0);
}

function optionsOf({ model, preview, tools, signal, progress }: HistoryRequest): Omit<CompactRequest, "range"> {
  return {
    inject: "request",
    source: "manual",
    dryRun: preview,
    activate: true,
    model,
    tools,
    signal,
    progress,
  };
}

/** Returns whether tools changed files or ran commands: then a summary needs its sections, else the gist is enough. */
function isWork({ turns }: View): boolean {
  return turns.some(({ events }) =>
    events.some((event) => {
      if (event.type !== "tool_call_request") return false;
      const { kind } = callFacts(event);
      return isWriting(kind) || kind === "shell";
    }),
  );
}

// Leaves turns out of the view by position, in as few compactions as possible: one, unless older compactions shorten what is
// between them (core/compact/tangents.ts).

interface OmitRequest extends Pick<CompactRequest, "dryRun" | "fork" | "activate" | "force"> {
  /** Runs of turns, 0-based, inclusive, ascending, not adjacent; not empty. */
  readonly runs: readonly TurnRange[];
}

/**
 * Leaves turns out, as the first compactions of a series; returns one report each, in order, usually one. Throws `bad_turns` for
 * turns that do not exist, and the errors of `compact`.
 */
export async function omitTurns(
  { store }: Pick<Workspace, "store">,
  series: CompactionSeries,
  { runs, ...request }: OmitRequest,
): Promise<readonly CompactReport[]> {
  const tree = await series.tree();
  requireTurns(runs, tree.turnOids.length);
  const [first, last] = [runs[0]?.from ?? 0, runs.at(-1)?.to ?? 0];
  const between = tree.turnOids
    .map((_, turn) => turn)
    .filter((turn) => turn > first && turn < last && !runs.some(({ from, to }) => turn >= from && turn <= to));
  const turns = await loadTurns(store, tree, between);
  const { applied: compactions } = await loadCompactions(store, tree);
  const reports: CompactReport[] = [];
  for (const { from, to, keep } of planOmissions(runs, { turns, compactions })) {
    const { report } = await series.append({
      ...request,
      range: { from: boundAt(from), to: boundAt(to) },
      strategies: choosePipelines([TANGENTS]),
      ...(keep.length === 0 ? {} : { keep }),
    });
    reports.push(report);
  }
  return reports;
}

function requireTurns(runs: readonly TurnRange[], turnCount: number): void {
  const missing = runs.filter(({ to }) => to >= turnCount).map(({ from }) => Math.max(from, turnCount));
  const [first] = missing;
  if (first === undefined) return;
  throw userError("bad_turns", `There is no turn ${first}: the last of ${turnCount} turns is turn ${turnCount - 1}.`, {
    data: { turn: first, turns: turnCount },
    hints: ["Turns are counted from 0; `jpg print` shows them."],
  });
}
