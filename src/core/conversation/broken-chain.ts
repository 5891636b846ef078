// Compactions that nobody made: an import writes them for turns that an agent no longer reaches, because its file is damaged.
import type { Compaction } from "./compaction.ts";
import { rangesDecidedBy } from "./covered-range.ts";

/** What the import says of a line that hides turns although nobody compacted them, as predicates of that line. */
export const BREAK_REASONS: ReadonlyMap<unknown, string> = new Map([
  ["broken-parent", "names a parent that is not in the file"],
  ["boundary-without-summary", "begins a compaction that has no summary"],
]);

/** Whether a compaction is no act of the agent's, but damage: it hides what the agent no longer reaches. */
export function isBreak({ source, turns, reason }: Pick<Compaction, "source" | "turns" | "reason">): boolean {
  return source === "import" && turns === "omit" && BREAK_REASONS.has(reason);
}

/** Turns (0-based, inclusive) that damage hides, with the compaction that stands for it. */
interface BrokenRange {
  readonly compaction: Compaction;
  readonly from_turn: number;
  readonly to_turn: number;
}

/** Splits what damage hides in a view: `unreached` = the agent loses it only by the damage; `compacted` = it has compacted it besides. */
export function findBreaks(
  turnCount: number,
  compactions: readonly Compaction[],
): { readonly unreached: readonly BrokenRange[]; readonly compacted: readonly BrokenRange[] } {
  const [unreached, compacted]: [BrokenRange[], BrokenRange[]] = [[], []];
  for (const compaction of compactions.filter(isBreak)) {
    const { from_turn, to_turn } = compaction;
    const ranges = rangesDecidedBy(compaction, { turnCount, compactions });
    if (ranges.length === 0) compacted.push({ compaction, from_turn, to_turn });
    for (const { from, to } of ranges) unreached.push({ compaction, from_turn: from, to_turn: to });
  }
  return { unreached, compacted };
}
