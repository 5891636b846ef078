// The conversation store over the `git` program. Opening starts no process; reads share one `cat-file --batch`; a write is one
// fast-import and one ref transaction, plus a check and an update of each worktree that has a moved branch checked out.
import { join } from "node:path";
import { type JpgError, repositoryError, userError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { dropCaches, journalFolder, keepText, openCache } from "../git-dir.ts";
import { clearLeftovers } from "../locks.ts";
import { refOfBranch } from "../ref-files.ts";
import type {
  BranchTip,
  BranchWrite,
  CommitSpec,
  ConversationStore,
  Histories,
  HistoryCommit,
  NewHistoryCommit,
  PartialClone,
  StoreServices,
  TreeFile,
  Worktree,
  WriteResult,
} from "../store.ts";
import { ignoredSettings } from "./guard.ts";
import { createUpkeep } from "./health.ts";
import { readEditor, readIdentity } from "./identity.ts";
import {
  drawHistory,
  findText,
  LOG_CONFIG,
  LOG_FORMAT,
  readCommitTimes,
  readLog,
  splitLog,
  verifyStore,
} from "./log.ts";
import { createTrash, startMaintenance } from "./maintain.ts";
import { createBlobReader, createSizeReader, type SizeReader } from "./objects.ts";
import { commandError, type Repository, runCommand, tryCommand } from "./porcelain.ts";
import {
  type BranchMove,
  configureBranches,
  createRemotes,
  formerTipsIn,
  isPublished,
  listBranchFiles,
  moveBranches,
  openMaskedCopies,
  previousBranchIn,
  readRef,
  readReflog,
  readShallowCommits,
  recordPublished,
} from "./refs.ts";
import { findOwnRepository, listWorktrees } from "./repository.ts";
import { createSharing, openPartialClone } from "./sharing.ts";
import { createTreeReader } from "./trees.ts";
import { createWorktrees, excludeViews, moveWithWorktrees, readActiveBranch, useBranch } from "./worktrees.ts";
import { createSigner, fastImport, type ImportedBranch } from "./write.ts";

interface StorePlace {
  readonly root: string;
  readonly env: Environment;
  /** Where jpg was started; absent = not in a project. */
  readonly cwd?: string;
  /** Prints what the user should know while something takes long. */
  readonly say?: (text: string) => void;
}

/** Opens the store whose own worktree is `root`. Starts no process. Throws `store_missing`, `foreign_repository`. */
export async function openNativeStore({ root, env, cwd, say }: StorePlace): Promise<ConversationStore> {
  const found = await findOwnRepository(root, env);
  if (found === null) {
    throw userError("store_missing", `There is no jpg store at ${root}.`, {
      hints: ["`jpg init` makes one.", "Or name another with --store DIR."],
    });
  }
  const repository: Repository = { gitDir: found.commonDir, cwd: root, env };
  const worktreeRoot = found.isBare ? null : root;
  const partial = openPartialClone(repository);
  const reader = createBlobReader(repository, partial);
  const trees = createTreeReader(reader);
  const sizes = createSizeReader(repository, reader);
  return {
    engine: "native",
    root,
    gitDir: repository.gitDir,
    worktrees: createWorktrees(repository, worktreeRoot),
    trash: createTrash(repository, worktreeRoot),
    remotes: createRemotes(repository),
    sharing: createSharing(repository),
    histories: createHistories(repository),
    partial,
    ...createServices(repository, cwd),
    listBranches: (skip) => listBranches(repository, skip),
    listBranchesWith: async (commit) => (await readBranches(repository, [`--contains=${commit}`])).tips,
    readBranch: async (name) => readRef(repository, refOfBranch(name)),
    readActiveBranch: () => readActiveBranch(repository),
    useBranch: (name, worktree) => useBranch(repository, name, worktree),
    resolveCommit: async (revision, worktree) =>
      PLAIN_REVISION.test(revision)
        ? ((await reader.read(`${revision}^{commit}`))?.oid ?? null)
        : await resolveRevision(repository, revision, worktree),
    listTree: async (commit, { under = [], sizes: wanted = false } = {}) => {
      const files = await trees.list(commit, under);
      if (wanted === false) return files;
      const oids = files.map(({ oid }) => oid);
      if (wanted === true) await partial?.fetch(oids);
      return withSizes(sizes, files, new Set(partial?.missing(oids)));
    },
    readEntries: (commit, paths) => trees.entries(commit, paths),
    readBlobs: (oids, atLeast) => reader.readAll(oids, atLeast),
    readCommitTimes: (commits) => readCommitTimes(reader, commits),
    readLog: (query) => readLog(repository, query),
    findText: async (commits, query) => {
      if (partial !== null) await fetchTexts(partial, trees, { commits, under: query.under });
      return findText(repository, commits, query);
    },
    write: (writes) => write(repository, { root: worktreeRoot, say }, writes),
    verify: () => verifyStore(repository),
    createBranch: (name, commit) => createBranch(repository, name, commit),
    get objectsRead() {
      return reader.count;
    },
    async close() {
      partial?.close();
      await Promise.all([reader.close(), sizes.close()]);
    },
  };
}

/** Fetches the files of each commit that git will search, at once: git would fetch them one by one. */
async function fetchTexts(
  partial: PartialClone,
  trees: ReturnType<typeof createTreeReader>,
  { commits, under }: { readonly commits: readonly string[]; readonly under: readonly string[] },
): Promise<void> {
  for (const commit of commits) await partial.fetch((await trees.list(commit, under)).map(({ oid }) => oid));
}

/** A revision that needs no `git rev-parse`: an id or a full ref, perhaps with steps from it (`~2`). */
const PLAIN_REVISION = /^([0-9a-f]{40}|refs\/[\w./-]+)[~^\d]*$/;

/** Resolves what a person typed, which git never takes for an option. */
async function resolveRevision(
  repository: Repository,
  revision: string,
  worktree: Worktree | undefined,
): Promise<string | null> {
  if (/^-|\p{Cc}/u.test(revision)) return null;
  const place = worktree === undefined ? repository : { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const { code, stdout } = await tryCommand(place, { args });
  const commit = stdout.toString().trim();
  return code === 0 && /^[0-9a-f]{40}$/.test(commit) ? commit : null;
}

async function listBranches(repository: Repository, skip?: (error: JpgError) => void): Promise<readonly BranchTip[]> {
  const listed = await listBranchFiles(repository.gitDir);
  if (listed !== null) return listed;
  const { tips, stderr } = await readBranches(repository, []);
  // Git skips a ref that holds no commit id: a conversation would silently disappear.
  for (const [, broken = ""] of stderr.matchAll(/ignoring broken ref (refs\/heads\/\S+)/g)) {
    const error = brokenBranch(repository, broken);
    if (skip === undefined) throw error;
    skip(error);
  }
  return tips;
}

async function readBranches(
  repository: Repository,
  flags: readonly string[],
): Promise<{ readonly tips: readonly BranchTip[]; readonly stderr: string }> {
  const args = ["for-each-ref", ...flags, "--format=%(objectname) %(refname)", "refs/heads/"];
  const { code, stdout, stderr } = await tryCommand(repository, { args });
  if (code !== 0) throw await commandError(repository, { args }, { code, stderr });
  return { tips: parseTips(stdout.toString()), stderr };
}

/** Parses lines of the form `<oid> refs/heads/<name>`. */
function parseTips(text: string): readonly BranchTip[] {
  const tips: BranchTip[] = [];
  for (let from = 0, end = text.indexOf("\n"); end >= 0; from = end + 1, end = text.indexOf("\n", from)) {
    const blank = text.indexOf(" ", from);
    tips.push({ commit: text.slice(from, blank), name: text.slice(blank + 1 + "refs/heads/".length, end) });
  }
  return tips;
}

function brokenBranch({ gitDir, cwd }: Repository, ref: string): JpgError {
  return repositoryError("store_damaged", `The store is damaged: ${join(gitDir, ref)} holds no commit id.`, {
    hints: [
      `To see its last commits: tail ${join(gitDir, "logs", ref)}`,
      `To set it again: rm ${join(gitDir, ref)}; git -C ${cwd} update-ref ${ref} COMMIT`,
    ],
    data: { ref },
  });
}

async function withSizes(
  sizes: SizeReader,
  files: readonly TreeFile[],
  absent: ReadonlySet<string>,
): Promise<readonly TreeFile[]> {
  const oids = files.map(({ oid }) => oid).filter((oid) => !absent.has(oid));
  const found = new Map((await sizes.read(oids)).map((size, at) => [oids[at], size]));
  return files.map((file) => ({ ...file, size: found.get(file.oid) ?? 0 }));
}

async function createBranch(repository: Repository, name: string, commit: string): Promise<boolean> {
  const [created = false] = await moveBranches(repository, [{ branch: name, expected: null, to: commit }]);
  if (created) await configureBranches(repository, [name]);
  return created;
}

async function write(
  repository: Repository,
  { root, say }: { readonly root: string | null; readonly say: StorePlace["say"] | undefined },
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly WriteResult[]> {
  const worktrees = await listWorktrees(repository, root);
  const signer = createSigner(repository, say);
  await clearLeftovers(repository, worktrees);
  const branches = await signer.sign(await fastImport(repository, writes, signer.ask));
  const moves = branches.map(toMove);
  const moved = await moveWithWorktrees(repository, moves, await listWorktrees(repository, root));
  const created = moves.filter(({ expected }, i) => expected === null && moved[i]).map(({ branch }) => branch);
  await configureBranches(repository, created);
  return branches.map(({ branch, commits }, i) => ({
    branch,
    commit: moves[i]?.to ?? "",
    commits,
    moved: moved[i] ?? false,
  }));
}

function toMove({ branch, expected, parent, commits }: ImportedBranch): BranchMove {
  const to = commits.at(-1) ?? parent;
  if (to === null) throw userError("empty_write", `There is nothing to write to ${branch}: no commits and no parent.`);
  return { branch, expected, to };
}

// Reads whole histories (all commits of some branches with their changes) and writes rewritten ones. New commits have no ref until
// all of them are written.

function createHistories(repository: Repository): Histories {
  return {
    draw: (tips, limit) => drawHistory(repository, tips, limit),
    read: (tips) => readHistory(repository, tips),
    write: async (commits) => (await fastImport(repository, runsOf(commits))).flatMap((written) => written.commits),
    create: (branches) => createBranches(repository, branches),
  };
}

async function readHistory(repository: Repository, tips: readonly string[]): Promise<readonly HistoryCommit[]> {
  const args = [
    ...["log", "-z", "--topo-order", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--diff-merges=first-parent"],
    ...["-O/dev/null", "--no-color", "--no-notes", "--encoding=UTF-8", "--date=raw", LOG_FORMAT, "--stdin"],
  ];
  const input = tips.map((tip) => `${tip}\n`).join("");
  const output = await runCommand(repository, { args, config: LOG_CONFIG, input });
  return splitLog(output.toString("utf8")).map(({ entry, tokens }) => {
    const { added: _, removed: __, ...commit } = entry;
    return { ...commit, changes: changesOf(tokens) };
  });
}

/** Parses pairs of tokens: `:<mode> <mode> <oid> <oid> <status>`, then the path. */
function changesOf(tokens: readonly string[]): HistoryCommit["changes"] {
  const changes: HistoryCommit["changes"][number][] = [];
  for (const [at, token] of tokens.entries()) {
    const [, mode, oid = "", status] = /^\n?:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) ([A-Z])$/.exec(token) ?? [];
    const path = tokens[at + 1];
    if (status === undefined || path === undefined) continue;
    const special = mode === "120000" ? "link" : mode === "160000" ? "repository" : undefined;
    changes.push({ path, oid: status === "D" ? null : oid, special });
  }
  return changes;
}

/**
 * Splits the commits into writes for fast-import: a commit begins a new write unless its parent is the commit before it. Parents
 * are named by mark: a commit's mark is its number, 1-based.
 */
async function* runsOf(commits: AsyncIterable<NewHistoryCommit>): AsyncGenerator<BranchWrite> {
  const source = commits[Symbol.asyncIterator]();
  let position = 0;
  let next = await source.next();
  const takeRun = async function* (): AsyncGenerator<CommitSpec> {
    do {
      const { parents, ...commit } = (next as IteratorYieldResult<NewHistoryCommit>).value;
      yield { ...commit, merges: parents.slice(1).map(markOf) };
      position++;
      next = await source.next();
    } while (next.done !== true && next.value.parents[0] === position - 1);
  };
  while (next.done !== true) {
    const [parent] = next.value.parents;
    yield { branch: "", expected: null, parent: parent === undefined ? null : markOf(parent), commits: takeRun() };
  }
}

function markOf(position: number): string {
  return `:${position + 1}`;
}

async function createBranches(repository: Repository, branches: readonly BranchTip[]): Promise<void> {
  const input = branches.map(({ name, commit }) => `create ${refOfBranch(name)}\0${commit}\0`).join("");
  await runCommand(repository, { args: ["update-ref", "-m", "jpg: write", "-z", "--stdin"], input });
  await configureBranches(
    repository,
    branches.map(({ name }) => name),
  );
}

/** `directory` = where jpg was started. */
function createServices(repository: Repository, directory?: string): StoreServices {
  const { gitDir, cwd, env } = repository;
  return {
    cache: (name, worktree) => openCache(worktree?.gitDir ?? gitDir, name),
    dropCaches: () => dropCaches(gitDir),
    journal: () => journalFolder(gitDir),
    keepText: (name, text) => keepText(gitDir, name, text),
    editor: () => readEditor(repository),
    identity: () => readIdentity(cwd, env, directory),
    async previousBranch(worktree) {
      const place = worktree?.gitDir ?? gitDir;
      return previousBranchIn(await readReflog(place, "HEAD"), await readActiveBranch(repository, place));
    },
    formerTips: async (branch) => formerTipsIn(await readReflog(gitDir, refOfBranch(branch))),
    cutOffCommits: () => readShallowCommits(gitDir),
    isPublished: () => isPublished(gitDir),
    recordPublished: (commits) => recordPublished(gitDir, commits),
    maskedCopies: () => openMaskedCopies(gitDir),
    excludeViews: () => excludeViews(gitDir),
    configureBranches: (names) => configureBranches(repository, names),
    ignoredSettings: () => ignoredSettings(repository),
    maintain: () => startMaintenance(repository),
    upkeep: () => Promise.resolve(createUpkeep(repository)),
  };
}
