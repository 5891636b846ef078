// A cache that is believed: what stands in it was written by jpg, in this very folder. It begins with the folder's seal.
import { TURNS_PER_DIRECTORY, turnDirectory, turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { sealOf } from "../../store/git-dir.ts";
import type { ConversationStore } from "../../store/store.ts";
import { sha256 } from "./runtime.ts";
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
