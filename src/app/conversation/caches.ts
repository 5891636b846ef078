// A cache that is believed: what is in it was written by jpg, in this very folder. It begins with the folder's seal.
import { sealOf } from "../../store/git-dir.ts";
import type { ConversationStore } from "../../store/store.ts";

export interface SealedCache {
  /** What is kept under a key, of a cache that is one file under none; null when nothing is, or it was not written here. */
  read(key?: string): Buffer | null;
  /** Keeps something; without effect where nothing can be written. */
  write(body: string | Uint8Array, key?: string): Promise<void>;
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
  };
}

/** Ids that are known to be good. */
export interface CheckedIds {
  has(oid: string): boolean;
  add(oids: readonly string[]): Promise<void>;
}

/** Opens what a store keeps under a name; `key` = what was looked for, so that another look begins anew; `most` = ids kept at most. */
export function openCheckedIds(
  store: ConversationStore,
  name: string,
  { key, most }: { readonly key: string; readonly most: number },
): CheckedIds {
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
