// Objects of a store in which nothing was found: what is kept in mind, so that each is looked at once.
import type { ConversationStore } from "../../store/conversation-store.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import { RULES_VERSION } from "../secrets/secret-scanner.ts";

/** Objects in which nothing was found. */
export interface CleanObjects {
  has(oid: string): boolean;
  add(oids: readonly string[]): Promise<void>;
}

/** Ids kept at most: 10 MB of them. */
const MOST_CLEAN = 250_000;

/** Opens what is kept in mind for a store. */
export function openCleanObjects(store: ConversationStore): CleanObjects {
  const cache = openSealedCache(store, "without-secrets");
  const key = `rules-${RULES_VERSION}`;
  const known = new Set(String(cache.read(key) ?? "").split("\n"));
  return {
    has: (oid) => known.has(oid),
    async add(oids) {
      if (oids.length === 0) return;
      const all = [...known, ...oids].filter((oid) => oid !== "");
      await cache.write(all.slice(-MOST_CLEAN).join("\n"), key);
    },
  };
}
