// The conversation store without the git program: isomorphic-git for objects, git's own files and locks for refs. On a disk it
// works at the same time as any git; in memory, over memfs, it is the fast store of tests.
import * as fs from "node:fs";
import { join } from "node:path";
import { type JpgError, repositoryError, userError } from "../../core/errors.ts";
import { readIdentityFile, signsCommits } from "../config-file.ts";
import type { Environment } from "../environment.ts";
import { createObjectFiles } from "../git/object-files.ts";
import { configureBranches, formerTipsIn, isPublished, previousBranchIn, recordPublished } from "../git/refs.ts";
import { findOwnRepository, findProjectPlace } from "../git/repository.ts";
import { createTreeReader, type LoadTree } from "../git/trees.ts";
import { excludeViews } from "../git/worktrees.ts";
import { dropCaches, journalFolder, keepText, needsGit, openCache } from "../git-dir.ts";
import { clearLeftovers } from "../locks.ts";
import { listRefs, readRefFile, readText, refOfBranch } from "../ref-files.ts";
import {
  type BranchTip,
  type BranchWrite,
  type CommitSpec,
  type ConversationStore,
  type FileChange,
  NO_CACHE,
  type StoreServices,
  type TextQuery,
  type TreeFile,
  type WriteResult,
} from "../store.ts";
import { formatCommit, openTreeEditor, type TreeEditor } from "./commit-objects.ts";
import {
  createCommitReader,
  type ReadCommit,
  readLog,
  resolveRevision,
  tipsHolding,
  verifyObjects,
} from "./history.ts";
import { createObjects, createTreeLoader, type EmbeddedObjects, missingObject } from "./objects.ts";
import { moveRef } from "./refs.ts";
import {
  createWorktrees,
  type EmbeddedRepository,
  readActiveBranch,
  requireSupported,
  useBranch,
  withBranchMarks,
  worktreesOf,
} from "./repository.ts";

/** Opens the store whose own worktree is `root`, on a disk. Throws `store_missing`, `foreign_repository`, `engine_unsupported`. */
export async function openEmbeddedStore(options: {
  readonly root: string;
  readonly env: Environment;
  readonly now: () => Date;
  /** Where jpg was started; absent = not in a project. */
  readonly cwd?: string;
}): Promise<ConversationStore> {
  const { root, env, cwd, now } = options;
  const found = await findOwnRepository(root, env);
  if (found === null) {
    throw userError("store_missing", `There is no jpg store at ${root}.`, {
      hints: ["`jpg init` makes one.", "Or name another with --store DIR."],
    });
  }
  const { commonDir: gitDir, isBare } = found;
  await requireSupported({ root, gitDir, env });
  return createEmbeddedStore({
    fs,
    root,
    gitDir,
    isBare,
    isOnDisk: true,
    env,
    files: createObjectFiles(gitDir, { largest: Number.POSITIVE_INFINITY }),
    cache: {},
    identity: async (role) =>
      readIdentityFile(gitDir, env, { role, project: await findProjectPlace({ gitDir, root }, cwd) }),
    signs: () => signsCommits(gitDir, env),
    now,
  });
}

