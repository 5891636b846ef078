// The coverage invariant, checked before a compaction is committed: no event may be lost from the view, doubled or made up.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { checkCoverage } from "../../core/conversation/coverage.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { project } from "../../core/conversation/projection.ts";
import { JpgError } from "../../core/errors.ts";

/**
 * Checks the view with these compactions. Turns that they hide wholly need not be at hand. Throws `coverage_broken`: a bug,
 * nothing may be written.
 */
export function verifyCoverage(facts: {
  readonly turnCount: number;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
}): void {
  const { turnCount, turns, compactions } = facts;
  const ordered = [...turns.values()].sort((a, b) => a.index - b.index);
  const [violation, ...more] = checkCoverage(ordered, compactions, project(facts), { turnCount });
  if (violation === undefined) return;
  throw new JpgError(
    "internal",
    "coverage_broken",
    `The view would break the coverage invariant (${violation.rule}): ${violation.message}; ${more.length} more.`,
    {
      hints: ["Nothing was committed. Please report this with the conversation's event kinds."],
      data: { rule: violation.rule, id: violation.id },
    },
  );
}
