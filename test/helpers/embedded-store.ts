// The embedded engine: the conversation store over isomorphic-git and any file system. In memory it is the fast store of
// tests. Ref moves are compare-and-swap within the process: all stores over one file system share a queue.
import git from "isomorphic-git";
import { createFsFromVolume, Volume } from "memfs";
import { repositoryError, userError } from "../../src/core/errors.ts";
import { NO_CACHE } from "../../src/store/cache.ts";
import type {
  BranchTip,
  BranchWrite,
  CommitSpec,
  ConversationStore,
  FileChange,
  Signature,
  TreeFile,
  WriteResult,
} from "../../src/store/conversation-store.ts";
import { pathParts } from "../../src/store/native/objects/tree-object.ts";
import { refOfBranch } from "../../src/store/native/refs/ref-name.ts";
import { formatMessage, quotePath } from "../../src/store/native/writes/fast-import-text.ts";
import { readEmbeddedLog } from "./embedded-log.ts";
import type { EmbeddedRepository } from "./embedded-repository.ts";

const ROOT = "/store";

/** Creates an empty repository in memory. */
export async function createMemoryRepository(): Promise<EmbeddedRepository> {
  const fs = createFsFromVolume(new Volume()) as unknown as EmbeddedRepository["fs"];
  await git.init({ fs, dir: ROOT, defaultBranch: "main" });
  return { fs, dir: ROOT, gitdir: `${ROOT}/.git`, cache: {}, lock: Promise.resolve() };
}

/** Creates a store in memory. */
export async function createMemoryStore(): Promise<ConversationStore> {
  return openEmbeddedStore(await createMemoryRepository());
}

async function listBranches(repository: EmbeddedRepository): Promise<readonly BranchTip[]> {
  const names = [...(await git.listBranches(repository))].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  return await Promise.all(names.map(async (name) => ({ name, commit: (await readBranch(repository, name)) ?? "" })));
}

/** Opens a store over a repository. */
export function openEmbeddedStore(repository: EmbeddedRepository): ConversationStore {
  const { dir, gitdir } = repository;
  let count = 0;
  const readBlob = async (oid: string): Promise<Uint8Array> => {
    count++;
    return await orMissing(oid, async () => (await git.readBlob({ ...repository, oid })).blob);
  };
  return {
    engine: "embedded",
    root: dir,
    gitDir: gitdir,
    worktrees: null,
    trash: null,
    remotes: null,
    cache: () => NO_CACHE,
    dropCaches: () => Promise.resolve(),
    journal: () => `${gitdir}/jpg-journal`,
    keepText: () => Promise.resolve(null),
    identity: () => Promise.resolve({ name: "jpg", email: "jpg@localhost" }),
    previousBranch: () => Promise.resolve(null),
    formerTips: () => Promise.resolve([]),
    cutOffCommits: () => Promise.resolve(new Set()),
    isPublished: () => Promise.resolve(false),
    excludeViews: () => Promise.resolve(),
    ignoredSettings: () => [],
    maintain: () => undefined,
    listBranches: () => listBranches(repository),
    async listBranchesWith(commit) {
      const tips = await listBranches(repository);
      const holds = await Promise.all(
        tips.map(
          async ({ commit: oid }) =>
            oid === commit || (await git.isDescendent({ ...repository, oid, ancestor: commit })),
        ),
      );
      return tips.filter((_, index) => holds[index]);
    },
    readBranch: async (name) => await readBranch(repository, name),
    readActiveBranch: async () => (await git.currentBranch(repository)) ?? null,
    async useBranch(name) {
      if ((await readBranch(repository, name)) === null)
        throw userError("branch_missing", `there is no branch ${name} in ${dir}`);
      await git.writeRef({ ...repository, ref: "HEAD", value: refOfBranch(name), symbolic: true, force: true });
      await git.checkout({ ...repository, ref: name, force: true });
    },
    resolveCommit: (revision) => resolveCommit(repository, revision),
    async listTree(commit, { under = [], sizes = false } = {}) {
      const files = await listFiles(repository, await rootTree(repository, commit), "");
      const folders = under.map((folder) => pathParts(folder).join("/"));
      const wanted = files.filter(
        ({ path }) => folders.length === 0 || folders.some((f) => path === f || path.startsWith(`${f}/`)),
      );
      if (!sizes) return wanted;
      return await Promise.all(
        wanted.map(async (file) => ({
          ...file,
          size: (await git.readBlob({ ...repository, oid: file.oid })).blob.length,
        })),
      );
    },
    async readEntries(commit, paths) {
      const root = await rootTree(repository, commit);
      const found = await Promise.all(
        paths.map(async (path) => [path, await findEntry(repository, root, path)] as const),
      );
      return new Map(found.flatMap(([path, oid]) => (oid === null ? [] : [[path, oid] as const])));
    },
    async *readBlobs(oids) {
      for (const oid of oids) yield await readBlob(oid);
    },
    async readCommitTimes(commits) {
      return await Promise.all(
        commits.map((oid) =>
          orMissing(oid, async () => (await git.readCommit({ ...repository, oid })).commit.committer.timestamp),
        ),
      );
    },
    // isomorphic-git has nothing that checks a repository.
    verify: () => Promise.resolve({ problems: [], rewritten: [] }),
    async readLog(query) {
      const from = await resolveCommit(repository, query.from);
      if (from === null) throw repositoryError("object_missing", `no commit is named ${query.from}`);
      return await readEmbeddedLog(
        repository,
        { ...query, from },
        async (at) => await listFiles(repository, await rootTree(repository, at), ""),
      );
    },
    async findText(commits, { texts, under, ignoreCase = false }) {
      const found = new Map<string, string[]>();
      const fold = (text: string): string => (ignoreCase ? text.replace(/[A-Z]/g, (c) => c.toLowerCase()) : text);
      for (const commit of commits) {
        const files = await listFiles(repository, await rootTree(repository, commit), "");
        for (const { path, oid } of files.filter((file) =>
          under.some((folder) => file.path.startsWith(`${folder}/`)),
        )) {
          const content = fold(Buffer.from(await readBlob(oid)).toString("utf8"));
          if (texts.some((text) => content.includes(fold(text))))
            found.set(commit, [...(found.get(commit) ?? []), path]);
        }
      }
      return found;
    },
    write: (writes) => write(repository, writes),
    createBranch: async (name, commit) => await moveBranch(repository, name, null, commit),
    get objectsRead() {
      return count;
    },
    close: () => Promise.resolve(),
  };
}

