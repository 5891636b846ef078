// Resolves a range that a person wrote, for commands that look at turns or mark them; `compact` and `fork` keep its bounds.
import { needsTurnTimes, resolveFrom, resolveTo } from "../../core/conversation/bound-resolution.ts";
import type { ProjectedTurn, TurnRange } from "../../core/conversation/event.ts";
import type { RangeBound, WrittenRange } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import type { BranchTree } from "./tree.ts";
import { loadCompactions, loadTurns } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** Resolves a range to turns that are there, whole ones. Throws `bad_turns`. */
export async function resolveTurns(
  { store, runtime }: Workspace,
  tree: BranchTree,
  range: WrittenRange,
): Promise<TurnRange> {
  const turnCount = tree.turnOids.length;
  const turns = needsTurnTimes(range) ? await loadTurns(store, tree) : new Map();
  const usesLast = [range.from, range.to].some((bound) => bound?.type === "last");
  const facts = {
    turnCount,
    turns,
    turnTimes: [...turns.values()].map(({ events: [first] }) => first?.timestamp ?? ""),
    compactions: usesLast ? (await loadCompactions(store, tree)).applied : [],
    now: runtime.now().toISOString(),
  };
  const from = range.from === undefined ? { turn: 0 } : resolveFrom(range.from, facts);
  const to = range.to === undefined ? { turn: turnCount - 1 } : resolveTo(range.to, facts);
  const isThere = [range.from, range.to].every((bound) => bound === undefined || isWithin(bound, turnCount));
  if (!isThere || from === null || to === null || from.turn > to.turn) throw badTurns(range, turnCount - 1);
  return { from: from.turn, to: to.turn };
}

/** Refuses a range that begins after the last turn, as `resolveTurns` does; one that only ends there is cut. Throws `bad_turns`. */
export function refusePastEnd({ turnOids }: BranchTree, range: WrittenRange): void {
  const first = range.from ?? range.to;
  if ((first?.type === "turn" || first?.type === "event") && !isWithin(first, turnOids.length))
    throw badTurns(range, turnOids.length - 1);
}

/** Whether a turn of a view stands for at least one of these turns. */
export function isWithinTurns({ origin }: ProjectedTurn, { from, to }: TurnRange): boolean {
  return origin.kind === "kept" ? from <= origin.turn && origin.turn <= to : origin.from <= to && from <= origin.to;
}

/** Whether a position is one of the turns; a time may be before or after all of them. */
function isWithin(bound: RangeBound, turnCount: number): boolean {
  if (bound.type === "before_last") return bound.turns < turnCount;
  return bound.type === "turn" || bound.type === "event" ? bound.turn < turnCount : true;
}

function badTurns({ text }: WrittenRange, last: number): Error {
  const there = last < 0 ? "no turns" : last === 0 ? "1 turn: 0" : `${last + 1} turns: 0..${last}`;
  return userError("bad_turns", `${text} names no turns here: the conversation has ${there}.`, {
    hints: ["For example: 3..5 are three turns, 7 is one, -2.. the last three, ..4 the first five."],
  });
}
