// Keeps the facts of turns, in one cache file per conversation, so that what a view hides is counted without being read: of full
// directories of turns taken together, by the object ids of their turns, of other turns by their own. The file counts only where
// it stands: neither damage nor a store from somebody else brings facts of its own.

import { fieldsOf } from "../../core/conversation/event.ts";
import { TURNS_PER_DIRECTORY } from "../../core/conversation/turn-file.ts";
import { joinFacts } from "../../core/model/stretch-facts.ts";
import type { TurnFacts } from "../../core/model/usage.ts";
import type { ConversationStore } from "../../store/store.ts";
import { directoryIds } from "./directory-ids.ts";
import { openSealedCache } from "./sealed-cache.ts";
import { isBrokenLink } from "./turn-links.ts";

/** Facts without the position, which is where the turns stand. */
type StoredFacts = Omit<TurnFacts, "index">;

export interface TurnFactsCache {
  /** The facts of a full directory of turns, by its number; null when they are not known. */
  findDirectory(directory: number): TurnFacts | null;
  /** The facts of the turn at a position; null when they are not known. */
  find(index: number): TurnFacts | null;
  /** Keeps facts of single turns, and writes them; those of a full directory as one. Without effect where nothing can be written. */
  keep(facts: Iterable<TurnFacts>): Promise<void>;
}

/** Raised when other facts are kept, or jpg or its tokenizers count otherwise. */
const FORMAT = 5;
/** Directories, and single turns, in a file before those of other forks are dropped. */
const MOST_ENTRIES = 1000;

/** Opens what is known of the turns of a branch; `counter` names what counted the tokens. */
export function openTurnFactsCache(
  store: ConversationStore,
  turnOids: readonly string[],
  counter = "estimate",
): TurnFactsCache {
  const cache = openSealedCache(store, `facts-${counter}`);
  const first = turnOids[0] ?? "";
  const { directories, turns } = parseBody(cache.read(first));
  const ids = directoryIds(turnOids);
  const oidOf = (index: number): string => turnOids[index] ?? "";
  return {
    findDirectory(directory) {
      const facts = directories.get(ids[directory] ?? "");
      return facts === undefined ? null : { ...facts, index: directory * TURNS_PER_DIRECTORY };
    },
    find(index) {
      const facts = turns.get(oidOf(index));
      return facts === undefined ? null : { ...facts, index };
    },
    async keep(facts) {
      const byTurn = new Map<number, TurnFacts>();
      for (const one of facts) byTurn.set(one.index, one);
      for (const [directory, id] of ids.entries()) {
        const own = factsIn(byTurn, directory);
        if (own.length < TURNS_PER_DIRECTORY) continue;
        const isSpliced = own.slice(1).some(({ previous, index }) => isBrokenLink(previous, turnOids[index - 1]));
        directories.set(id, stored(joinFacts(own, isSpliced)));
        for (const { index } of own) {
          byTurn.delete(index);
          turns.delete(oidOf(index));
        }
      }
      for (const one of byTurn.values()) turns.set(oidOf(one.index), stored(one));
      await cache.write(
        JSON.stringify({
          format: FORMAT,
          directories: [...bounded(directories, ids)],
          turns: [...bounded(turns, turnOids)],
        }),
        first,
      );
    },
  };
}

function factsIn(byTurn: ReadonlyMap<number, TurnFacts>, directory: number): readonly TurnFacts[] {
  const from = directory * TURNS_PER_DIRECTORY;
  return Array.from({ length: TURNS_PER_DIRECTORY }, (_, at) => byTurn.get(from + at)).filter(
    (facts) => facts !== undefined,
  );
}

function stored({ index: _, ...facts }: TurnFacts): StoredFacts {
  return facts;
}

/** All, or where they are many those of the branch. */
function bounded(known: ReadonlyMap<string, StoredFacts>, own: readonly string[]): ReadonlyMap<string, StoredFacts> {
  if (known.size <= MOST_ENTRIES) return known;
  return new Map(
    own.flatMap((id) => {
      const facts = known.get(id);
      return facts === undefined ? [] : [[id, facts] as const];
    }),
  );
}

/** What stands in the file. */
interface KnownFacts {
  readonly directories: Map<string, StoredFacts>;
  readonly turns: Map<string, StoredFacts>;
}

/** What was sealed here was written by jpg: it is taken as it is. */
function parseBody(body: Buffer | null): KnownFacts {
  const { format, directories, turns } = body === null ? {} : fieldsOf(JSON.parse(String(body)));
  if (format !== FORMAT) return { directories: new Map(), turns: new Map() };
  type Rows = readonly (readonly [string, StoredFacts])[];
  return { directories: new Map(directories as Rows), turns: new Map(turns as Rows) };
}
