// Plans a compaction against a branch: loads what planning needs, plans (pure), and says what the plan would do to the view.

import type { Config } from "../config/config.ts";
import {
  type BoundFacts,
  isNothing,
  type Nothing,
  needsTurnTimes,
  type RangeRequest,
} from "../core/bound-resolution.ts";
import type { Compaction, Summary, ToolHint } from "../core/compaction.ts";
import { planReading } from "../core/hidden-turns.ts";
import {
  type CompactionPlan,
  type CompactionRequest,
  planCompaction,
  planCompactionReading,
} from "../core/plan-compaction.ts";
import type { Policies } from "../core/policy.ts";
import { project } from "../core/projection.ts";
import { estimateView } from "../core/token-estimate.ts";
import type { Turn } from "../core/turn.ts";
import type { View } from "../core/view.ts";
import type { BranchTree } from "./branch-tree.ts";
import type { TokenChange } from "./compact-report.ts";
import { loadConversationConfig } from "./conversation-config.ts";
import { type LiveCompactions, loadCompactions, loadTurns } from "./load-view.ts";
import { pickProfile } from "./profiles.ts";
import type { Workspace } from "./workspace.ts";

/** What the user asked for. */
export interface CompactInput {
  readonly range: Omit<RangeRequest, "keepLast">;
  readonly profile?: string;
  /** Policies in place of a profile's. */
  readonly policies?: Policies;
  readonly summary?: Summary;
}

/** A plan with the views before and after it. */
export interface PlannedCompaction {
  readonly plan: CompactionPlan;
  readonly profile: string;
  readonly config: Config;
  readonly live: LiveCompactions;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  /** With the draft in force; for a summary that is not written yet, with an empty one. */
  readonly after: View;
  readonly tokens: TokenChange;
}

/** Plans, or says why there is nothing to compact. Throws `unknown_profile` and the errors of a wrong range. */
export async function planOnBranch(
  workspace: Workspace,
  tree: BranchTree,
  input: CompactInput,
): Promise<PlannedCompaction | (Nothing & { readonly tokens: TokenChange; readonly turnCount: number })> {
  const { config } = await loadConversationConfig(workspace, tree);
  const settings = config.conversation.compaction;
  const profile = input.profile ?? settings.default_profile;
  const policies =
    input.policies ??
    (input.summary === undefined
      ? pickProfile(profile, settings.profiles)
      : { summary: { policy: "summarize" } as const });
  const live = await loadCompactions(workspace.store, tree);
  const { keep_last: keepLast, protected_messages: protectedMessages } = settings;
  const range: RangeRequest = {
    ...input.range,
    keepLast,
    ...(protectedMessages === undefined ? {} : { protectedMessages }),
  };
  const base = {
    range,
    turnCount: tree.turnOids.length,
    compactions: live.applied,
    now: workspace.runtime.now().toISOString(),
  };
  const request = {
    ...base,
    policies,
    hints: hintsOf(config),
    profile,
    ...(input.summary === undefined ? {} : { summary: input.summary }),
  };
  const turns = await loadTurns(workspace.store, tree, positionsFor(request));
  const facts: BoundFacts = { ...base, turns, turnTimes: turnTimes(range, turns) };
  const before = project({ turnCount: base.turnCount, turns, compactions: live.applied });
  const tokensBefore = estimateView(before);
  const plan = planCompaction({ ...request, ...facts });
  if (isNothing(plan))
    return { nothing: plan.nothing, tokens: { before: tokensBefore, after: tokensBefore }, turnCount: base.turnCount };
  const after = project({ turnCount: base.turnCount, turns, compactions: [...live.applied, asNewest(plan)] });
  return {
    plan,
    profile,
    config,
    live,
    turns,
    before,
    after,
    tokens: { before: tokensBefore, after: estimateView(after) },
  };
}

/** The draft as the newest compaction. */
function asNewest({ compaction }: CompactionPlan): Compaction {
  const draft: Compaction = { ...compaction, id: "\uffff", timestamp: "9999-12-31T23:59:59Z" };
  const stands =
    draft.summary !== undefined ||
    draft.reasoning !== undefined ||
    draft.tool_calls !== undefined ||
    draft.turns !== undefined ||
    draft.attachments !== undefined;
  return stands ? draft : { ...draft, summary: { summary: "" } };
}

/** Every turn when times are asked for, else those that planning and the view read. */
function positionsFor(request: Omit<CompactionRequest, "turns" | "turnTimes">): number[] {
  const all = (): number[] => Array.from({ length: request.turnCount }, (_, index) => index);
  if (needsTurnTimes(request.range)) return all();
  const wanted = new Set([
    ...planReading(request.turnCount, request.compactions),
    ...planCompactionReading({ ...request, turnTimes: [] }),
  ]);
  return [...wanted].sort((a, b) => a - b);
}

function turnTimes(range: RangeRequest, turns: ReadonlyMap<number, Turn>): string[] {
  return needsTurnTimes(range) ? [...turns.values()].map((turn) => turn.events[0]?.timestamp ?? "") : [];
}

/** The hints that projection knows: keep or strip. */
function hintsOf(config: Config): Record<string, ToolHint> {
  const hints: Record<string, ToolHint> = Object.create(null) as Record<string, ToolHint>;
  for (const [name, tool] of Object.entries(config.conversation.tools)) {
    const { request, response } = tool.compaction ?? {};
    hints[name] = {
      ...(request === undefined ? {} : { request }),
      ...(response === "keep" || response === "strip" ? { response } : {}),
    };
  }
  return hints;
}
