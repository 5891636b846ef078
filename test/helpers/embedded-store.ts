// Stores of the embedded engine in memory, over memfs, for tests.
import { inflateSync } from "node:zlib";
import git from "isomorphic-git";
import { createFsFromVolume, Volume } from "memfs";
import type { EmbeddedRepository } from "../../src/store/embedded/repository.ts";
import { createEmbeddedStore } from "../../src/store/embedded/store.ts";
import type { FileSystem } from "../../src/store/ref-files.ts";
import { type ConversationStore, FALLBACK_IDENTITY } from "../../src/store/store.ts";

const ROOT = "/store";
const GIT_DIR = `${ROOT}/.git`;

/** Creates an empty repository in memory, whose objects isomorphic-git reads. */
export function createMemoryRepository(): Promise<EmbeddedRepository> {
  return createRepository(new Volume(), () => null);
}

async function createRepository(
  volume: Volume,
  read: EmbeddedRepository["files"]["read"],
): Promise<EmbeddedRepository> {
  const fs = createFsFromVolume(volume) as unknown as FileSystem;
  answerFast(fs.promises);
  await git.init({ fs, dir: ROOT, defaultBranch: "main" });
  return {
    fs,
    root: ROOT,
    gitDir: GIT_DIR,
    isBare: false,
    isOnDisk: false,
    env: {},
    files: { read, missing: (oids) => oids.filter((oid) => read(oid) === null), close: () => undefined },
    cache: {},
    identity: () => Promise.resolve(FALLBACK_IDENTITY),
    signs: () => Promise.resolve(false),
    now: () => new Date("2026-05-01T12:00:00Z"),
  };
}

/** At each of its calls isomorphic-git reads no file twice, to see whether it gets a promise: memfs would make errors with their stacks. */
function answerFast(promises: FileSystem["promises"]): void {
  const { readFile } = promises;
  const quick = (...args: Partial<Parameters<typeof readFile>>) =>
    args.length === 0 ? Promise.resolve("") : readFile.apply(promises, args as Parameters<typeof readFile>);
  Object.assign(promises, { readFile: quick });
}

/** Creates a store in memory. Its objects are inflated once, by zlib: isomorphic-git takes ten times as long, each time. */
export async function createMemoryStore(): Promise<ConversationStore> {
  const volume = new Volume();
  const known = new Map<string, LooseObject>();
  const read = (oid: string): LooseObject | null => {
    const object = known.get(oid) ?? readLoose(volume, oid);
    if (object !== null) known.set(oid, object);
    return object;
  };
  return createEmbeddedStore(await createRepository(volume, read));
}

type LooseObject = NonNullable<ReturnType<EmbeddedRepository["files"]["read"]>>;

function readLoose(volume: Volume, oid: string): LooseObject | null {
  const path = `${GIT_DIR}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`;
  if (!volume.existsSync(path)) return null;
  const bytes = inflateSync(volume.readFileSync(path) as Buffer);
  return { type: bytes.toString("latin1", 0, bytes.indexOf(" ")), bytes: bytes.subarray(bytes.indexOf(0) + 1) };
}
