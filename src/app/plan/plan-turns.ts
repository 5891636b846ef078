// The turns that a plan is made from. Of those that a summary hides it reads only what it must: the rest it knows by their facts.

import {
  type CompactionRequest,
  knownOf,
  turnsNeeded,
  turnsToLeave,
  type UnreadTurns,
} from "../../core/compact/compaction-request.ts";
import { planCompactionReading } from "../../core/compact/plan.ts";
import { needsTurnTimes } from "../../core/conversation/bound-resolution.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { planRanges, planReading } from "../../core/conversation/covered-range.ts";
import type { Turn } from "../../core/conversation/event.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { hasLooseCalls } from "../../core/conversation/tool-pairing.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import { countTurns, type TurnFacts } from "../../core/model/usage.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type CountedView, loadCounted } from "../branch/counted-view.ts";
import { type KnownTurns, loadTurns } from "../branch/load-view.ts";
import { conversationModel } from "../models/models.ts";

type Asked = Omit<CompactionRequest, "turns" | "turnTimes" | "unread">;

/** What decides, beside the request, how much is read. */
export interface ReadingNeeds {
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
export interface PlanTurns extends CountedView {
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
