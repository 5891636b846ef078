// The object ids of a branch's turn files. Full directories of turns are remembered in a cache, because a tree of a
// long history is a long chain of deltas: a branch is listed by reading its newest directory and the names of the others.
import { TURNS_PER_DIRECTORY, turnDirectory, turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type DirectoryCache, openDirectoryCache } from "./directory-cache.ts";

/** Directories asked for at once at first; then as many as there were so far. */
const FIRST_DIRECTORIES = 64;

/** Lists the turn files of a commit: object ids by position, `undefined` where a turn is missing; a link or a repository in its place is no turn. */
export async function listTurnOids(store: ConversationStore, commit: string): Promise<(string | undefined)[]> {
  const directories = await findDirectories(store, commit);
  if (directories.length === 0) return [];
  const known = openKnown(store, directories);
  const turns: (string | undefined)[] = [];
  const unknown: number[] = [];
  for (const [directory, oid] of directories.entries()) {
    if (oid === undefined) continue;
    const oids = known.find(directory, oid);
    if (oids === null) unknown.push(directory);
    else for (const [index, turn] of oids.entries()) turns[directory * TURNS_PER_DIRECTORY + index] = turn;
  }
  for (const [index, turn] of await listDirectories(store, commit, unknown)) turns[index] = turn;
  if (directories.length > 1) await remember(known, { directories, unknown, turns });
  return Array.from(turns); // holes become values
}

/** Only full directories are remembered: a single one is listed, the reading of what is remembered would cost more. */
function openKnown(store: ConversationStore, [first = "", ...others]: readonly (string | undefined)[]): DirectoryCache {
  return openDirectoryCache(store.cache("turns"), others.length === 0 ? "" : first);
}

/** Object ids of the directories under turns/, by number; a hole where one is missing. */
async function findDirectories(store: ConversationStore, commit: string): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (let from = 0, count = FIRST_DIRECTORIES; ; from += count, count = from) {
    const paths = Array.from({ length: count }, (_, index) => turnDirectory(from + index));
    const entries = await store.readEntries(commit, paths);
    for (const [index, path] of paths.entries()) {
      const oid = entries.get(path);
      if (oid !== undefined) found[from + index] = oid;
    }
    if (found.length < from + count) return found;
  }
}

/** Turns by position; undefined = what stands there is no file. */
async function listDirectories(
  store: ConversationStore,
  commit: string,
  directories: readonly number[],
): Promise<readonly (readonly [index: number, oid: string | undefined])[]> {
  if (directories.length === 0) return [];
  const files = await store.listTree(commit, { under: directories.map(turnDirectory) });
  return files.flatMap(({ path, oid, special }) => {
    const index = turnIndexOfPath(path);
    return index === null ? [] : [[index, special === undefined ? oid : undefined] as const];
  });
}

async function remember(
  known: DirectoryCache,
  found: {
    readonly directories: readonly (string | undefined)[];
    readonly unknown: readonly number[];
    readonly turns: readonly (string | undefined)[];
  },
): Promise<void> {
  for (const directory of found.unknown) {
    const from = directory * TURNS_PER_DIRECTORY;
    const oids = found.turns.slice(from, from + TURNS_PER_DIRECTORY);
    known.add(directory, { oid: found.directories[directory] ?? "", turns: oids });
  }
  await known.save();
}
