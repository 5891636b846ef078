// Stores of the embedded engine for tests: in memory, over memfs, and on a disk.
import git from "isomorphic-git";
import { createFsFromVolume, Volume } from "memfs";
import type { ConversationStore } from "../../src/store/conversation-store.ts";
import { createEmbeddedStore } from "../../src/store/embedded/embedded-store.ts";
import type { EmbeddedRepository, FileSystem } from "../../src/store/embedded/repository.ts";
import { FALLBACK_IDENTITY } from "../../src/store/store-surroundings.ts";

const ROOT = "/store";

/** Creates an empty repository in memory. */
export async function createMemoryRepository(): Promise<EmbeddedRepository> {
  const fs = createFsFromVolume(new Volume()) as unknown as FileSystem;
  await git.init({ fs, dir: ROOT, defaultBranch: "main" });
  return {
    fs,
    root: ROOT,
    gitDir: `${ROOT}/.git`,
    isBare: false,
    files: null,
    cache: {},
    identity: () => Promise.resolve(FALLBACK_IDENTITY),
    signs: () => Promise.resolve(false),
    now: () => new Date("2026-05-01T12:00:00Z"),
  };
}

/** Creates a store in memory. */
export async function createMemoryStore(): Promise<ConversationStore> {
  return createEmbeddedStore(await createMemoryRepository());
}