async function orMissing<T>(oid: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw repositoryError("object_missing", `object ${oid} is not in the store`, { data: { oid }, cause });
  }
}

async function readBranch(repository: EmbeddedRepository, name: string): Promise<string | null> {
  return await orNull(git.resolveRef({ ...repository, ref: refOfBranch(name) }));
}

async function orNull<T>(value: Promise<T>): Promise<T | null> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof git.Errors.NotFoundError || error instanceof git.Errors.AmbiguousError) return null;
    throw error;
  }
}

async function resolveCommit(repository: EmbeddedRepository, revision: string): Promise<string | null> {
  const [, name = "", steps] = /^([^~^\n]+)(?:~(\d+))?$/.exec(revision) ?? [];
  if (name === "" || name.startsWith("-")) return null;
  const isPrefix = /^[0-9a-f]{4,40}$/.test(name);
  let oid = await orNull(git.resolveRef({ ...repository, ref: name }));
  if ((oid === null || oid === name) && isPrefix) oid = await orNull(git.expandOid({ ...repository, oid: name }));
  for (let i = Number(steps ?? 0); i > 0 && oid !== null; i--) {
    oid = (await git.readCommit({ ...repository, oid })).commit.parent[0] ?? null;
  }
  return oid === null ? null : await orNull(git.readCommit({ ...repository, oid }).then((read) => read.oid));
}

async function rootTree(repository: EmbeddedRepository, commit: string): Promise<string> {
  const oid = await resolveCommit(repository, commit);
  if (oid === null)
    throw repositoryError("object_missing", `no tree is stored for ${commit}`, { data: { oid: commit } });
  return (await git.readCommit({ ...repository, oid })).commit.tree;
}

async function listFiles(repository: EmbeddedRepository, tree: string, prefix: string): Promise<TreeFile[]> {
  const entries = (await git.readTree({ ...repository, oid: tree })).tree;
  // git's order: a folder stands where its name with a slash would.
  const key = (entry: { path: string; type: string }): Buffer =>
    Buffer.from(entry.type === "tree" ? `${entry.path}/` : entry.path);
  const sorted = [...entries].sort((a, b) => Buffer.compare(key(a), key(b)));
  const lists = await Promise.all(
    sorted.map(async ({ path, oid, type }) =>
      type === "tree" ? await listFiles(repository, oid, `${prefix}${path}/`) : [{ path: prefix + path, oid }],
    ),
  );
  return lists.flat();
}

