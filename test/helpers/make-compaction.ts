// Compactions for tests, in few words: `id` and `at` (day of the month) say who wins, the rest is the compaction's own.
import type { Compaction } from "../../src/core/conversation/compaction.ts";

/** Makes a compaction of turns `from..to`; the larger `at` is the newer one. */
export function makeCompaction(
  id: string,
  range: readonly [number, number],
  fields: Partial<Compaction> = {},
  at = 1,
): Compaction {
  const [from_turn, to_turn] = range;
  const timestamp = `2026-03-${String(at).padStart(2, "0")}T00:00:00Z`;
  return { type: "compaction", id, timestamp, from_turn, to_turn, ...fields };
}

/** Fields of a summary with the given text and form. */
export function summaryOf(
  summary: string,
  rest: Omit<NonNullable<Compaction["summary"]>, "summary"> = {},
): Partial<Compaction> {
  return { summary: { summary, ...rest } };
}

/** Fields of a policy that strips both halves of every call. */
export const STRIP_TOOLS = { tool_calls: { policy: "strip", request: true, response: true } } as const;
