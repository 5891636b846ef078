// A store that is made by its first write, so that a command which finds nothing to write leaves no empty store behind.
// Until then it holds nothing.
import { join } from "node:path";
import { journalFolder } from "../../store/git-dir.ts";
import type { Sharing } from "../../store/sharing.ts";
import {
  type BranchWrite,
  type Cache,
  type ConversationStore,
  NO_CACHE,
  type StoreSurroundings,
  type WriteResult,
} from "../../store/store.ts";

/** Gives a store at `root` that `make` makes and opens once there is something to write. */
export function createStoreOnWrite(
  root: string,
  engine: ConversationStore["engine"],
  make: () => Promise<ConversationStore>,
): ConversationStore {
  let made: ConversationStore | null = null;
  const open = async (): Promise<ConversationStore> => {
    made ??= await make();
    return made;
  };
  return {
    engine,
    root,
    gitDir: gitDirOf(root),
    get worktrees() {
      return made?.worktrees ?? null;
    },
    get trash() {
      return made?.trash ?? null;
    },
    get remotes() {
      return made?.remotes ?? null;
    },
    get sharing() {
      return made?.sharing ?? (made === null && engine === "native" ? sharingOf(open) : null);
    },
    get histories() {
      return made?.histories ?? null;
    },
    get partial() {
      return made?.partial ?? null;
    },
    ...surroundingsOf(root, () => made, open),
    get objectsRead() {
      return made?.objectsRead ?? 0;
    },
    listBranches: async (passOver) => (await made?.listBranches(passOver)) ?? [],
    listBranchesWith: async (commit) => (await made?.listBranchesWith(commit)) ?? [],
    readBranch: async (name) => (await made?.readBranch(name)) ?? null,
    readActiveBranch: async () => (await made?.readActiveBranch()) ?? null,
    resolveCommit: async (revision, worktree) => (await made?.resolveCommit(revision, worktree)) ?? null,
    useBranch: async (name, worktree) => (await open()).useBranch(name, worktree),
    listTree: async (commit, query) => (await open()).listTree(commit, query),
    readEntries: async (commit, paths) => (await open()).readEntries(commit, paths),
    async *readBlobs(oids, atLeast) {
      if (oids.length > 0) yield* (await open()).readBlobs(oids, atLeast);
    },
    readCommitTimes: async (commits) => (await open()).readCommitTimes(commits),
    readLog: async (query) => (await open()).readLog(query),
    findText: async (commits, query) => (await made?.findText(commits, query)) ?? new Map(),
    write: async (writes) => writeUnlessEmpty(writes, open),
    verify: async () => (await made?.verify()) ?? { problems: [], rewritten: [] },
    createBranch: async (name, commit) => (await open()).createBranch(name, commit),
    close: async () => made?.close(),
  };
}

/** Before the store is made, nothing is kept: what would be has nowhere to stand. */
function surroundingsOf(
  root: string,
  made: () => ConversationStore | null,
  open: () => Promise<ConversationStore>,
): StoreSurroundings {
  return {
    cache: (name, worktree) => {
      const cache = (): Cache => made()?.cache(name, worktree) ?? NO_CACHE;
      return {
        read: (key) => cache().read(key),
        write: (content, key) => cache().write(content, key),
        drop: (key) => cache().drop(key),
      };
    },
    dropCaches: async () => made()?.dropCaches(),
    journal: () => made()?.journal() ?? journalFolder(gitDirOf(root)),
    keepText: async (name, text) => (await made()?.keepText(name, text)) ?? null,
    editor: async () => (await made()?.editor()) ?? null,
    identity: async () => (await open()).identity(),
    previousBranch: async (worktree) => (await made()?.previousBranch(worktree)) ?? null,
    formerTips: async (branch) => (await made()?.formerTips(branch)) ?? [],
    cutOffCommits: async () => (await made()?.cutOffCommits()) ?? new Set(),
    isPublished: async () => (await made()?.isPublished()) ?? false,
    recordPublished: async (commits) => made()?.recordPublished(commits),
    maskedCopies: () => made()?.maskedCopies() ?? null,
    excludeViews: async () => made()?.excludeViews(),
    configureBranches: async (names) => made()?.configureBranches(names),
    ignoredSettings: () => made()?.ignoredSettings() ?? [],
    maintain: async () => made()?.maintain(),
    upkeep: async () => (await made()?.upkeep()) ?? null,
  };
}

/** Before the store is made it has no remote, and adding one makes it. */
function sharingOf(open: () => Promise<ConversationStore>): Sharing {
  const opened = async (): Promise<Sharing> => {
    const { sharing } = await open();
    if (sharing === null) throw new TypeError("The native engine shares.");
    return sharing;
  };
  return {
    remotes: () => Promise.resolve([]),
    tracked: () => Promise.resolve([]),
    present: () => Promise.resolve(new Set()),
    localConversations: () => Promise.resolve(new Set()),
    addRemote: async (remote) => (await opened()).addRemote(remote),
    removeRemote: async (name) => (await opened()).removeRemote(name),
    listRefs: async (url, options) => (await opened()).listRefs(url, options),
    makeReadme: async (url, text, options) => (await opened()).makeReadme(url, text, options),
    fetch: async (remote, options) => (await opened()).fetch(remote, options),
    follow: async (remote, branches) => (await opened()).follow(remote, branches),
    push: async (remote, tips, options) => (await opened()).push(remote, tips, options),
    outgoing: async (objects) => (await opened()).outgoing(objects),
    touching: async (objects, path) => (await opened()).touching(objects, path),
    bundle: async (branches) => (await opened()).bundle(branches),
    forgetTracked: async (name) => (await opened()).forgetTracked(name),
    mergeBases: async (pairs, isAside) => (await opened()).mergeBases(pairs, isAside),
    markLocal: async (conversation, isLocal) => (await opened()).markLocal(conversation, isLocal),
  };
}

/** Where the git dir of the store is going to be. */
function gitDirOf(root: string): string {
  return join(root, ".git");
}

type Writes = Iterable<BranchWrite> | AsyncIterable<BranchWrite>;

async function writeUnlessEmpty(
  writes: Writes,
  open: () => Promise<ConversationStore>,
): Promise<readonly WriteResult[]> {
  const all = eachOf(writes);
  const first = await all.next();
  if (first.done === true) return [];
  try {
    const store = await open();
    return await store.write(startingWith(first.value, all));
  } finally {
    await all.return(undefined);
  }
}

async function* eachOf(writes: Writes): AsyncGenerator<BranchWrite, undefined> {
  yield* writes;
}

async function* startingWith(first: BranchWrite, rest: AsyncIterable<BranchWrite>): AsyncGenerator<BranchWrite> {
  yield first;
  yield* rest;
}
