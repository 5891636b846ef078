// A cache whose content is trusted: a seal in front shows that jpg wrote it in this very git dir.
import { sealOf } from "../../store/git-dir.ts";
import type { ConversationStore } from "../../store/store.ts";

export interface SealedCache {
  /** Returns what is cached under a key (none for a cache of one file); null if there is nothing or its seal is wrong. */
  read(key?: string): Buffer | null;
  /** Caches something; does nothing where it cannot be written. */
  write(body: string | Uint8Array, key?: string): Promise<void>;
}

const DIGEST = 64;

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

/** Object ids that passed a check. */
export interface CheckedIds {
  has(oid: string): boolean;
  add(oids: readonly string[]): Promise<void>;
}

/** Opens the checked ids of a store. `key` = what was checked for: another key starts empty. `most` = ids kept at most. */
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