/** Creates a store over a repository, which may be in memory. */
export function createEmbeddedStore(repository: EmbeddedRepository): ConversationStore {
  const { root, gitDir } = repository;
  const objects = createObjects(repository);
  const load = createTreeLoader(objects);
  const read = createCommitReader(objects, () => readCutOffCommits(repository));
  const tools: CommitTools = { objects, load, read, signs: repository.signs, env: repository.env };
  const resolve = (revision: string, place = gitDir): Promise<string | null> =>
    resolveRevision(repository, { objects, read, head: place }, revision);
  const trees = createTreeReader({
    read: async (name) => findTree(objects, await treeOf(name, resolve, read)),
    explainMissing: (oid) => Promise.resolve(missingObject(repository, oid)),
  });
  return {
    engine: "embedded",
    root,
    gitDir,
    worktrees: createWorktrees(repository),
    trash: null,
    remotes: null,
    sharing: null,
    histories: null,
    partial: null,
    ...createServices(repository),
    listBranches: (skip) => listBranches(repository, skip),
    listBranchesWith: (commit) => listBranchesWith(repository, read, commit),
    readBranch: async (name) => readRefFile(repository, refOfBranch(name)),
    readActiveBranch: () => readActiveBranch(repository),
    useBranch: (name, worktree) => useBranch(repository, name, worktree),
    resolveCommit: (revision, worktree) => resolve(revision, worktree?.gitDir),
    async listTree(commit, { under = [], sizes = false } = {}) {
      const files = await trees.list(commit, under);
      return sizes ? await withSizes(objects, files) : files;
    },
    readEntries: (commit, paths) => trees.entries(commit, paths),
    async *readBlobs(oids, atLeast) {
      for (const oid of oids) yield (await objects.read(oid, atLeast)).bytes;
    },
    readCommitTimes: (commits) => readCommitTimes(read, commits),
    async readLog(query) {
      const from = await resolve(query.from);
      if (from === null) throw missingObject(repository, query.from);
      return await readLog(read, load, { ...query, from });
    },
    findText: (commits, query) => findText(objects, (commit, under) => trees.list(commit, under), commits, query),
    async write(writes) {
      if (repository.isOnDisk) await clearLeftovers({ gitDir, cwd: root }, await worktreesOf(repository));
      return await write(repository, tools, writes);
    },
    verify: async () => verifyObjects(tools, await listRefs(repository, "refs/")),
    createBranch: async (name, commit) => moveBranch(repository, { branch: name, expected: null, to: commit }),
    get objectsRead() {
      return objects.count;
    },
    close: () => Promise.resolve(repository.files.close()),
  };
}

/** The id of a tree given by id, or as `<revision>^{tree}`; null when there is no such commit. */
async function treeOf(
  name: string,
  resolve: (revision: string) => Promise<string | null>,
  read: CommitTools["read"],
): Promise<string | null> {
  const [, revision] = /^(.*)\^\{tree\}$/s.exec(name) ?? [];
  if (revision === undefined) return name;
  const commit = await resolve(revision);
  return commit === null ? null : (await read(commit)).tree;
}

async function listBranchesWith(
  repository: EmbeddedRepository,
  read: CommitTools["read"],
  commit: string,
): Promise<readonly BranchTip[]> {
  const tips = await listBranches(repository, () => undefined);
  const holding = await tipsHolding(read, [...new Set(tips.map((tip) => tip.commit))], commit);
  return tips.filter((tip) => holding.has(tip.commit));
}

async function readCommitTimes(read: CommitTools["read"], commits: readonly string[]): Promise<readonly number[]> {
  const times: number[] = [];
  for (const commit of commits) times.push((await read(commit)).committer.seconds);
  return times;
}

async function findTree(objects: EmbeddedObjects, oid: string | null): ReturnType<EmbeddedObjects["find"]> {
  return oid === null ? null : await objects.find(oid);
}

async function listBranches(
  repository: EmbeddedRepository,
  skip?: (error: JpgError) => void,
): Promise<readonly BranchTip[]> {
  const tips: BranchTip[] = [];
  for (const { ref, commit } of await listRefs(repository, "refs/heads/")) {
    if (commit !== null) tips.push({ name: ref.slice("refs/heads/".length), commit });
    else if (skip === undefined) throw brokenBranch(repository, ref);
    else skip(brokenBranch(repository, ref));
  }
  return tips;
}

function brokenBranch({ gitDir }: EmbeddedRepository, ref: string): JpgError {
  return repositoryError("store_damaged", `The store is damaged: ${gitDir}/${ref} holds no commit id.`, {
    hints: [
      `To see its last commits: tail ${gitDir}/logs/${ref}`,
      `To set it again: write the id of a commit into ${gitDir}/${ref}`,
    ],
    data: { ref },
  });
}

