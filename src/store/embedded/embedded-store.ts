// The conversation store without the git program: isomorphic-git for objects, git's own files and locks for refs. On a disk it
// works beside any git; in memory, over memfs, it is the fast store of tests.
import * as fs from "node:fs";
import { type JpgError, repositoryError, userError } from "../../core/errors.ts";
import type { BranchTip, BranchWrite, ConversationStore, TreeFile, WriteResult } from "../conversation-store.ts";
import type { Environment } from "../environment.ts";
import { clearLeftovers } from "../files/leftovers.ts";
import { createObjectFiles } from "../native/objects/object-files.ts";
import { createTreeReader } from "../native/objects/tree-reader.ts";
import { findOwnRepository } from "../native/refs/ownership.ts";
import { findProjectPlace } from "../native/refs/project-of-store.ts";
import { changeRefs } from "../refs/ref-changes.ts";
import { listRefs, readRefFile } from "../refs/ref-files.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import { readIdentityFile, signsCommits } from "../refs/user-settings.ts";
import { createCommitReader, readLog, tipsHolding } from "./history.ts";
import { createObjects, type EmbeddedObjects, missingObject } from "./objects.ts";
import { createRemotes } from "./remotes.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { resolveRevision } from "./revision.ts";
import { findText } from "./search.ts";
import { requireSupported } from "./supported.ts";
import { configure, createSurroundings, readCutOffCommits } from "./surroundings.ts";
import { createTrash } from "./trash.ts";
import { createTreeLoader } from "./trees.ts";
import { readActiveBranch, useBranch } from "./use-branch.ts";
import { verifyObjects } from "./verify.ts";
import { withBranchMarks, worktreesOf } from "./worktree-marks.ts";
import { createWorktrees } from "./worktrees.ts";
import { type CommitTools, type WrittenBranch, writeBranches } from "./write-branches.ts";

/**
 * Opens the store whose own worktree is `root`, on a disk. Throws `store_missing`, `foreign_repository`,
 * `engine_unsupported`.
 */
export async function openEmbeddedStore(options: {
  readonly root: string;
  readonly env: Environment;
  readonly now: () => Date;
  /** Where jpg was started; absent = not in a project that counts. */
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

/** A store over a repository, which may be in memory. */
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
    trash: createTrash(repository, (names) => configure(repository, names)),
    remotes: createRemotes(repository),
    sharing: null,
    histories: null,
    partial: null,
    ...createSurroundings(repository),
    listBranches: (passOver) => listBranches(repository, passOver),
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

/** The id of a tree that is asked for by id, or as `<revision>^{tree}`; null where there is no such commit. */
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
  passOver?: (error: JpgError) => void,
): Promise<readonly BranchTip[]> {
  const tips: BranchTip[] = [];
  for (const { ref, commit } of await listRefs(repository, "refs/heads/")) {
    if (commit !== null) tips.push({ name: ref.slice("refs/heads/".length), commit });
    else if (passOver === undefined) throw brokenBranch(repository, ref);
    else passOver(brokenBranch(repository, ref));
  }
  return tips;
}

function brokenBranch({ gitDir }: EmbeddedRepository, ref: string): JpgError {
  return repositoryError("store_damaged", `The store is damaged: ${gitDir}/${ref} holds no commit id.`, {
    hints: [
      `To see the last commits it stood at: tail ${gitDir}/logs/${ref}`,
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

/** Moves a branch by compare-and-swap; false when it stands elsewhere. */
async function moveBranch(
  repository: EmbeddedRepository,
  { branch, expected, to }: Omit<WrittenBranch, "commits">,
): Promise<boolean> {
  const ref = refOfBranch(branch);
  const move = (): Promise<boolean> => changeRefs(repository, [{ ref, expected, to }], "jpg: write");
  const moved = await withBranchMarks(repository, branch, expected, move);
  if (moved && expected === null) await configure(repository, [branch]);
  return moved;
}
