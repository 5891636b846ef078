// Digests of turns that a compaction's bound cuts inside, remembered in one small file a turn, so that
// checking `covers` reads no turn twice. May be deleted at any time; what it says counts only where it makes `covers` match.
import type { Cache } from "../../store/store.ts";

/** The bound events inside one turn, as a compaction names them. */
export interface CutBounds {
  readonly fromEvent: string | undefined;
  readonly toEvent: string | undefined;
}

export interface CutCache {
  /** What is remembered of a turn file, by its object id; null when nothing is. */
  find(turnOid: string, bounds: CutBounds): string | null;
  /** Remembers the object id of the turn up to the cut, or `<id before>..<id up to>`. */
  add(turnOid: string, bounds: CutBounds, cut: string): void;
  /** Writes what was added; without effect where nothing can be written. */
  save(): Promise<void>;
}

const CUT = /^[0-9a-f]{40}(\.\.[0-9a-f]{40})?$/;

/** Opens what is remembered in a cache; a turn's file is read when it is asked for. */
export function openCutCache(cache: Cache): CutCache {
  const added = new Map<string, Record<string, string>>();
  return {
    find(turnOid, bounds) {
      const cut = readCuts(cache, turnOid)[keyOf(bounds)];
      return cut !== undefined && CUT.test(cut) ? cut : null;
    },
    add(turnOid, bounds, cut) {
      added.set(turnOid, { ...added.get(turnOid), [keyOf(bounds)]: cut });
    },
    async save() {
      for (const [turnOid, cuts] of added) {
        added.delete(turnOid);
        await cache.write(JSON.stringify({ ...readCuts(cache, turnOid), ...cuts }), turnOid);
      }
    },
  };
}

function readCuts(cache: Cache, turnOid: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(String(cache.read(turnOid)));
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return {}; // never written, or damaged: the turn is read
  }
}

function keyOf({ fromEvent, toEvent }: CutBounds): string {
  return JSON.stringify([fromEvent ?? null, toEvent ?? null]);
}
