// Turns of a partial clone that are not here, brought in one request before they are read. What cannot be brought is named by
// its place in the conversation.

import { formatRuns, joinRuns } from "../../core/conversation/event.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "./branch-tree.ts";

/** Sees to it that turns are here; `positions` may repeat. Throws `turns_elsewhere`. */
export async function bringTurns(
  { partial }: Pick<ConversationStore, "partial">,
  { branch, turnOids }: Pick<BranchTree, "branch" | "turnOids">,
  positions: readonly number[],
): Promise<void> {
  if (partial === null) return;
  try {
    await partial.bring(positions.flatMap((turn) => turnOids[turn] ?? []));
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "objects_elsewhere") throw error;
    const absent = new Set(error.data["oids"] as readonly string[]);
    const turns = [...new Set(positions)].filter((turn) => absent.has(turnOids[turn] ?? "")).sort((a, b) => a - b);
    const message = error.cause instanceof Error ? error.cause.message : error.message;
    const which = `${turns.length === 1 ? "Turn" : "Turns"} ${listRanges(turns)} of ${branch}`;
    throw repositoryError(
      "turns_elsewhere",
      `${which} ${turns.length === 1 ? "is" : "are"} not in this partial clone. ${message}`,
      {
        hints: error.hints,
        data: { branch, turns },
        cause: error,
      },
    );
  }
}

/** Ranges that a sentence lists. */
const LISTED = 5;

/** `0, 7..9` of positions. */
function listRanges(turns: readonly number[]): string {
  const runs = joinRuns(turns.map((turn) => ({ from: turn, to: turn })));
  return formatRuns(runs.slice(0, LISTED)) + (runs.length > LISTED ? " …" : "");
}
