// Plans a fork: at which turn the new branch starts, which live compactions it keeps, whole or clamped, and which earlier turns it leaves
// out (docs/FORMAT.md §5.2). Pure; the caller moves refs and writes the commits.
import { type BoundFacts, needsTurnTimes, resolveFrom, resolveTo } from "../conversation/bound-resolution.ts";
import { type Compaction, compareCompactions } from "../conversation/compaction.ts";
import { clampedId } from "../conversation/group.ts";
import type { RangeBound } from "../conversation/range-bound.ts";
import { replacesTurns } from "../conversation/range-location.ts";
import { type JpgError, userError } from "../errors.ts";
import type { CompactionDraft } from "./plan.ts";

/** The flags of one call; counts are turns, 1 or more. */
export interface ForkRequest {
  readonly first?: number;
  readonly last?: number;
  readonly from?: RangeBound;
  readonly until?: RangeBound;
}

export interface ForkPlan {
  /** Turn at whose commit the branch starts, 0-based; null = at the tip, with everything in it. */
  readonly atTurn: number | null;
  /** Ids of the live compactions that stay as they are, oldest first. */
  readonly compactions: readonly string[];
  /** Mechanical ones that reach past the last turn, oldest first: the new branch has copies that end with it. */
  readonly clamped: readonly Compaction[];
  /**
   * Ids of the summaries and replacements that reach past the last turn, oldest first: they describe turns that the branch does not have.
   */
  readonly leftOut: readonly string[];
  /** The compaction that leaves earlier turns out; absent when the fork shows all its turns. */
  readonly omit?: CompactionDraft;
  /** Turns of the branch, and how many of them it shows (before other compactions). */
  readonly turns: { readonly total: number; readonly shown: number };
}

/** Whether planning a fork needs the times of turns. */
export function forkNeedsTurnTimes({ from, until }: ForkRequest): boolean {
  return needsTurnTimes({ from, to: until });
}

/**
 * Plans a fork. `--last` counts back from the end of the fork. Throws `contradictory_flags`, `bad_count`, `bad_bound` for a bound inside a
 * turn, and `range_out_of_bounds` for a turn that does not exist and when none would be left.
 */
export function planFork(request: ForkRequest, facts: BoundFacts): ForkPlan {
  checkFlags(request);
  const newest = facts.turnCount - 1;
  const end = endOf(request, facts);
  const start = facts.turnCount === 0 ? 0 : startOf(request, facts, end);
  if (facts.turnCount > 0 && start > end) {
    const why = reasonOf(request, facts) ?? `the conversation has turns 0..${newest}`;
    throw userError("range_out_of_bounds", `No turn is left for the fork: ${why}.`, {
      hints: ["`jpg print` shows the turns and their times."],
    });
  }
  const live = [...facts.compactions].sort(compareCompactions);
  const stay = end === newest ? live : live.filter(({ to_turn }) => to_turn <= end);
  const reachPast = live.filter((compaction) => !stay.includes(compaction) && compaction.from_turn <= end);
  const compactions = stay.map(({ id }) => id);
  const clamped = reachPast.filter((compaction) => !replacesTurns(compaction));
  const basis = [...compactions, ...clamped.map(({ id }) => clampedId(id, end))];
  return {
    atTurn: end === newest ? null : end,
    compactions,
    clamped,
    leftOut: reachPast.filter((compaction) => replacesTurns(compaction)).map(({ id }) => id),
    ...(start === 0 ? {} : { omit: omissionOf(start - 1, basis) }),
    turns: { total: end + 1, shown: end + 1 - start },
  };
}

/** Why no turn is left where a bound is `last`. */
function reasonOf({ from, until }: ForkRequest, facts: BoundFacts): string | null {
  if (until?.type === "last" && resolveTo(until, facts) === null)
    return "no compaction is in force yet, and the fork is to end where the last one does";
  if (from?.type !== "last") return null;
  return until?.type === "last"
    ? "it begins after the last compaction, with which it ends"
    : "nothing comes after the last compaction";
}

function endOf({ first, until }: ForkRequest, facts: BoundFacts): number {
  const { turnCount } = facts;
  if (first !== undefined) {
    requireTurns("--first", first, { turns: turnCount, turnCount });
    return Math.min(turnCount, first) - 1;
  }
  if (until === undefined) return turnCount - 1;
  // A fork may end at a time after the last turn; but a turn number that does not exist is a typing error.
  if (until.type === "turn" && turnCount > 0 && until.turn >= turnCount)
    throw outOfBounds(`--until ${until.turn} names a turn that is not there`, turnCount);
  return resolveTo(wholeTurn(until, "--until"), facts)?.turn ?? -1;
}

function startOf({ last, from }: ForkRequest, facts: BoundFacts, end: number): number {
  const { turnCount } = facts;
  if (last !== undefined) {
    requireTurns("--last", last, { turns: end + 1, turnCount });
    return end - last + 1;
  }
  if (from === undefined) return 0;
  if (from.type === "before_last" && from.turns >= turnCount)
    throw outOfBounds(`--from -${from.turns} names a turn that is not there`, turnCount);
  return resolveFrom(wholeTurn(from, "--from"), facts)?.turn ?? turnCount;
}

/** Refuses to count more turns than the fork could have; `turns` = those that can be counted. */
function requireTurns(
  flag: string,
  count: number,
  { turns, turnCount }: { readonly turns: number; readonly turnCount: number },
): void {
  if (turnCount === 0 || count <= turns) return;
  const ending = turns === turnCount ? "" : ` up to turn ${turns - 1}, where it ends`;
  throw outOfBounds(`${flag} ${count} asks for more turns than the fork could have${ending}`, turnCount);
}

function outOfBounds(what: string, turnCount: number): JpgError {
  const turns = turnCount === 1 ? "1 turn: turn 0" : `${turnCount} turns, 0..${turnCount - 1}`;
  return userError("range_out_of_bounds", `${what}: the conversation has ${turns}.`, {
    hints: ["`jpg print` shows the turns and their times."],
  });
}

/** The compaction of turns 0..to; it never reaches the newest turn, so it needs no bound inside one. */
function omissionOf(to: number, basis: readonly string[]): CompactionDraft {
  return {
    type: "compaction",
    from_turn: 0,
    to_turn: to,
    turns: "omit",
    ...(basis.length === 0 ? {} : { basis }),
    source: "manual",
  };
}

function wholeTurn(bound: RangeBound, flag: string): RangeBound {
  if (bound.type !== "event") return bound;
  throw userError(
    "bad_bound",
    `${flag} ${bound.turn}:${bound.event} lies inside a turn: a fork begins and ends with whole turns.`,
    {
      hints: [`For example: ${flag} ${bound.turn}`],
    },
  );
}

function checkFlags({ first, last, from, until }: ForkRequest): void {
  for (const [flag, count] of [["--first", first] as const, ["--last", last] as const]) {
    if (count !== undefined && (!Number.isSafeInteger(count) || count < 1)) {
      throw userError("bad_count", `${flag} ${count}: expected a number of turns, 1 or more.`, {
        hints: [`For example: ${flag} 5`],
      });
    }
  }
  if (first !== undefined && until !== undefined) throw contradiction("--first", "--until", "ends");
  if (last !== undefined && from !== undefined) throw contradiction("--last", "--from", "begins");
}

function contradiction(one: string, other: string, what: string): JpgError {
  return userError(
    "contradictory_flags",
    `${one} and ${other} both say where the fork ${what}: expected one of them.`,
    {
      hints: [`Leave ${one} or ${other} out.`],
    },
  );
}
