// A cache that is believed: what stands in it was written by jpg, in this very folder. It begins with the folder's seal.
import { fieldsOf } from "../../core/conversation/event.ts";
import { TURNS_PER_DIRECTORY, turnDirectory, turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { joinFacts } from "../../core/model/stretch-facts.ts";
import type { TurnFacts } from "../../core/model/usage.ts";
import { sealOf } from "../../store/git-dir.ts";
import type { ConversationStore } from "../../store/store.ts";
import { sha256 } from "./runtime.ts";
import { isBrokenLink } from "./spliced-turns.ts";
import type { BranchTree } from "./tree.ts";

export interface SealedCache {
  /** What is kept under a key, of a cache that is one file under none; null when nothing is, or it was not written here. */
  read(key?: string): Buffer | null;
  /** Keeps something; without effect where nothing can be written. */
  write(body: string | Uint8Array, key?: string): Promise<void>;
  /** Forgets what is kept under a key. */
  drop(key?: string): Promise<void>;
}

const DIGEST = 64;

/** Opens a cache of the store. */
export function openSealedCache(store: ConversationStore, name: string): SealedCache {
  const cache = store.cache(name);
  const { gitDir } = store;
  return {
    read(key) {
      const kept = cache.read(key);
      if (kept === null || kept.length <= DIGEST) return null;
      const body = kept.subarray(DIGEST);
      return kept.toString("latin1", 0, DIGEST) === sealOf(gitDir, body) ? body : null;
    },
    async write(body, key) {
      const bytes = typeof body === "string" ? Buffer.from(body) : body;
      await cache.write(Buffer.concat([Buffer.from(sealOf(gitDir, bytes)), bytes]), key);
    },
    drop: (key) => cache.drop(key),
  };
}

/** One id for each full directory of a branch's turns, by its number. */
export function directoryIds(turnOids: readonly string[]): readonly string[] {
  const count = Math.floor(turnOids.length / TURNS_PER_DIRECTORY);
  return Array.from({ length: count }, (_, directory) => {
    const from = directory * TURNS_PER_DIRECTORY;
    return sha256(turnOids.slice(from, from + TURNS_PER_DIRECTORY).join(""));
  });
}

/** Ids that are known to be good. */
export interface KnownIds {
  has(oid: string): boolean;
  add(oids: readonly string[]): Promise<void>;
}

/** Opens what a store keeps under a name; `key` = what was looked for, so that another look begins anew; `most` = ids kept at most. */
export function openKnownIds(
  store: ConversationStore,
  name: string,
  { key, most }: { readonly key: string; readonly most: number },
): KnownIds {
  const cache = openSealedCache(store, name);
  const known = new Set(String(cache.read(key) ?? "").split("\n"));
  return {
    has: (oid) => known.has(oid),
    async add(oids) {
      if (oids.length === 0) return;
      for (const oid of oids) known.add(oid);
      const all = [...known].filter((oid) => oid !== "");
      await cache.write(all.slice(-most).join("\n"), key);
    },
  };
}

// How many bytes a branch's turns have. Sums of full directories are kept in a cache: a long branch is summed by looking at the
// files of its newest directory.

const CACHE = "turn-bytes";
/** Directories in a file before those of other forks are dropped. */
const MOST_DIRECTORIES = 1000;

/** Sums the bytes of the turns; in a partial clone of those that are here. */
export async function sumTurnBytes(
  store: ConversationStore,
  { commit, turnOids }: Pick<BranchTree, "commit" | "turnOids">,
): Promise<number> {
  const ids = directoryIds(turnOids);
  const cache = openSealedCache(store, CACHE);
  const key = turnOids[0] ?? "";
  const kept = ids.length === 0 ? null : cache.read(key);
  // What was sealed here was written by jpg.
  const known = new Map<string, number>(kept === null ? [] : (JSON.parse(String(kept)) as [string, number][]));
  const count = Math.ceil(turnOids.length / TURNS_PER_DIRECTORY);
  const unknown = Array.from({ length: count }, (_, directory) => directory).filter(
    (directory) => !known.has(ids[directory] ?? ""),
  );
  const listed = await listSizes(store, commit, unknown);
  const added = unknown.flatMap((directory) => {
    const [id, sizes = []] = [ids[directory], listed.get(directory)];
    // One that is not here has no size.
    return id === undefined || sizes.includes(0) ? [] : [[id, sum(sizes)] as const];
  });
  if (added.length > 0) {
    const own = known.size + added.length > MOST_DIRECTORIES ? new Set(ids) : null;
    const rows = [...known, ...added].filter(([id]) => own === null || own.has(id));
    await cache.write(JSON.stringify(rows), key);
  }
  return sum(ids.map((id) => known.get(id) ?? 0)) + sum([...listed.values()].map(sum));
}

/** Sums the bytes of the payloads that were moved out of events; in a partial clone of those that are here. */
export async function sumPayloadBytes(
  store: ConversationStore,
  { commit }: Pick<BranchTree, "commit">,
): Promise<number> {
  const files = await store.listTree(commit, { under: ["attachments"], sizes: "here" });
  // Lines of the agent's file and definitions of tools are kept there, too.
  return sum(files.flatMap(({ path, size = 0 }) => (/\.jsonl?$/.test(path) ? [] : [size])));
}

/** Sizes of the turn files of some directories, by the directory's number. */
async function listSizes(
  store: ConversationStore,
  commit: string,
  directories: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const sizes = new Map<number, number[]>(directories.map((directory) => [directory, []]));
  if (directories.length === 0) return sizes;
  for (const { path, size = 0 } of await store.listTree(commit, {
    under: directories.map(turnDirectory),
    sizes: "here",
  })) {
    const turn = turnIndexOfPath(path);
    if (turn !== null) sizes.get(Math.floor(turn / TURNS_PER_DIRECTORY))?.push(size);
  }
  return sizes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

// Keeps the facts of turns, in one cache file per conversation, so that what a view hides is counted without being read: of full
// directories of turns taken together, by the object ids of their turns, of other turns by their own. The file counts only where
// it stands: neither damage nor a store from somebody else brings facts of its own.

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