async function withSizes(objects: EmbeddedObjects, files: readonly TreeFile[]): Promise<readonly TreeFile[]> {
  const sized: TreeFile[] = [];
  for (const file of files) {
    const size = file.special === "repository" ? 0 : (await objects.read(file.oid)).bytes.length;
    sized.push({ ...file, size });
  }
  return sized;
}

async function write(
  repository: EmbeddedRepository,
  tools: CommitTools,
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly WriteResult[]> {
  const results: WriteResult[] = [];
  for (const written of await writeBranches(tools, writes)) {
    const { branch, commits, to } = written;
    results.push({ branch, commit: to, commits, moved: await moveBranch(repository, written) });
  }
  return results;
}

/** Moves a branch by compare-and-swap; false when it is at another commit. */
async function moveBranch(
  repository: EmbeddedRepository,
  { branch, expected, to }: Omit<WrittenBranch, "commits">,
): Promise<boolean> {
  const ref = refOfBranch(branch);
  const move = (): Promise<boolean> => moveRef(repository, { ref, expected, to }, "jpg: write");
  const moved = await withBranchMarks(repository, branch, expected, move);
  if (moved && expected === null) await configure(repository, [branch]);
  return moved;
}

// Finds files of commits that hold a text. Commits of a conversation share most of their files: each is read once.

/** Returns the paths of each commit's files that hold one of the texts, in path order; commits without any are left out. */
export async function findText(
  objects: EmbeddedObjects,
  list: (commit: string, under: readonly string[]) => Promise<readonly TreeFile[]>,
  commits: readonly string[],
  { texts, under, ignoreCase = false }: TextQuery,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const fold = (bytes: Buffer): Buffer => (ignoreCase ? toLowerCase(bytes) : bytes);
  const wanted = texts.map((text) => fold(Buffer.from(text)));
  const known = new Map<string, boolean>();
  const holds = async (oid: string): Promise<boolean> => {
    const found = known.get(oid);
    if (found !== undefined) return found;
    const bytes = fold((await objects.read(oid)).bytes);
    const isFound = wanted.some((text) => bytes.includes(text));
    known.set(oid, isFound);
    return isFound;
  };
  const found = new Map<string, string[]>();
  if (wanted.length === 0) return found;
  for (const commit of commits) {
    const paths: string[] = [];
    for (const { path, oid, special } of await list(commit, under)) {
      if (special !== "repository" && (await holds(oid))) paths.push(path);
    }
    if (paths.length > 0) found.set(commit, paths);
  }
  return found;
}

/** ASCII letters only, as git folds fixed strings outside a locale. */
function toLowerCase(bytes: Buffer): Buffer {
  const folded = Buffer.from(bytes);
  for (const [at, byte] of folded.entries()) if (byte >= 0x41 && byte <= 0x5a) folded[at] = byte + 0x20;
  return folded;
}

/** Creates the services of a repository; in memory they store nothing. */
export function createServices(repository: EmbeddedRepository): StoreServices {
  const { gitDir, isOnDisk } = repository;
  return {
    cache: (name, worktree) => (isOnDisk ? openCache(worktree?.gitDir ?? gitDir, name) : NO_CACHE),
    dropCaches: async () => (isOnDisk ? await dropCaches(gitDir) : undefined),
    journal: () => journalFolder(gitDir),
    keepText: async (name, text) => (isOnDisk ? await keepText(gitDir, name, text) : null),
    // Only git reads its settings outside the store.
    editor: () => Promise.resolve(null),
    identity: async () => ({
      ...(await repository.identity("author")),
      committer: await repository.identity("committer"),
      maySign: await repository.signs(),
    }),
    async previousBranch(worktree) {
      const place = worktree?.gitDir ?? gitDir;
      const reflog = await readText(repository, join(place, "logs", "HEAD"));
      return previousBranchIn(reflog, await readActiveBranch(repository, place));
    },
    formerTips: async (branch) => formerTipsIn(await readText(repository, join(gitDir, "logs", refOfBranch(branch)))),
    cutOffCommits: () => readCutOffCommits(repository),
    isPublished: async () => isOnDisk && (await isPublished(gitDir)),
    recordPublished: async (commits) => (isOnDisk ? await recordPublished(gitDir, commits) : undefined),
    maskedCopies: () => null,
    excludeViews: async () => (isOnDisk ? await excludeViews(gitDir) : undefined),
    configureBranches: (names) => configure(repository, names),
    // No program is ever started.
    ignoredSettings: () => [],
    // Git packs objects: left to the next jpg with git.
    maintain: () => Promise.resolve(),
    upkeep: () => Promise.resolve(null),
  };
}

/** Stock git must never take one record for a renamed copy of another; it does not see a store in memory. */
export async function configure({ isOnDisk, gitDir }: EmbeddedRepository, names: readonly string[]): Promise<void> {
  if (isOnDisk) await configureBranches({ gitDir }, names);
}

/** Commits whose parents a shallow clone left out. */
export async function readCutOffCommits(repository: EmbeddedRepository): Promise<ReadonlySet<string>> {
  const text = (await readText(repository, join(repository.gitDir, "shallow"))) ?? "";
  return new Set(text.split("\n").filter((line) => line !== ""));
}

// Writes commits object by object: their blobs, the folders that changed, the commit. No ref names them until the branch moves,
// so an interrupted write leaves only unreachable objects.

export interface CommitTools {
  readonly objects: EmbeddedObjects;
  readonly load: LoadTree;
  readonly read: ReadCommit;
  /** Whether the user's git signs commits. */
  readonly signs: () => Promise<boolean>;
  readonly env: EmbeddedRepository["env"];
}

/** Commits that were written for a branch which has not moved yet. */
export interface WrittenBranch {
  readonly branch: string;
  readonly expected: string | null;
  /** The commit to move the branch to. */
  readonly to: string;
  /** Ids of the commits, oldest first. */
  readonly commits: readonly string[];
}

/** Writes the commits of all writes; moves no branch. Throws `object_missing`, `bad_path`, `empty_write`, `needs_git`. */
export async function writeBranches(
  tools: CommitTools,
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly WrittenBranch[]> {
  const written: WrittenBranch[] = [];
  for await (const { branch, expected, parent, commits: specs } of writes) {
    const editor = openTreeEditor(tools.objects, tools.load, parent === null ? null : (await tools.read(parent)).tree);
    const commits: string[] = [];
    for await (const spec of specs) commits.push(await writeCommit(tools, editor, spec, commits.at(-1) ?? parent));
    const to = commits.at(-1) ?? parent;
    if (to === null)
      throw userError("empty_write", `There is nothing to write to ${branch}: no commits and no parent.`);
    written.push({ branch, expected, to, commits });
  }
  await tools.objects.flush();
  return written;
}

async function writeCommit(
  tools: CommitTools,
  editor: TreeEditor,
  spec: CommitSpec,
  parent: string | null,
): Promise<string> {
  if (spec.sign === true && (await tools.signs())) throw needsGit("Signing a commit (commit.gpgSign)", tools.env);
  for (const change of spec.changes) {
    if ("remove" in change) await editor.remove(change.path);
    else await editor.put(change.path, await blobOf(tools.objects, change));
  }
  const tree = await editor.write();
  return await tools.objects.write("commit", formatCommit(spec, { tree, parent }));
}

async function blobOf(
  objects: EmbeddedObjects,
  change: Exclude<FileChange, { readonly remove: true }>,
): Promise<string> {
  if ("oid" in change) return (await objects.read(change.oid)).oid;
  // The bytes may be reused as soon as the next change is asked for.
  return await objects.write("blob", Uint8Array.from(change.bytes));
}
