// A cache that is believed: what stands in it was written by jpg, in this very folder. It begins with a digest of its bytes and of
// what tells the folder from every other one, so that neither damage nor a store from somebody else brings anything of its own.
import { statSync } from "node:fs";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { sha256 } from "../workspace/object-id.ts";

export interface SealedCache {
  /** What is kept under a key; null when nothing is, or it was not written here. */
  read(key: string): string | null;
  /** Keeps a text; without effect where nothing can be written. */
  write(body: string, key: string): Promise<void>;
}

const DIGEST = 64;

/** Opens a cache of the store. One that is on no disk keeps nothing. */
export function openSealedCache(store: ConversationStore, name: string): SealedCache {
  const cache = store.cache(name);
  const place = placeOf(store);
  const sealOf = (body: string): string => sha256(`${place}\n${body}`);
  return {
    read(key) {
      const text = (place === null ? null : cache.read(key))?.toString("utf8") ?? "";
      const body = text.slice(DIGEST);
      return body === "" || text.slice(0, DIGEST) !== sealOf(body) ? null : body;
    },
    async write(body, key) {
      if (place !== null) await cache.write(`${sealOf(body)}${body}`, key);
    },
  };
}

/** What tells this git dir from every other one, a copy of it too; null when it is on no disk. */
function placeOf({ gitDir }: ConversationStore): string | null {
  try {
    const { dev, ino, birthtimeMs } = statSync(gitDir);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return null;
  }
}
