// Keeps what a model was shown of full directories of turns: how many events, tokens and characters of each turn. With them a diff
// counts what a compaction hides without reading it. They follow from the turns and from the compactions that shorten them, by
// which they are found.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { CoveredRange } from "../../core/conversation/covered-range.ts";
import { TURNS_PER_DIRECTORY } from "../../core/conversation/turn-file.ts";
import type { ConversationStore } from "../../store/store.ts";
import { directoryIds } from "../branch/directory-ids.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { ShownCounts } from "./diff-stat.ts";

/** Raised when views are made or counted otherwise. */
const CACHE = "shown-counts-2";
/** Directories in a file before the oldest are dropped. */
const MOST_ENTRIES = 1000;

/** By directory, events, tokens and characters of each of its turns. */
type StoredCounts = readonly (readonly [events: number, tokens: number, characters: number])[];

export interface ShownCountsCache {
  /** What stands for a directory as these ranges of the conversation show it; null where what it shows has to do with more. */
  keyOf(directory: number, ranges: readonly CoveredRange[]): string | null;
  /** The counts of each of its turns; null when they are not known. */
  find(key: string): readonly ShownCounts[] | null;
  /** Keeps counts, and writes them; without effect where nothing can be written. */
  keep(counts: ReadonlyMap<string, readonly ShownCounts[]>): Promise<void>;
}

/** Opens what is known of the turns of a branch. */
export function openShownCounts(store: ConversationStore, turnOids: readonly string[]): ShownCountsCache {
  const cache = openSealedCache(store, CACHE);
  const [first = ""] = turnOids;
  const body = cache.read(first);
  // What was sealed here was written by jpg: it is taken as it is.
  const known = new Map(
    body === null ? [] : (JSON.parse(String(body)) as readonly (readonly [string, StoredCounts])[]),
  );
  const ids = directoryIds(turnOids);
  const digests = new Map<Compaction, string>();
  const digestOf = (compaction: Compaction): string => {
    const digest = digests.get(compaction) ?? sha256(JSON.stringify(compaction));
    digests.set(compaction, digest);
    return digest;
  };
  return {
    keyOf(directory, ranges) {
      const form = formOf(directory, ranges, digestOf);
      const id = ids[directory];
      if (form === null || id === undefined) return null;
      return form === "" ? id : sha256(`${id}\n${form}`);
    },
    find: (key) => known.get(key)?.map(([events, tokens, characters]) => ({ events, tokens, characters })) ?? null,
    async keep(counts) {
      if (counts.size === 0) return;
      for (const [key, turns] of counts)
        known.set(
          key,
          turns.map(({ events, tokens, characters }) => [events, tokens, characters] as const),
        );
      await cache.write(JSON.stringify([...known].slice(-MOST_ENTRIES)), first);
    },
  };
}

/** What shortens the turns of a directory, as text; null where something of it is hidden, kept by name, or cut inside a turn. */
function formOf(
  directory: number,
  ranges: readonly CoveredRange[],
  digestOf: (compaction: Compaction) => string,
): string | null {
  const first = directory * TURNS_PER_DIRECTORY;
  const forms: string[] = [];
  for (const { from, to, overlays, hasDecisions, isCut } of rangesIn(directory, ranges)) {
    if (hasDecisions || isCut) return null;
    const [start, end] = [Math.max(from - first, 0), Math.min(to - first, TURNS_PER_DIRECTORY - 1)];
    for (const { compaction } of overlays) forms.push(`${start} ${end} ${digestOf(compaction)}`);
  }
  return forms.join("\n");
}

/** The ranges that hold turns of a directory. */
export function rangesIn(directory: number, ranges: readonly CoveredRange[]): readonly CoveredRange[] {
  const first = directory * TURNS_PER_DIRECTORY;
  return ranges.filter(({ from, to }) => to >= first && from < first + TURNS_PER_DIRECTORY);
}
