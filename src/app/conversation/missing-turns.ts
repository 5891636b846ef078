// Turns that stock git took out of the middle of a branch (`git revert` of one, a rebase that drops one): they are read where they
// still stand, in the history or where the branch stood before, and nothing new is made of the branch until they are back.
import { TURNS_PER_DIRECTORY, turnPath } from "../../core/conversation/turn-file.ts";
import type { Cache, ConversationStore } from "../../store/store.ts";
import { treeId } from "./runtime.ts";

/** A turn that the branch has no more, and a commit that has it. */
export interface MissingTurn {
  /** 0-based. */
  readonly turn: number;
  readonly oid: string;
  readonly commit: string;
  /** The commit of the branch's history that removed it; null = the branch was moved to a history without it. */
  readonly removedBy: string | null;
}

/** Finds the turns of a list that has holes, by rising number; one that is nowhere is left out. */
export async function findMissingTurns(
  store: ConversationStore,
  { branch, commit }: { readonly branch: string; readonly commit: string },
  oids: readonly (string | undefined)[],
): Promise<readonly MissingTurn[]> {
  const wanted = oids.flatMap((oid, turn) => (oid === undefined ? [turn] : []));
  const places = await placesOf(store, { branch, commit });
  const found: MissingTurn[] = [];
  for (const turn of wanted) {
    const one = await findIn(store, places, turn);
    if (one !== null) found.push(one);
  }
  return found;
}

/** Commits that may have what is missing, the likeliest first; `removes` = what the commit after them takes away, null = not known. */
interface Place {
  readonly commit: string;
  readonly removedBy: string | null;
  readonly removes: ReadonlySet<string> | null;
}

async function placesOf(
  store: ConversationStore,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<readonly Place[]> {
  const log = await store.readLog({ from: commit, paths: ["turns"] });
  const removals = log.flatMap(({ commit: removedBy, parents: [before], removed }) =>
    before === undefined || removed.length === 0 ? [] : [{ commit: before, removedBy, removes: new Set(removed) }],
  );
  const former = (await store.formerTips(branch)).filter((tip) => /[1-9a-f]/.test(tip));
  // What became a link or another repository was not removed.
  const changes = log.flatMap(({ commit: removedBy, parents: [before] }) =>
    before === undefined ? [] : [{ commit: before, removedBy, removes: null }],
  );
  return [...removals, ...former.map((tip) => ({ commit: tip, removedBy: null, removes: null })), ...changes];
}

async function findIn(store: ConversationStore, places: readonly Place[], turn: number): Promise<MissingTurn | null> {
  const path = turnPath(turn);
  for (const { commit, removedBy, removes } of places) {
    if (removes?.has(path) === false) continue;
    const file = await store.listTree(commit, { under: [path] }).then(
      ([first]) => first,
      () => undefined, // a commit that git has cleared away
    );
    if (file?.path === path && file.special === undefined) return { turn, oid: file.oid, commit, removedBy };
  }
  return null;
}

// Full directories of turns that were listed before, kept as git's own tree objects in one cache file per
// conversation. Each is found by its object id, computed from its bytes: a damaged or foreign file is only ever unknown, never wrong.

export interface DirectoryCache {
  /** Object ids of the 100 turns of a directory, by its number and object id; null when it is not known. */
  find(directory: number, oid: string): readonly string[] | null;
  /** Keeps a directory if it holds its 100 turns and nothing else. */
  add(directory: number, listed: { readonly oid: string; readonly turns: readonly (string | undefined)[] }): void;
  /** Writes what was added; without effect where nothing can be written. */
  save(): Promise<void>;
}

/** `100644 000012.jsonl`, a zero byte and 20 bytes of object id. */
const ENTRY_BYTES = 40;
const NAME_BYTES = 20;
const TREE_BYTES = ENTRY_BYTES * TURNS_PER_DIRECTORY;
/** Directories in a file before those of other forks are dropped: 4 MB, 100,000 turns. */
const MOST_DIRECTORIES = 1000;

/** Opens what is known of the conversation whose first directory has this object id. */
export function openDirectoryCache(cache: Cache, first: string): DirectoryCache {
  const known = first === "" ? new Map<string, Buffer>() : readTrees(cache, first);
  const added = new Map<string, Buffer>();
  const used = new Map<string, Buffer>();
  return {
    find(directory, oid) {
      const tree = known.get(oid);
      if (tree === undefined || !isOfDirectory(tree, directory)) return null;
      used.set(oid, tree);
      return readOids(tree);
    },
    add(directory, { oid, turns }) {
      const tree = formatTree(directory, turns);
      if (tree !== null && treeId(tree) === oid) added.set(oid, tree);
    },
    async save() {
      if (added.size === 0 || first === "") return;
      const kept = known.size + added.size > MOST_DIRECTORIES ? used : known;
      await cache.write(Buffer.concat([...new Map([...kept, ...added]).values()]), first);
    },
  };
}

function readTrees(cache: Cache, first: string): Map<string, Buffer> {
  const bytes = cache.read(first) ?? Buffer.alloc(0);
  const trees = new Map<string, Buffer>();
  for (let at = 0; at + TREE_BYTES <= bytes.length; at += TREE_BYTES) {
    const tree = bytes.subarray(at, at + TREE_BYTES);
    trees.set(treeId(tree), tree);
  }
  return trees;
}

function isOfDirectory(tree: Buffer, directory: number): boolean {
  const first = directory * TURNS_PER_DIRECTORY;
  return [0, TURNS_PER_DIRECTORY - 1].every((index) => {
    const at = index * ENTRY_BYTES;
    return tree.toString("latin1", at, at + NAME_BYTES) === entryName(first + index);
  });
}

function readOids(tree: Buffer): string[] {
  const hex = tree.toString("hex");
  const oids: string[] = [];
  for (let at = NAME_BYTES * 2; at < hex.length; at += ENTRY_BYTES * 2) oids.push(hex.slice(at, at + 40));
  return oids;
}

function formatTree(directory: number, turns: readonly (string | undefined)[]): Buffer | null {
  const first = directory * TURNS_PER_DIRECTORY;
  const tree = Buffer.alloc(TREE_BYTES);
  for (let index = 0; index < TURNS_PER_DIRECTORY; index++) {
    const [name, oid] = [entryName(first + index), turns[index]];
    if (oid === undefined || name.length !== NAME_BYTES) return null;
    tree.write(name, index * ENTRY_BYTES, "latin1");
    tree.write(oid, index * ENTRY_BYTES + NAME_BYTES, "hex");
  }
  return tree;
}

/** What stands before the object id: mode, name and the zero byte. */
function entryName(turn: number): string {
  const path = turnPath(turn);
  return `100644 ${path.slice(path.lastIndexOf("/") + 1)}\0`;
}
