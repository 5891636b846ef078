// Gives a planned compaction its index: what its view hides up to the end of its range, from the raw turns, those that older
// compactions hide with them.
import { withoutIndex } from "../../core/compaction/compaction.ts";
import type { Turn } from "../../core/event/turn.ts";
import { type CompactionDraft, type CompactionPlan, trialOf } from "../../core/plan/plan-compaction.ts";
import { project } from "../../core/projection/projection.ts";
import type { View } from "../../core/projection/view.ts";
import { indexHidden } from "../../core/summary/hidden-index.ts";
import type { TokenMeter, TokenSource } from "../../core/tokens/token-meter.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type LiveCompactions, loadTurns } from "../branch/load-view.ts";
import { worstSource } from "../branch/token-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { TokenChange } from "./compact-report.ts";

/** What an index is added to. */
interface Indexed {
  readonly plan: CompactionPlan;
  readonly live: LiveCompactions;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly after: View;
  readonly tokens: TokenChange;
  readonly tokens_source: TokenSource;
  readonly meter: TokenMeter;
  /** Tokens that the index adds, those of the one that it replaces taken off; absent = the compaction has none. */
  readonly indexTokens?: number;
}

/** Adds the index to a plan; the plan itself where nothing is to be listed, or the view would not be smaller with it. */
export async function withIndex<Planned extends Indexed>(
  { store }: Workspace,
  tree: BranchTree,
  planned: Planned,
): Promise<Planned> {
  const { plan, turns, live, meter, tokens } = planned;
  const turnCount = tree.turnOids.length;
  const isSummary = plan.summarize !== undefined;
  const older = live.applied.map((compaction) => withoutIndex(compaction));
  const bare = project({ turnCount, turns, compactions: [...older, trialOf(plan.compaction, isSummary)] });
  const shown = bare.turns.flatMap(({ events }) => events);
  const index = indexHidden({ turns: await turnsUpTo(store, tree, { ...planned, end: plan.compaction }), shown });
  if (index === null) return planned;
  const compaction = { ...plan.compaction, index, needs: ["index"] };
  const compactions = [...live.applied, trialOf(compaction, isSummary)];
  const after = project({ turnCount, turns, compactions });
  const left = meter.countView(after, compactions);
  if (left.tokens >= tokens.before) return planned;
  return {
    ...planned,
    plan: { ...plan, compaction },
    after,
    tokens: { ...tokens, after: left.tokens },
    indexTokens: left.tokens - tokens.after,
    tokens_source: worstSource([planned.tokens_source, left.source]),
  };
}

/** The raw turns up to the end of a range; of a partial clone those that are at hand. */
async function turnsUpTo(
  store: ConversationStore,
  tree: BranchTree,
  { turns, end }: Pick<Indexed, "turns"> & { readonly end: CompactionDraft },
): Promise<readonly Turn[]> {
  const positions = Array.from({ length: end.to_turn + 1 }, (_, position) => position);
  const lacking = store.partial === null ? positions.filter((position) => !turns.has(position)) : [];
  const read = lacking.length === 0 ? new Map<number, Turn>() : await loadTurns(store, tree, lacking);
  return positions.flatMap((position) => {
    const turn = turns.get(position) ?? read.get(position);
    if (turn === undefined) return [];
    const last = position === end.to_turn ? turn.events.findIndex(({ id }) => id === end.to_event) : -1;
    return last < 0 ? [turn] : [{ ...turn, events: turn.events.slice(0, last + 1) }];
  });
}
