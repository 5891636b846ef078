// The record files of compactions that are clamped to the first turns of a branch. Everything in them follows from the original
// and the cut, so that whoever forks there makes the same files.

import type { Compaction } from "../../core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../core/conversation/compaction-line.ts";
import { clampCompaction } from "../../core/conversation/group.ts";
import type { ConversationStore, FileChange } from "../../store/store.ts";
import { derivedPadding } from "./append-record.ts";
import { collectBlobs } from "./branch-tree.ts";
import { coverFacts } from "./cover-facts.ts";
import { coversDigest } from "./covers.ts";
import { parseTurnBytes } from "./turn-bytes.ts";

/** Gives the files of the copies that end with the newest of these turns (object ids of their files, at least one). */
export async function clampedRecords(
  store: ConversationStore,
  turnOids: readonly string[],
  originals: readonly Compaction[],
): Promise<readonly FileChange[]> {
  if (originals.length === 0) return [];
  const turn = turnOids.length - 1;
  const [bytes = new Uint8Array()] = await collectBlobs(store, turnOids.slice(turn));
  const event = parseTurnBytes(bytes, turn).at(-1)?.id ?? "";
  const facts = coverFacts(store, { turnOids });
  return Promise.all(
    originals.map(async (original) => {
      const copy = clampCompaction(original, { turn, event });
      const covers = copy.covers === undefined ? null : await coversDigest(copy, facts);
      const line = formatCompactionLine({ ...copy, ...(covers === null ? {} : { covers }) }, derivedPadding(copy.id));
      return {
        path: recordPath("compactions", copy.timestamp, copy.id),
        bytes: new TextEncoder().encode(`${line}\n`),
      };
    }),
  );
}
