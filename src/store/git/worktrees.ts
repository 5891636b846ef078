// The linked worktrees of a store: folders in which a branch is checked out in addition to the store's own worktree.
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { asSentence, JpgError, reasonOf, repositoryError, userError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { appendToOwnFile, makeFolders, makeOwnFolder, readFileIfExists, readOwnText, replaceFile } from "../files.ts";
import { readBehindMark } from "../git-dir.ts";
import { branchOfRef, refOfBranch } from "../ref-files.ts";
import type { Worktree, Worktrees } from "../store.ts";
import { findPlainRepository } from "./locate.ts";
import { type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { type BranchMove, moveBranches, readHead, readRef } from "./refs.ts";
import { findWorktree, isSamePath, listWorktrees, worktreesFolder } from "./repository.ts";
import { type Advance, applyAdvance, checkAdvance, refusalError, rollBack } from "./worktree-advance.ts";
import {
  catchUp,
  findUnfinishedOperation,
  forgetStep,
  recordStep,
  settleSteps,
  withWorktreeLock,
} from "./worktree-step.ts";

/** What a sparse worktree shows: top-level files and these folders (cone mode, gitignore(5) form). */
export const SPARSE_PATTERNS = "/*\n!/*/\n/compactions/\n/config/\n/meta/\n";

/** Creates the worktrees of a store; `root` null when the store is bare. */
export function createWorktrees(repository: Repository, root: string | null): Worktrees {
  return {
    folder: () => worktreesFolder(repository.cwd, repository.gitDir),
    list: () => listWorktrees(repository, root),
    at: (folder) => findWorktree(repository, root, folder),
    add: (path, checkedOut, options) =>
      addWorktree(repository, root, { path: resolve(repository.cwd, path), checkedOut, ...options }),
    exclude: ({ path }) => excludeFromRepositoryAround(path, repository.env),
    remove: (worktree) => removeWorktree(repository, worktree),
    unfinished: ({ gitDir }) => findUnfinishedOperation(gitDir),
    async advance(worktree, from, to) {
      const { branch } = worktree;
      await withWorktreeLock(repository, worktree, async () => {
        // Whoever moved the branch meanwhile has advanced its files.
        if (branch !== null && (await readRef(repository, refOfBranch(branch))) !== to) return;
        await checkAdvance(repository, { worktree, from, to });
        if (branch !== null) await recordStep(worktree, { kind: "advance", branch, from, to });
        await applyAdvance(repository, { worktree, from, to });
        await forgetStep(worktree);
      });
    },
    async settle() {
      const settled = await settleSteps(repository, root);
      await catchUpWorktrees(repository, root);
      return settled;
    },
  };
}

interface NewWorktree {
  readonly path: string;
  readonly checkedOut: string;
  readonly full: boolean;
}

async function addWorktree(repository: Repository, root: string | null, wanted: NewWorktree): Promise<Worktree> {
  const isCommit = /^[0-9a-f]{40}$/.test(wanted.checkedOut);
  if (!isCommit) refOfBranch(wanted.checkedOut);
  // Twice --force: the branch may be checked out in the store's own worktree, and a deleted folder may still be registered.
  const flags = ["--quiet", "--force", "--force", "--no-checkout", ...(isCommit ? ["--detach"] : [])];
  const args = ["worktree", "add", ...flags, wanted.path, wanted.checkedOut];
  await runCommand(repository, { args }, runPorcelain);
  const worktree = (await listWorktrees(repository, root)).find(({ path }) => isSamePath(path, wanted.path));
  if (worktree === undefined) {
    throw repositoryError("git_failed", `git worktree add made no worktree at ${wanted.path}.`);
  }
  try {
    await choosePaths(worktree, wanted.full);
    const place = { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
    await runCommand(place, { args: ["read-tree", "-m", "-u", "HEAD"] });
  } catch (error) {
    // Half a worktree would hold its branch, and the next attempt would take it for a whole one.
    await removeWorktree(repository, worktree);
    throw error;
  }
  return worktree;
}

/** Ignores failures: it runs because something failed. */
async function removeWorktree(repository: Repository, { path }: Worktree): Promise<void> {
  await tryCommand(repository, { args: ["worktree", "remove", "--force", "--force", path] }, runPorcelain);
}

async function choosePaths(worktree: Worktree, full: boolean): Promise<void> {
  const folder = join(worktree.gitDir, "info");
  const path = join(folder, "sparse-checkout");
  // Without patterns git checks everything out, whatever core.sparseCheckout says.
  if (full) return await rm(path, { force: true });
  await makeOwnFolder(folder);
  await replaceFile(path, SPARSE_PATTERNS);
}

/**
 * Advances marked worktrees; without any it costs two file checks. One with conflicting local changes stays, and the next write
 * to its branch reports it.
 */
async function catchUpWorktrees(repository: Repository, root: string | null): Promise<void> {
  const { gitDir } = repository;
  if (readBehindMark(gitDir) === null && !existsSync(join(gitDir, "worktrees"))) return;
  for (const worktree of await listWorktrees(repository, root)) {
    if (readBehindMark(worktree.gitDir) === null) continue;
    // Taking the lock does the work.
    await withWorktreeLock(repository, worktree, () => Promise.resolve()).catch((error: unknown) => {
      if (!(error instanceof JpgError)) throw error;
    });
  }
}

// Keeps a folder that jpg makes out of the repository around it: `git add -A` there would take a worktree for an embedded
// repository and commit a link to it. Uses the repository's own info/exclude, which is not shared.

/**
 * Adds a folder (absolute, without links) to the exclude file of the repository around it. Returns that file; null where no
 * repository is around.
 */
export async function excludeFromRepositoryAround(folder: string, env: Environment): Promise<string | null> {
  const around = await findPlainRepository(dirname(folder), env);
  if (around === null || around.top === null) return null;
  const path = join(around.commonDir, "info", "exclude");
  const line = `/${escapePattern(relative(around.top, folder).replaceAll(sep, "/"))}/`;
  const text = (await readFileIfExists(path)) ?? "";
  if (text.split("\n").includes(line)) return path;
  makeFolders(dirname(path));
  // The user's file keeps its permissions; a new one gets what git's own would.
  appendToOwnFile(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`, 0o666);
  return path;
}

/** Escapes a path so that gitignore(5) reads it literally. */
function escapePattern(path: string): string {
  const escaped = path.replace(/[\\*?[\]]|[ ]+$/g, (found) => [...found].map((char) => `\\${char}`).join(""));
  // A pattern holds no line end; `?` is any character.
  return escaped.replace(/[\r\n]/g, "?");
}

// VIEW.md and view.jsonl are made from a commit and never part of one: the first writer makes git ignore them. All worktrees of
// a repository share the file.

const EXCLUDED = ["/VIEW.md", "/view.jsonl"] as const;

/** Adds the missing names of the views to the `info/exclude` of a git dir; keeps the rest of it. */
export async function excludeViews(gitDir: string): Promise<void> {
  const path = join(gitDir, "info", "exclude");
  const present = (await readFileIfExists(path)) ?? "";
  const lines = new Set(present.split("\n").map((line) => line.trimEnd()));
  const missing = EXCLUDED.filter((name) => !lines.has(name));
  if (missing.length === 0) return;
  await makeOwnFolder(join(gitDir, "info"));
  const separator = present === "" || present.endsWith("\n") ? "" : "\n";
  await replaceFile(path, `${present}${separator}${missing.join("\n")}\n`);
}

// Files under `info/` of a git dir: settings for this repository alone, which are not shared. Keeps what the user wrote there.

/** Shows turns and the smaller records as text too; for compactions each branch has its own attributes. */
const RECORDS_AS_TEXT = "turns/** diff=jpg\nconfig/** diff=jpg\nmeta/** diff=jpg\n";

/** Makes `git show`, `git diff` and `git log -p` print turns, settings and marks as text. */
export function showRecordsAsText(gitDir: string): Promise<void> {
  return writeInfo(gitDir, "attributes", RECORDS_AS_TEXT);
}

/** Appends a text to a file in a git dir's `info`, unless it is there. */
export async function writeInfo(gitDir: string, name: string, text: string): Promise<void> {
  const path = join(gitDir, "info", name);
  const present = (await readFileIfExists(path)) ?? "";
  if (present.includes(text)) return;
  await makeOwnFolder(join(gitDir, "info"));
  await replaceFile(path, present === "" || present.endsWith("\n") ? present + text : `${present}\n${text}`);
}

/** The branch that HEAD of a store, or of one of its worktrees, names, even without a commit; null when it names none. */
export async function readActiveBranch(
  repository: Repository,
  gitDir: string = repository.gitDir,
): Promise<string | null> {
  const head = await readHead(repository, gitDir);
  return head !== null && "ref" in head ? branchOfRef(head.ref) : null;
}

/** Switches a worktree; the store's own by default. Throws `branch_missing`, `worktree_in_the_way`, `lock_held`. */
export async function useBranch(repository: Repository, name: string, where?: Worktree): Promise<void> {
  while (!(await tryUse(repository, name, where)));
}

/** False when another writer moved the worktree meanwhile. */
async function tryUse(repository: Repository, name: string, where: Worktree | undefined): Promise<boolean> {
  const to = await readRef(repository, refOfBranch(name));
  if (to === null) {
    throw userError("branch_missing", `There is no branch ${name} in ${repository.cwd}.`, {
      hints: ["`jpg ls` lists the conversations."],
    });
  }
  const { path, gitDir } = where ?? { path: repository.cwd, gitDir: repository.gitDir };
  const active = await readActiveBranch(repository, gitDir);
  if (active === name) return true;
  const head = await readHead(repository, gitDir);
  const commit = head !== null && "commit" in head ? head.commit : null;
  const from = active === null ? commit : await readRef(repository, refOfBranch(active));
  const worktree = { path, gitDir, branch: active, commit };
  return await withWorktreeLock(repository, worktree, async () => {
    const isMoved = (await readActiveBranch(repository, gitDir)) !== active;
    if (isMoved || (active !== null && (await readRef(repository, refOfBranch(active))) !== from)) return false;
    await checkAdvance(repository, { worktree, from, to });
    await recordStep(worktree, { kind: "use", branch: name, from, to });
    await switchTo(repository, worktree, { name, from, to });
    await catchUp(repository, worktree, { branch: name, at: to });
    await forgetStep(worktree);
    return true;
  });
}

async function switchTo(
  repository: Repository,
  worktree: Worktree,
  { name, from, to }: { readonly name: string; readonly from: string | null; readonly to: string },
): Promise<void> {
  const command = { args: ["switch", "--quiet", "--no-guess", "--ignore-other-worktrees", name] };
  const place = { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
  const result = await tryCommand(place, command, runPorcelain);
  if (result.code === 0) return;
  const isSwitched = (await readActiveBranch(repository, worktree.gitDir)) === name;
  // If the roll-back fails, the next command does it; the first failure is the one to report.
  const isBack =
    isSwitched ||
    (await rollBack(repository, { worktree, from, to }).then(
      () => true,
      () => false,
    ));
  if (isBack) await forgetStep(worktree);
  throw await refusalError(place, { worktree }, command, result);
}

// Joins linked worktrees to a store that was moved or copied with them: git records both places by absolute path. Git's own
// `worktree repair` trusts these records, which in a copy lead to the worktrees of the first store; here a worktree counts only
// if its place relative to the store is the same as before.

/** Where a store is and was. */
interface MovedStore {
  readonly gitDir: string;
  readonly oldGitDir: string;
  /** The default folder of worktrees, now. */
  readonly worktreesDir: string;
}

/**
 * Joins the worktrees that were moved with the store and, if nothing is at the old place any more, those that stayed; returns
 * their number.
 */
export async function repairWorktrees(store: MovedStore): Promise<number> {
  const folder = join(store.gitDir, "worktrees");
  const names = await readdir(folder).catch(() => []);
  let repaired = 0;
  for (const name of names) if (await repairWorktree(store, name)) repaired += 1;
  return repaired;
}

async function repairWorktree(store: MovedStore, name: string): Promise<boolean> {
  const own = join(store.gitDir, "worktrees", name);
  const noted = (await readFileIfExists(join(own, "gitdir")))?.trim() ?? "";
  if (noted === "") return false;
  const old = resolve(own, noted);
  const link = placesOf(store, old).find((path) => isLinkTo(path, join(store.oldGitDir, "worktrees", name)));
  if (link === undefined) return false;
  await replaceFile(join(own, "gitdir"), `${link}\n`);
  await replaceFile(link, `gitdir: ${own}\n`);
  return true;
}

/** Where the `.git` file of a worktree may be now, the likeliest first. If the old store still exists, its worktrees are its own. */
function placesOf({ gitDir, oldGitDir, worktreesDir }: MovedStore, old: string): readonly string[] {
  const folder = `${sep}jpg-worktrees${sep}`;
  const at = old.lastIndexOf(folder);
  const underWorktreesDir = at < 0 ? [] : [join(worktreesDir, old.slice(at + folder.length))];
  return existsSync(oldGitDir)
    ? underWorktreesDir
    : [...underWorktreesDir, resolve(gitDir, relative(oldGitDir, old)), old];
}

/** Whether a path is a regular `.git` file that names the git dir of that worktree. */
function isLinkTo(path: string, gitDir: string): boolean {
  try {
    const named = /^gitdir: (.+?)\s*$/s.exec(readOwnText(path))?.[1];
    return named !== undefined && resolve(dirname(path), named) === gitDir;
  } catch {
    return false; // nothing there, or nothing of git's
  }
}

/**
 * Moves branches by compare-and-swap and advances the worktrees that have them checked out. Throws `worktree_in_the_way` with
 * nothing moved.
 */
export async function moveWithWorktrees(
  repository: Repository,
  moves: readonly BranchMove[],
  worktrees: readonly Worktree[],
): Promise<readonly boolean[]> {
  const held = worktrees.flatMap((worktree) =>
    moves.filter(({ branch }) => branch === worktree.branch).map((move) => ({ ...move, worktree })),
  );
  const moved = held.length === 0 ? await moveBranches(repository, moves) : await moveHeld(repository, moves, held);
  await advanceSwitched(
    repository,
    moves.filter((_, i) => moved[i]),
    worktrees,
  );
  return moved;
}

/** Also advances a worktree that switched to a branch after it was listed and before the branch moved. */
async function advanceSwitched(
  repository: Repository,
  moved: readonly BranchMove[],
  worktrees: readonly Worktree[],
): Promise<void> {
  for (const worktree of worktrees) {
    const branch = await readActiveBranch(repository, worktree.gitDir);
    const move = branch === worktree.branch ? undefined : moved.find((one) => one.branch === branch);
    if (move === undefined) continue;
    await withWorktreeLock(repository, worktree, async () => {
      if ((await readActiveBranch(repository, worktree.gitDir)) !== move.branch) return;
      await catchUp(repository, worktree, { branch: move.branch, at: move.expected });
    });
  }
}

/** The move of a branch, and a worktree that has it checked out. */
interface HeldMove extends BranchMove {
  readonly worktree: Worktree;
}

/** Moves branches under the locks of the worktrees that have some of them checked out, after checking that these can advance. */
async function moveHeld(
  repository: Repository,
  moves: readonly BranchMove[],
  held: readonly HeldMove[],
): Promise<readonly boolean[]> {
  return await withLocks(repository, held, async () => {
    const current = await Promise.all(moves.map(({ branch }) => readRef(repository, refOfBranch(branch))));
    const isStale = (branch: string): boolean =>
      moves.some((move, i) => move.branch === branch && current[i] !== move.expected);
    const fresh = held.filter(({ branch }) => !isStale(branch));
    for (const move of fresh) await checkAdvance(repository, toAdvance(move));
    const moved = await moveOnRecord(repository, moves, fresh);
    const movedBranches = new Set(moves.filter((_, i) => moved[i]).map(({ branch }) => branch));
    await advanceAll(
      repository,
      fresh.filter(({ branch }) => movedBranches.has(branch)),
    );
    return moved;
  });
}

/** Moves the branches; the steps of worktrees whose branch has moved stay recorded. */
async function moveOnRecord(
  repository: Repository,
  moves: readonly BranchMove[],
  held: readonly HeldMove[],
): Promise<readonly boolean[]> {
  let moved: readonly boolean[] = moves.map(() => false);
  try {
    for (const { worktree, branch, expected, to } of held)
      await recordStep(worktree, { kind: "advance", branch, from: expected, to });
    moved = await moveBranches(repository, moves);
    return moved;
  } finally {
    const left = new Set(moves.filter((_, i) => moved[i] !== true).map(({ branch }) => branch));
    for (const { worktree, branch } of held) if (left.has(branch)) await forgetStep(worktree);
  }
}

/** Advances worktrees. One that cannot follow, e.g. on a full disk, keeps its recorded step for the next command. */
async function advanceAll(repository: Repository, held: readonly HeldMove[]): Promise<void> {
  const failures: JpgError[] = [];
  for (const move of held) {
    try {
      await applyAdvance(repository, toAdvance(move));
      await forgetStep(move.worktree);
    } catch (error) {
      failures.push(await behindError(repository, move, error));
    }
  }
  if (failures[0] !== undefined) throw failures[0];
}

/** The error for files that could not follow their branch; rolls back what was begun, if possible. */
async function behindError(repository: Repository, move: HeldMove, cause: unknown): Promise<JpgError> {
  await rollBack(repository, toAdvance(move)).catch(() => undefined);
  const { worktree, branch } = move;
  const message = `The commit is on ${branch}, but the files in ${worktree.path} could not be updated: ${asSentence(reasonOf(cause))}`;
  return repositoryError("worktree_behind", message, {
    hints: [`Free space in ${worktree.path}, or make it writable: the next jpg command updates its files.`],
    data: { worktree: worktree.path },
    cause,
  });
}

function toAdvance({ worktree, expected, to }: HeldMove): Advance {
  return { worktree, from: expected, to };
}

/** Takes the locks in one order everywhere, so that two writers cannot wait for each other. */
async function withLocks<T>(repository: Repository, held: readonly HeldMove[], work: () => Promise<T>): Promise<T> {
  const sorted = [...held].sort((a, b) => (a.worktree.gitDir < b.worktree.gitDir ? -1 : 1));
  const run = (index: number): Promise<T> => {
    const move = sorted[index];
    if (move === undefined) return work();
    return withWorktreeLock(repository, move.worktree, () => run(index + 1));
  };
  return await run(0);
}
