// Remembers in which turns what compactions keep by name stands, so that a view reads those and no other that they hide. It is found
// by the names and the object ids of all turns of the range: it follows from them alone.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { findKeptTurns, keptTurnsOf, type TurnsAtHand, withKeptTurns } from "../../core/conversation/group.ts";
import type { ConversationStore } from "../../store/store.ts";
import { sha256 } from "../workspace/object-id.ts";
import { openSealedCache, type SealedCache } from "./sealed-cache.ts";

/** Raised when other turns are to be looked at. */
const CACHE = "kept-turns-1";
/** Compactions in a file before the oldest are dropped. */
const MOST_ENTRIES = 200;

/** By key, positions counted from the start of the range. */
type Known = Map<string, readonly number[]>;

/** Gives the compactions with what is known of what they keep. */
export function locateKept(
  store: ConversationStore,
  turnOids: readonly string[],
  compactions: readonly Compaction[],
): readonly Compaction[] {
  if (!compactions.some(keepsByName)) return compactions;
  const known = readKnown(openSealedCache(store, CACHE), turnOids);
  return compactions.map((compaction) => {
    const offsets = keepsByName(compaction) ? known.get(keyOf(compaction, turnOids)) : undefined;
    return offsets === undefined
      ? compaction
      : withKeptTurns(
          compaction,
          offsets.map((at) => startOf(compaction) + at),
        );
  });
}

/** What is to be remembered. */
interface Learned {
  readonly compactions: readonly Compaction[];
  /** Turns that were read whole. */
  readonly turns: TurnsAtHand;
  /** Whether the compactions were just made: what is known of them is not kept yet. */
  readonly areNew?: boolean;
}

/** Remembers it of those compactions of which it is not known and whose turns are at hand whole. */
export async function learnKept(
  store: ConversationStore,
  turnOids: readonly string[],
  { compactions, turns, areNew = false }: Learned,
): Promise<readonly Compaction[]> {
  const located = new Map<Compaction, readonly number[]>();
  for (const compaction of compactions) {
    const kept = keptTurnsOf(compaction);
    if (!keepsByName(compaction) || (kept !== null && !areNew)) continue;
    const found = kept === null ? findKeptTurns(compaction, turns, { turnCount: turnOids.length }) : [...kept];
    if (found !== null) located.set(compaction, found);
  }
  if (located.size === 0) return compactions;
  const cache = openSealedCache(store, CACHE);
  const known = readKnown(cache, turnOids);
  for (const [compaction, found] of located)
    known.set(
      keyOf(compaction, turnOids),
      found.map((turn) => turn - startOf(compaction)),
    );
  await cache.write(JSON.stringify([...known].slice(-MOST_ENTRIES)), turnOids[0] ?? "");
  return compactions.map((compaction) => {
    const found = located.get(compaction);
    return found === undefined ? compaction : withKeptTurns(compaction, found);
  });
}

function keepsByName({ keep = [] }: Compaction): boolean {
  return keep.length > 0;
}

function startOf({ from_turn: from }: Compaction): number {
  return Math.max(from, 0);
}

function keyOf(compaction: Compaction, turnOids: readonly string[]): string {
  const covered = turnOids.slice(startOf(compaction), compaction.to_turn + 1);
  return sha256(`${JSON.stringify(compaction.keep)}\n${covered.join("")}`);
}

/** What was sealed here was written by jpg: it is taken as it is. */
function readKnown(cache: SealedCache, [first = ""]: readonly string[]): Known {
  const body = cache.read(first);
  return new Map(body === null ? [] : (JSON.parse(String(body)) as readonly (readonly [string, readonly number[]])[]));
}
