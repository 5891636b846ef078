// Gives a planned compaction its index: what its view hides up to the end of its range, from the raw turns that are at hand and
// from the index that it replaces, which tells of those that older compactions hide.

import { indexHidden } from "../../core/compact/hidden-index.ts";
import { type CompactionDraft, type CompactionPlan, trialOf } from "../../core/compact/plan.ts";
import { withoutIndex } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { withKeptTurnsOf } from "../../core/conversation/group.ts";
import { project } from "../../core/conversation/projection.ts";
import { defined } from "../../core/json.ts";
import type { TokenMeter, TokenSource } from "../../core/model/token-meter.ts";
import type { LiveCompactions } from "../branch/load-view.ts";
import { worstSource } from "../branch/token-report.ts";
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
export function withIndex<Planned extends Indexed>(turnCount: number, planned: Planned): Planned {
  const { plan, turns, live, meter, tokens } = planned;
  const isSummary = plan.summarize !== undefined;
  const older = live.applied.map((compaction) => withKeptTurnsOf(compaction, withoutIndex(compaction)));
  const bare = project({ turnCount, turns, compactions: [...older, trialOf(plan.compaction, isSummary)] });
  const shown = bare.turns.flatMap(({ events }) => events);
  // A fork that ends with the range must not read of what came after it.
  const replaced = live.applied.filter((compaction) => compaction.to_turn <= plan.compaction.to_turn);
  const former = replaced.findLast((compaction) => compaction.index !== undefined)?.index?.text;
  const index = indexHidden({
    turns: turnsUpTo(turns, plan.compaction),
    shown,
    ...defined({ former }),
  });
  if (index === null) return planned;
  const needs = [...(plan.compaction.needs ?? []), "index"];
  const compaction = withKeptTurnsOf(plan.compaction, { ...plan.compaction, index, needs });
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

/** The raw turns at hand up to the end of a range: nothing that older compactions hide is read for an index. */
function turnsUpTo(turns: ReadonlyMap<number, Turn>, end: CompactionDraft): readonly Turn[] {
  return [...turns.values()]
    .filter(({ index }) => index <= end.to_turn)
    .sort((a, b) => a.index - b.index)
    .map((turn) => {
      const last = turn.index === end.to_turn ? turn.events.findIndex(({ id }) => id === end.to_event) : -1;
      return last < 0 ? turn : { ...turn, events: turn.events.slice(0, last + 1) };
    });
}
