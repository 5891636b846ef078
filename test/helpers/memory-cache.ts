// Caches in memory, for stores that have none: what jpg remembers is tested without a disk.
import type { Cache, ConversationStore } from "../../src/store/store.ts";

/** The same store with caches; `kept` is what stands in them, by name and key. */
export function withCaches(store: ConversationStore): { store: ConversationStore; kept: Map<string, Buffer> } {
  const kept = new Map<string, Buffer>();
  const cache = (name: string): Cache => {
    const nameOf = (key?: string): string => (key === undefined ? name : `${name}-${key}`);
    return {
      read: (key) => kept.get(nameOf(key)) ?? null,
      write(content, key) {
        kept.set(nameOf(key), Buffer.from(content as Uint8Array));
        return Promise.resolve();
      },
      drop(key) {
        kept.delete(nameOf(key));
        return Promise.resolve();
      },
    };
  };
  return { store: new Proxy(store, { get: (of, key) => (key === "cache" ? cache : Reflect.get(of, key, of)) }), kept };
}
