// Progressive compaction: summarises a long range part by part, one commit each, every part from raw events. A later summary over
// several parts reads the raw events again, so that nothing is summarised twice. Committed parts stay when a later one fails.

import { groupTurns } from "../../core/compact/event-ledger.ts";
import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { cutEvenParts, cutParts, splitAtSummaries, type TurnPart } from "../../core/compact/turn-parts.ts";
import { formatTurnRange, type Turn } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { boundAt } from "../../core/conversation/range-bound.ts";
import { estimateEvents } from "../../core/conversation/token-estimate.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { coveredEvents } from "../conversation/covers.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { beginSeries } from "./compact.ts";
import type { CompactReport, NothingReport, TokenChange } from "./compact-report.ts";
import { type CompactRequest, isNothingPlanned, type PlannedCompaction, planOnBranch } from "./plan.ts";

export interface PartsRequest extends Omit<CompactRequest, "summary" | "expects" | "policies"> {
  readonly chunks: PartCount;
}

/** The report of a compaction in parts, or of its dry run. */
export interface PartsReport extends NothingReport {
  readonly conversation: string;
  readonly branch: string;
  readonly dryRun: boolean;
  /** One per part that was summarised, or would be, in order; empty when there was nothing to compact. */
  readonly parts: readonly CompactReport[];
  /** Tokens of the view before the first part and after the last one. */
  readonly tokens: TokenChange;
  /** What the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Summarises a range in parts. Without a start it continues after the last live summary. Throws `chunks_need_summary`, and the
 * errors of `compact`; an error after the first commit says which parts stay and how to continue.
 */
export async function compactInParts(
  workspace: Workspace,
  tree: BranchTree,
  request: PartsRequest,
): Promise<PartsReport> {
  const { chunks: count, ...asked } = request;
  const rules = await rulesOf(workspace, tree, asked);
  const input: CompactRequest = { ...asked, ...rules, range: partsRange(asked) };
  const planned = await planOnBranch(workspace, tree, input);
  const start = { conversation: conversationOf(tree.branch), branch: tree.branch, dryRun: request.dryRun === true };
  if (isNothingPlanned(planned)) {
    const {
      plan: { nothing: reason, hints = [] },
      tokens,
      problems: warnings,
    } = planned;
    return { ...start, parts: [], reason, hints, tokens, warnings };
  }
  const cuts = planParts(planned, count);
  const done = await compactEach(workspace, tree, { input, cuts });
  const last = done.parts.at(-1);
  return {
    ...start,
    ...done,
    branch: last?.branch ?? tree.branch,
    ...(last === undefined ? { reason: "no part would become shorter" } : {}),
    tokens: { before: planned.tokens.before, after: last?.tokens.after ?? planned.tokens.before },
  };
}

interface Work {
  readonly input: CompactRequest;
  readonly cuts: readonly TurnPart[];
}

type Done = Pick<PartsReport, "parts" | "warnings">;

async function compactEach(workspace: Workspace, tree: BranchTree, { input, cuts }: Work): Promise<Done> {
  const parts: CompactReport[] = [];
  const warnings: string[] = [];
  const series = beginSeries(workspace, tree);
  for (const [at, cut] of cuts.entries()) {
    input.progress?.(`part ${at + 1} of ${cuts.length}: turns ${rangeText(cut)}`);
    const request: CompactRequest = {
      ...input,
      range: { from: boundAt(cut.from_turn, cut.from_event), to: boundAt(cut.to_turn, cut.to_event) },
    };
    try {
      const { report } = await series.append(request);
      if (report.compaction !== null) parts.push(report);
      else warnings.push(`not summarised: turns ${rangeText(cut)}, ${report.reason ?? "nothing to compact"}`);
    } catch (error) {
      if (!isTooLong(error))
        throw partError(error, { done: parts, left: cuts.slice(at), branch: series.branch, input });
      warnings.push(`not summarised: turns ${rangeText(cut)}, a summary would be longer`);
    }
  }
  return { parts, warnings };
}

/** Returns whether a part has too little to shorten: it stays unchanged, and the other parts are still done. */
function isTooLong(error: unknown): boolean {
  if (!(error instanceof JpgError)) return false;
  return error.code === "summary_rejected" && error.data["reason"] === "inflated";
}

interface Interruption {
  readonly done: readonly CompactReport[];
  /** Parts that were not summarised, the failed one first. */
  readonly left: readonly TurnPart[];
  readonly branch: string;
  readonly input: CompactRequest;
}

/** Creates the error of a failed part, with the parts that stay and what to type to continue. */
function partError(error: unknown, { done, left, branch, input }: Interruption): unknown {
  const [failed, last] = [left[0], left.at(-1)];
  const isDone = done.length > 0 && !input.dryRun;
  if (!(error instanceof JpgError) || !isDone || failed === undefined || last === undefined) return error;
  const { kind, code, message, hints, data, cause } = error;
  const made = done.map(({ from_turn, to_turn }) => formatTurnRange({ from: from_turn ?? 0, to: to_turn ?? 0 }));
  const profile = input.profile === undefined ? "" : ` --profile ${input.profile}`;
  const model = input.model === undefined ? "" : ` --model ${input.model}`;
  const bounds = `--from ${endText(failed.from_turn, failed.from_event)} --to ${endText(last.to_turn, last.to_event)}`;
  return new JpgError(kind, code, `Turns ${rangeText(failed)} were not summarised: ${message}`, {
    data: { ...data, committed: done.map(({ commit }) => commit) },
    cause,
    hints: [
      `The parts before are committed and stay: turns ${made.join(", ")}.`,
      `To continue: jpg compact ${branch} --chunks auto${profile}${model} ${bounds}`,
      ...hints.filter((hint) => hint !== "Nothing was committed."),
    ],
  });
}

function endText(turn: number, event: string | undefined): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

function rangeText({ from_turn, from_event, to_turn, to_event }: TurnPart): string {
  const [from, to] = [endText(from_turn, from_event), endText(to_turn, to_event)];
  return from === to ? from : `${from}..${to}`;
}

/** About how many parts; `auto`: cut at natural boundaries of the conversation. */
export type PartCount = number | "auto";

/**
 * Returns the strategy to summarise, unless a profile or strategies are named. Throws `chunks_need_summary` if those write no
 * summary.
 */
async function rulesOf(
  workspace: Workspace,
  tree: BranchTree,
  { profile, strategies }: CompactRequest,
): Promise<Pick<CompactRequest, "strategies">> {
  if (strategies !== undefined) {
    if (strategies.uses.some(({ strategy }) => strategy.summarizes === true)) return {};
    throw needsSummary(`The strategy ${strategies.names.join(", ")}`);
  }
  if (profile === undefined) return { strategies: choosePipelines(["summarize"]) };
  const { config } = await loadConversationConfig(workspace, tree);
  if (findProfile(profile, config.conversation.compaction.profiles).summary !== undefined) return {};
  throw needsSummary(`Profile ${profile}`);
}

function needsSummary(what: string): JpgError {
  return userError("chunks_need_summary", `${what} writes no summary, and only summaries can be made in parts.`, {
    hints: ["Leave --profile and --strategy out, or name a profile that summarises."],
  });
}

/** Begins after the last summary if no start is given, so that existing summaries stay. */
function partsRange({ range }: CompactRequest): CompactRequest["range"] {
  return { ...range, from: range.from ?? { type: "last_summary" } };
}

function planParts({ plan, turns, live, meter }: PlannedCompaction, count: PartCount): readonly TurnPart[] {
  const covered = groupTurns(coveredEvents(plan.compaction, turns));
  const stretches = splitAtSummaries(covered, live.applied);
  const total = sizeOf(covered);
  return stretches.flatMap((stretch) => {
    const parts =
      count === "auto"
        ? cutParts(stretch, { boundaries: "auto", estimate: meter.countEvent })
        : cutEvenParts(stretch, Math.max(1, Math.round((count * sizeOf(stretch)) / total)));
    return withOuterBounds(parts, stretch, turns);
  });
}

function sizeOf(turns: readonly Turn[]): number {
  return turns.reduce((tokens, { events }) => tokens + estimateEvents(events), 0);
}

/** Gives the first and the last part the bounds of the whole stretch; parts have only the bounds between them. */
function withOuterBounds(
  parts: readonly TurnPart[],
  stretch: readonly Turn[],
  turns: ReadonlyMap<number, Turn>,
): readonly TurnPart[] {
  const [first, last] = [stretch[0], stretch.at(-1)];
  const start = first?.events[0]?.id;
  const end = last?.events.at(-1)?.id;
  const isCutBefore = start !== undefined && turns.get(first?.index ?? -1)?.events[0]?.id !== start;
  const isCutAfter = end !== undefined && turns.get(last?.index ?? -1)?.events.at(-1)?.id !== end;
  return parts.map((part, at) => ({
    ...part,
    ...(at === 0 && isCutBefore ? { from_event: start } : {}),
    ...(at === parts.length - 1 && isCutAfter ? { to_event: end } : {}),
  }));
}
