// The caches of a store: small files that save work. Each may be gone at any time and may hold anything, so whoever reads one
// checks it, and does the work again where it does not hold.

/** Files of one kind. The name of a cache ends with the version of what stands in it, where that has changed. */
export interface Cache {
  /** What is kept under a key, of a cache that is one file under none; null when nothing is, or it cannot be read. */
  read(key?: string): Buffer | null;
  /** Keeps something; without effect where nothing can be written. */
  write(content: string | Uint8Array, key?: string): Promise<void>;
  /** Forgets what is kept under a key. */
  drop(key?: string): Promise<void>;
}

/** The cache of a store that is nowhere on a disk. */
export const NO_CACHE: Cache = {
  read: () => null,
  write: () => Promise.resolve(),
  drop: () => Promise.resolve(),
};
