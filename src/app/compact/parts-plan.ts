// Plans a progressive compaction: where it begins, and the parts that its range is cut into.

import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { groupTurns } from "../../core/compact/transcript.ts";
import { cutEvenParts, cutParts, splitAtSummaries, type TurnPart } from "../../core/compact/turn-parts.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { estimateEvents } from "../../core/conversation/token-estimate.ts";
import { type JpgError, userError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { coveredEvents } from "../branch/covered-events.ts";
import type { CompactInput, PlannedCompaction } from "../plan/compact-plan.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** How many parts: about so many, or as the conversation falls apart by itself. */
export type PartCount = number | "auto";

/** A summary, where neither a profile nor strategies were named. Throws `chunks_need_summary` for those that make none. */
export async function rulesOf(
  workspace: Workspace,
  tree: BranchTree,
  { profile, strategies }: CompactInput,
): Promise<Pick<CompactInput, "strategies">> {
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

/** Without a start, parts go on where the last summary ended: those that there are stay as they are. */
export function partsRange({ range }: CompactInput): CompactInput["range"] {
  return { from: { type: "last_summary" }, ...range };
}

/** Cuts what a plan covers into parts. */
export function planParts({ plan, turns, live, meter }: PlannedCompaction, count: PartCount): readonly TurnPart[] {
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

/** Parts know the bounds between them; the first and the last one end as what was cut up does. */
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
