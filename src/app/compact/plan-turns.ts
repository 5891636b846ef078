// The turns that a plan is made from. Of those that a summary hides it reads only what it must: the rest it knows by their facts.
import {
  type CompactionRequest,
  knownOf,
  turnsNeeded,
  turnsToLeave,
  type UnreadTurns,
} from "../../core/compact/compaction-request.ts";
import { indexHidden } from "../../core/compact/hidden-index.ts";
import { type CompactionDraft, type CompactionPlan, planCompactionReading, trialOf } from "../../core/compact/plan.ts";
import { needsTurnTimes } from "../../core/conversation/bound-resolution.ts";
import { type Compaction, withoutIndex } from "../../core/conversation/compaction.ts";
import { planRanges, planReading } from "../../core/conversation/covered-range.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { withKeptTurnsOf } from "../../core/conversation/group.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { project } from "../../core/conversation/projection.ts";
import { hasLooseCalls } from "../../core/conversation/tool-pairing.ts";
import { defined } from "../../core/json.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import type { TokenMeter, TokenSource } from "../../core/model/token-meter.ts";
import { countTurns, type TurnFacts } from "../../core/model/usage.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type CountedView, loadCounted, worstSource } from "../conversation/counted-view.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { type KnownTurns, type LiveCompactions, loadTurns } from "../conversation/view.ts";
import { conversationModel } from "../models/models.ts";
import type { TokenChange } from "./compact-report.ts";

type Asked = Omit<CompactionRequest, "turns" | "turnTimes" | "unread">;

/** What decides, beside the request, how much is read. */
interface ReadingNeeds {
  readonly pins: readonly Pin[];
  /** Ids of other events that stay as they are. */
  readonly keep: readonly string[];
  /** Whether an index is made, for which what no older one tells of is read. */
  readonly hasIndex: boolean;
  /** Leave nothing of the range unread. */
  readonly isWhole: boolean;
  /** As in `loadView`. */
  readonly known?: KnownTurns;
}

/** The view with what counts it, and turns by position, ascending. */
interface PlanTurns extends CountedView {
  readonly unread: UnreadTurns;
}

/** Reads what planning and the view look at: every turn when times are asked for. */
export async function loadPlanTurns(
  store: ConversationStore,
  tree: BranchTree,
  asked: Asked,
  needs: ReadingNeeds,
): Promise<PlanTurns> {
  const { known = new Map() } = needs;
  const left = leftUnread(asked, needs);
  const counted = await loadCounted(store, tree, positionsFor(asked, left), known);
  const needed = neededAfterAll(asked, needs, { left, counted }).filter((turn) => !counted.turns.has(turn));
  const more = needed.length === 0 ? null : await loadTurns(store, tree, needed, known);
  const turns = more === null ? counted.turns : new Map([...counted.turns, ...more].sort(([a], [b]) => a - b));
  return {
    ...counted,
    turns,
    unread: knownOf(
      left.filter((turn) => !turns.has(turn)),
      counted.facts,
    ),
  };
}

/** Turns of the range that are not read, as far as is known before anything is. */
function leftUnread(asked: Asked, { pins, hasIndex, isWhole }: ReadingNeeds): readonly number[] {
  if (isWhole) return [];
  const pinned = new Set(pins.map(({ turn }) => turn));
  const left = turnsToLeave({ ...asked, turnTimes: [] }).filter((turn) => !pinned.has(turn));
  if (left.length === 0 || !hasIndex) return left;
  const untold = turnsUntold(asked);
  return left.filter((turn) => !untold.has(turn));
}

/**
 * Turns that must be read after all: every one where a pinned call may have its other half in any, or the model that answered last,
 * whose window strategies ask for.
 */
function neededAfterAll(
  asked: Asked,
  { pins, keep }: ReadingNeeds,
  { left, counted }: { readonly left: readonly number[]; readonly counted: CountedView },
): readonly number[] {
  if (left.length === 0) return [];
  const pinned = pins.flatMap(({ turn }) => counted.turns.get(turn) ?? []);
  const isElsewhere = asked.strategies !== undefined && mayHoldModel(left, counted);
  if (isElsewhere || pinned.some(hasLooseCalls)) return left;
  const keeps = pins.length > 0 || keep.length > 0 || promptsOf(counted.turns.get(0)).length > 0;
  return turnsNeeded(left, counted.facts, { ...asked, keeps });
}

/** Whether the newest answer that names a model may stand in one of the turns. */
function mayHoldModel(left: readonly number[], { turns, facts }: CountedView): boolean {
  const last = [...turns.values()].findLast((turn) => conversationModel([turn]) !== null)?.index ?? -1;
  const later = left.filter((turn) => turn > last);
  return facts.some((one) => namesModel(one) && later.some((turn) => isOf(turn, one)));
}

function namesModel({ model, answers, stretch }: TurnFacts): boolean {
  return model !== null || answers.some((answer) => answer.model !== undefined) || (stretch?.answered ?? []).length > 0;
}

function isOf(turn: number, facts: TurnFacts): boolean {
  return facts.index <= turn && turn < facts.index + countTurns(facts);
}

/** Ids of the system prompts that a conversation begins with: what was said is compacted, not what the model is to be. */
export function promptsOf(first: Turn | undefined): readonly string[] {
  return first === undefined ? [] : leadingPrompts([first]).map(({ id }) => id);
}

/**
 * The hidden turns that an index has to be made from: an agent's own compaction hides them, which has none, and no index of an
 * older one of jpg tells of them.
 */
function turnsUntold({ turnCount, compactions }: Pick<Asked, "turnCount" | "compactions">): ReadonlySet<number> {
  const isTelling = ({ index }: Compaction): boolean => index !== undefined;
  const told = compactions.filter(isTelling).reduce((end, { to_turn: to }) => Math.max(end, to), -1);
  const untold = new Set<number>();
  for (const { from, to, hiddenBy } of planRanges(turnCount, compactions)) {
    if (hiddenBy?.compaction.source !== "import") continue;
    for (let turn = Math.max(from, told + 1); turn <= to; turn += 1) untold.add(turn);
  }
  return untold;
}

function positionsFor(asked: Asked, left: readonly number[]): readonly number[] {
  const { turnCount, compactions, range } = asked;
  if (needsTurnTimes(range)) return Array.from({ length: turnCount }, (_, index) => index);
  const request = { ...asked, turnTimes: [] };
  const unread = new Set(left);
  const wanted = new Set([
    ...planReading(turnCount, compactions),
    ...planCompactionReading(request),
    ...turnsToLeave(request).filter((turn) => !unread.has(turn)),
  ]);
  return [...wanted].sort((a, b) => a - b);
}

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
