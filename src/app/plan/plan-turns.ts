// The turns that a plan is made from. Of those that a summary hides it reads only what it must: the rest it knows by their facts.
import type { Compaction } from "../../core/compaction/compaction.ts";
import type { Pin } from "../../core/compaction/pin.ts";
import type { Turn } from "../../core/event/turn.ts";
import type { CompactionRequest, UnreadTurns } from "../../core/plan/compaction-request.ts";
import { planCompactionReading } from "../../core/plan/plan-compaction.ts";
import { knownOf, turnsNamed, turnsToLeave } from "../../core/plan/unread-turns.ts";
import { planRanges } from "../../core/projection/covered-range.ts";
import { planReading } from "../../core/projection/hidden-turns.ts";
import { needsTurnTimes } from "../../core/range/bound-resolution.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type CountedView, loadCounted } from "../branch/counted-view.ts";
import { type KnownTurns, loadTurns } from "../branch/load-view.ts";

type Asked = Omit<CompactionRequest, "turns" | "turnTimes" | "unread">;

/** What decides, beside the request, how much is read. */
export interface ReadingNeeds {
  readonly pins: readonly Pin[];
  /** Whether an index is made, for which what no older one tells of is read. */
  readonly hasIndex: boolean;
  /** Leave nothing of the range unread. */
  readonly isWhole: boolean;
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
  const left = leftUnread(asked, needs);
  const known: KnownTurns = new Map();
  const counted = await loadCounted(store, tree, positionsFor(asked, left), known);
  const named = new Set(turnsNamed(knownOf(left, counted.facts), asked));
  const unread = knownOf(
    left.filter((turn) => !named.has(turn)),
    counted.facts,
  );
  if (named.size === 0) return { ...counted, unread };
  const turns = new Map<number, Turn>([
    ...counted.turns,
    ...(await loadTurns(
      store,
      tree,
      [...named].filter((turn) => !counted.turns.has(turn)),
      known,
    )),
  ]);
  return { ...counted, turns: new Map([...turns].sort(([a], [b]) => a - b)), unread };
}

/** Turns of the range that are not read; none where something is pinned, for it stays as it is wherever it stands. */
function leftUnread(asked: Asked, { pins, hasIndex, isWhole }: ReadingNeeds): readonly number[] {
  if (isWhole || pins.length > 0) return [];
  const left = turnsToLeave({ ...asked, turnTimes: [] });
  if (left.length === 0 || !hasIndex) return left;
  const untold = turnsUntold(asked);
  return left.filter((turn) => !untold.has(turn));
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
