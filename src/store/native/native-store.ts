// The conversation store over the `git` program. Opening starts no process; reads share one `cat-file --batch`; a write is
// one fast-import, or a few objects as files, and one ref transaction, plus a check and a step for each worktree that holds a branch it moves.
import { join } from "node:path";
import { type JpgError, repositoryError, userError } from "../../core/errors.ts";
import type {
  BranchTip,
  BranchWrite,
  ConversationStore,
  PartialClone,
  TreeFile,
  WriteResult,
} from "../conversation-store.ts";
import type { Environment } from "../environment.ts";
import { clearLeftovers } from "../files/leftovers.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import type { Worktree } from "../worktrees.ts";
import { commandError, type Repository, tryCommand } from "./git/git-command.ts";
import { createHistories } from "./histories.ts";
import { readLog } from "./log-reader.ts";
import { createBlobReader } from "./objects/blob-reader.ts";
import { readCommitTimes } from "./objects/commit-time.ts";
import { createSizeReader, type SizeReader } from "./objects/size-reader.ts";
import { createTreeReader } from "./objects/tree-reader.ts";
import { verifyStore } from "./objects/verify-store.ts";
import { configureBranches } from "./refs/branch-config.ts";
import { listBranchFiles } from "./refs/branch-files.ts";
import { findOwnRepository } from "./refs/ownership.ts";
import { readRef } from "./refs/ref-reader.ts";
import { type BranchMove, moveBranches } from "./refs/ref-update.ts";
import { createRemotes } from "./refs/remote-branches.ts";
import { openPartialClone } from "./remotes/partial-clone.ts";
import { createSharing } from "./remotes/sharing.ts";
import { createSurroundings } from "./surroundings.ts";
import { findText } from "./text-finder.ts";
import { createTrash } from "./trash.ts";
import { moveWithWorktrees } from "./worktrees/held-branches.ts";
import { readActiveBranch, useBranch } from "./worktrees/use-branch.ts";
import { listWorktrees } from "./worktrees/worktree-list.ts";
import { createWorktrees } from "./worktrees/worktrees.ts";
import { fastImport, type ImportedBranch } from "./writes/fast-import.ts";
import { createSigner } from "./writes/sign-commits.ts";
import { type ObjectReader, writeSmall } from "./writes/small-write.ts";

/** Where a store is. */
interface StorePlace {
  readonly root: string;
  readonly env: Environment;
  /** Where jpg was started; absent = not in a project that counts. */
  readonly cwd?: string;
  /** Told what the user should know while something takes long. */
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
    ...createSurroundings(repository, cwd),
    listBranches: (passOver) => listBranches(repository, passOver),
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
      if (wanted === true) await partial?.bring(oids);
      return withSizes(sizes, files, new Set(partial?.missing(oids)));
    },
    readEntries: (commit, paths) => trees.entries(commit, paths),
    readBlobs: (oids, atLeast) => reader.readAll(oids, atLeast),
    readCommitTimes: (commits) => readCommitTimes(reader, commits),
    readLog: (query) => readLog(repository, query),
    findText: async (commits, query) => {
      if (partial !== null) await bringTexts(partial, trees, { commits, under: query.under });
      return findText(repository, commits, query);
    },
    write: (writes) => write(repository, { root: worktreeRoot, reader: partial === null ? reader : null, say }, writes),
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

/** Gets what git is going to look into, all at once: it would get each by itself. */
async function bringTexts(
  partial: PartialClone,
  trees: ReturnType<typeof createTreeReader>,
  { commits, under }: { readonly commits: readonly string[]; readonly under: readonly string[] },
): Promise<void> {
  for (const commit of commits) await partial.bring((await trees.list(commit, under)).map(({ oid }) => oid));
}

/** What means the same everywhere and needs no git of its own: an id or a whole ref, and steps from it. */
const PLAIN_REVISION = /^([0-9a-f]{40}|refs\/[\w./-]+)[~^\d]*$/;

/** Resolves what a person wrote. Nothing of it is ever taken for an option. */
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

async function listBranches(
  repository: Repository,
  passOver?: (error: JpgError) => void,
): Promise<readonly BranchTip[]> {
  const listed = await listBranchFiles(repository.gitDir);
  if (listed !== null) return listed;
  const { tips, stderr } = await readBranches(repository, []);
  // Git passes over a ref that holds no commit id: a conversation would be gone without a word.
  for (const [, broken = ""] of stderr.matchAll(/ignoring broken ref (refs\/heads\/\S+)/g)) {
    const error = brokenBranch(repository, broken);
    if (passOver === undefined) throw error;
    passOver(error);
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

/** `<oid> refs/heads/<name>` a line. */
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
      `To see the last commits it stood at: tail ${join(gitDir, "logs", ref)}`,
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
  {
    root,
    reader,
    say,
  }: {
    readonly root: string | null;
    readonly reader: ObjectReader | null;
    readonly say: StorePlace["say"] | undefined;
  },
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly WriteResult[]> {
  const worktrees = await listWorktrees(repository, root);
  const signer = createSigner(repository, say);
  const [small] = await Promise.all([
    reader === null ? null : writeSmall(repository, { reader, onSign: signer.ask }, writes),
    clearLeftovers(repository, worktrees),
  ]);
  const branches = await signer.sign(small ?? (await fastImport(repository, writes, signer.ask)));
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
