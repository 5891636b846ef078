// A cache that is believed: what stands in it was written by jpg, in this very folder. It begins with a digest of its bytes and of
// what tells the folder from every other one, so that neither damage nor a store from somebody else brings anything of its own.
import { statSync } from "node:fs";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { sha256 } from "../workspace/object-id.ts";

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
  const place = placeOf(store);
  const sealOf = (body: Uint8Array): string => sha256(Buffer.concat([Buffer.from(`${place}\n`), body]));
  return {
    read(key) {
      const kept = cache.read(key);
      if (kept === null || kept.length <= DIGEST) return null;
      const body = kept.subarray(DIGEST);
      return kept.toString("latin1", 0, DIGEST) === sealOf(body) ? body : null;
    },
    async write(body, key) {
      const bytes = typeof body === "string" ? Buffer.from(body) : body;
      await cache.write(Buffer.concat([Buffer.from(sealOf(bytes)), bytes]), key);
    },
    drop: (key) => cache.drop(key),
  };
}

/** What tells this git dir from every other one, a copy of it too. One that is in memory is nobody else's. */
function placeOf({ gitDir }: ConversationStore): string {
  try {
    const { dev, ino, birthtimeMs } = statSync(gitDir);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return "in memory";
  }
}
