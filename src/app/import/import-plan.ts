// Decides where an imported session goes: pure, from object ids alone.

/** A branch that holds turns of the session. */
export interface ImportCandidate {
  readonly branch: string;
  readonly commit: string;
  readonly turnOids: readonly string[];
  /** Whether the session's turn at the position of the branch's last one, with the one after it, holds all of that turn's lines, and more or in another order. */
  readonly lastTurnGrew: boolean;
  readonly active: boolean;
}

export type ImportDecision =
  | { readonly kind: "create" }
  /** Every turn of the branch stands in the file: write from `firstTurn` on (a grown last turn is written again). */
  | { readonly kind: "extend"; readonly candidate: ImportCandidate; readonly firstTurn: number; readonly grew: boolean }
  /** The branch holds all turns as they are; the file may have lines more that are no events. */
  | { readonly kind: "same"; readonly candidate: ImportCandidate }
  /** The file left the branch's path, or the branch has other turns: a new fork after `commonTurns` turns. */
  | { readonly kind: "fork"; readonly candidate: ImportCandidate; readonly commonTurns: number };

/** How many first turns two histories share. */
export function commonTurns(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

/** How many of a session's turns must be known for a decision: as many as the longest branch has. */
export function turnsToCompare(candidates: readonly { readonly turnOids: readonly string[] }[]): number {
  return candidates.reduce((most, candidate) => Math.max(most, candidate.turnOids.length), 0);
}

/**
 * Decides for a session of `turnCount` turns whose first ones have the given object ids (see `turnsToCompare`). The branch
 * that shares most turns wins, then one that the session continues, then the active one.
 */
export function decideImport(
  { oids, turnCount }: { readonly oids: readonly string[]; readonly turnCount: number },
  candidates: readonly ImportCandidate[],
): ImportDecision {
  const ranked = candidates
    .map((candidate) => {
      const common = commonTurns(oids, candidate.turnOids);
      const grew = candidate.lastTurnGrew && common === candidate.turnOids.length - 1;
      const shared = grew ? common + 1 : common;
      return { candidate, common, grew, shared, extends: shared === candidate.turnOids.length };
    })
    .sort(
      (a, b) =>
        b.shared - a.shared ||
        Number(b.extends) - Number(a.extends) ||
        Number(b.candidate.active) - Number(a.candidate.active),
    );
  const best = ranked[0];
  if (best === undefined) return { kind: "create" };
  if (best.common === turnCount && best.common === best.candidate.turnOids.length)
    return { kind: "same", candidate: best.candidate };
  return best.extends
    ? { kind: "extend", candidate: best.candidate, firstTurn: best.common, grew: best.grew }
    : { kind: "fork", candidate: best.candidate, commonTurns: best.common };
}