async function findEntry(repository: EmbeddedRepository, root: string, path: string): Promise<string | null> {
  let at = { oid: root, type: "tree" };
  for (const part of pathParts(path)) {
    if (at.type !== "tree") return null;
    const next = (await git.readTree({ ...repository, oid: at.oid })).tree.find((entry) => entry.path === part);
    if (next === undefined) return null;
    at = next;
  }
  return at.oid;
}

async function write(
  repository: EmbeddedRepository,
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<WriteResult[]> {
  const written: { readonly write: BranchWrite; readonly commits: string[]; readonly commit: string }[] = [];
  for await (const one of writes) {
    const commits: string[] = [];
    for await (const commit of one.commits)
      commits.push(await writeCommit(repository, commit, commits.at(-1) ?? one.parent));
    const commit = commits.at(-1) ?? one.parent;
    if (commit === null) throw userError("empty_write", `nothing to write to ${one.branch}: no commits and no parent`);
    written.push({ write: one, commits, commit });
  }
  const results: WriteResult[] = [];
  for (const { write: one, commits, commit } of written) {
    results.push({
      branch: one.branch,
      commit,
      commits,
      moved: await moveBranch(repository, one.branch, one.expected, commit),
    });
  }
  return results;
}

async function writeCommit(repository: EmbeddedRepository, spec: CommitSpec, parent: string | null): Promise<string> {
  const files = new Map<string, string>();
  if (parent !== null)
    for (const { path, oid } of await listFiles(repository, await rootTree(repository, parent), ""))
      files.set(path, oid);
  for (const change of spec.changes) await applyChange(repository, files, change);
  const tree = await writeTree(repository, [...files]);
  return await git.writeCommit({
    ...repository,
    commit: {
      message: formatMessage(spec.message),
      tree,
      parent: parent === null ? [] : [parent],
      author: toPerson(spec.author),
      committer: toPerson(spec.committer),
    },
  });
}

async function applyChange(
  repository: EmbeddedRepository,
  files: Map<string, string>,
  change: FileChange,
): Promise<void> {
  quotePath(change.path);
  if ("remove" in change) files.delete(change.path);
  else if ("bytes" in change) files.set(change.path, await git.writeBlob({ ...repository, blob: change.bytes }));
  else {
    await orMissing(change.oid, async () => await git.readBlob({ ...repository, oid: change.oid }));
    files.set(change.path, change.oid);
  }
}

async function writeTree(
  repository: EmbeddedRepository,
  files: readonly (readonly [path: string, oid: string])[],
): Promise<string> {
  const folders = new Map<string, [string, string][]>();
  const tree: { mode: string; path: string; oid: string; type: "blob" | "tree" }[] = [];
  for (const [path, oid] of files) {
    const slash = path.indexOf("/");
    if (slash < 0) tree.push({ mode: "100644", path, oid, type: "blob" });
    else {
      const name = path.slice(0, slash);
      folders.set(name, [...(folders.get(name) ?? []), [path.slice(slash + 1), oid]]);
    }
  }
  for (const [path, inside] of folders)
    tree.push({ mode: "040000", path, oid: await writeTree(repository, inside), type: "tree" });
  return await git.writeTree({ ...repository, tree });
}

function toPerson({ name, email, seconds, offsetMinutes = 0 }: Signature): {
  name: string;
  email: string;
  timestamp: number;
  timezoneOffset: number;
} {
  return { name, email, timestamp: seconds, timezoneOffset: offsetMinutes === 0 ? 0 : -offsetMinutes };
}

/** Moves a branch when it stands at `expected`. */
async function moveBranch(
  repository: EmbeddedRepository,
  name: string,
  expected: string | null,
  to: string,
): Promise<boolean> {
  const ref = refOfBranch(name);
  const before = repository.lock;
  const moving = (async () => {
    await before.catch(() => undefined);
    if ((await readBranch(repository, name)) !== expected) return false;
    await git.writeRef({ ...repository, ref, value: to, force: true });
    return true;
  })();
  repository.lock = moving;
  return await moving;
}
