// Ids of objects that were looked at and found good, kept in mind so that each is looked at once.
import type { ConversationStore } from "../../store/store.ts";
import { openSealedCache } from "./sealed-cache.ts";

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
