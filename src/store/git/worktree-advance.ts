// Advances a worktree's index and files when its branch moved. A dry run finds conflicts first, so that a refusal changes
// nothing.
import { existsSync } from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { type JpgError, repositoryError } from "../../core/errors.ts";
import { readOwnFile } from "../files.ts";
import { EMPTY_TREE, type Worktree } from "../store.ts";
import type { GitResult } from "./git-process.ts";
import { commandError, type Repository, runCommand, tryCommand } from "./porcelain.ts";

/** A worktree's step from one commit to another; `from` null = from nothing. */
export interface Advance {
  readonly worktree: Worktree;
  readonly from: string | null;
  readonly to: string;
}

/** Files in a worktree's git dir that mark an operation in progress. */
const UNFINISHED: readonly (readonly [file: string, operation: string, finish: string])[] = [
  ["MERGE_HEAD", "merge", "merge --abort"],
  ["REVERT_HEAD", "revert", "revert --abort"],
  ["CHERRY_PICK_HEAD", "cherry-pick", "cherry-pick --abort"],
];

/** Checks that a worktree can be advanced; throws `worktree_in_the_way`. Changes nothing. */
export async function checkAdvance(repository: Repository, advance: Advance): Promise<void> {
  checkUnfinished(advance);
  const here = placeIn(repository, advance.worktree);
  const command = { args: ["read-tree", "-n", ...advanceArguments(advance)] };
  if (isClear(await tryCommand(here, command))) return;
  // A file that was only touched looks changed until the index is refreshed.
  await tryCommand(here, { args: ["update-index", "-q", "--refresh"] });
  const result = await tryCommand(here, command);
  if (!isClear(result)) throw await refusalError(here, advance, command, result);
}

function checkUnfinished(advance: Advance): void {
  for (const [file, operation, finish] of UNFINISHED) {
    if (existsSync(join(advance.worktree.gitDir, file))) throw unfinishedError(advance, operation, finish);
  }
}

/**
 * Whether a dry run found no conflict. In a sparse worktree git says that an untracked file is "already present; will not
 * overwrite", exits with 0, and then overwrites it all the same (git 2.39).
 */
function isClear({ code, stderr }: GitResult): boolean {
  return code === 0 && !/already present|despite sparse|sparse update/.test(stderr);
}

/** Advances a worktree; throws `worktree_in_the_way`. */
export async function applyAdvance(repository: Repository, advance: Advance): Promise<void> {
  const here = placeIn(repository, advance.worktree);
  const command = { args: ["read-tree", ...advanceArguments(advance)] };
  const result = await tryCommand(here, command);
  if (result.code !== 0) throw await refusalError(here, advance, command, result);
  if (advance.to === EMPTY_TREE) await storeEmptyTree(here);
}

/** Restores index and files to the state before an advance, where they hold what it wrote. Throws as git fails. */
export async function undoAdvance(repository: Repository, { worktree, from, to }: Advance): Promise<void> {
  await readTrees(placeIn(repository, worktree), to, from ?? EMPTY_TREE);
}

/** Changes index and files from one tree to another. Throws as git fails. */
export async function readTrees(here: Repository, from: string, to: string): Promise<void> {
  await runCommand(here, { args: ["read-tree", "-m", "-u", from, to] });
  if (to === EMPTY_TREE) await storeEmptyTree(here);
}

/** Stores the empty tree: an index without files names it, and `git fsck` calls it missing otherwise. */
async function storeEmptyTree(here: Repository): Promise<void> {
  await runCommand(here, { args: ["mktree"], input: "" });
}

function advanceArguments({ from, to }: Advance): readonly string[] {
  const trees = [from ?? EMPTY_TREE, to];
  // The id may come from a file of the store and be anything, even an option of git.
  if (!trees.every((tree) => /^[0-9a-f]{40}$/.test(tree)))
    throw new TypeError("A worktree is advanced between commits.");
  return ["-m", "-u", ...trees];
}

/** A repository as commands in one of its worktrees see it. */
export function placeIn(repository: Repository, worktree: Worktree): Repository {
  return { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
}

/** The error for git's refusal to touch a worktree. */
export async function refusalError(
  here: Repository,
  advance: Pick<Advance, "worktree">,
  command: { readonly args: readonly string[] },
  result: { readonly code: number; readonly stderr: string },
): Promise<Error> {
  const files = filesInTheWay(result.stderr);
  const isUnmerged =
    /resolve your current index|needs merge|unmerged|unfinished|you are (still )?(merging|reverting)|cannot switch/i;
  if (files.length === 0 && !isUnmerged.test(result.stderr)) return await commandError(here, command, result);
  const what = files.length === 0 ? "an unfinished merge" : `local changes to ${files.slice(0, 5).join(", ")}`;
  return inTheWay(advance, what, files, [
    `To see them: git -C ${advance.worktree.path} status`,
    `To put them aside: git -C ${advance.worktree.path} stash`,
    "Then run the command again.",
  ]);
}

function unfinishedError(advance: Advance, operation: string, finish: string): JpgError {
  const { path } = advance.worktree;
  return inTheWay(
    advance,
    `an unfinished ${operation}`,
    [],
    [`To finish it: git -C ${path} status`, `Or abort it: git -C ${path} ${finish}`],
  );
}

function inTheWay(
  { worktree }: Pick<Advance, "worktree">,
  what: string,
  files: readonly string[],
  hints: readonly string[],
): JpgError {
  const branch = worktree.branch === null ? "" : `, where ${worktree.branch} is checked out`;
  const message = `The worktree ${worktree.path}${branch}, has ${what} and cannot be updated: nothing was changed.`;
  return repositoryError("worktree_in_the_way", message, { hints, data: { worktree: worktree.path, files } });
}

function filesInTheWay(stderr: string): string[] {
  const quoted = [...stderr.matchAll(/(?:Entry|Path|working tree file|Updating) '([^'\n]+)'/g)].map(
    (match) => match[1] ?? "",
  );
  const listed = [...stderr.matchAll(/^\t(.+)$/gm)].map((match) => match[1] ?? "");
  return [...new Set([...quoted, ...listed])];
}

// Rolls back the files of a worktree after an interrupted step (git was killed, the disk was full). Git writes the files first
// and the index last: while the index is unchanged, a file that the step changes is missing, or holds a beginning of its new
// content. Anything else is the user's and stays.

/** A path that differs between two commits; null = absent there. */
interface Change {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Restores the files of an interrupted step to the index; returns whether anything had to be restored. */
export async function rollBack(repository: Repository, { worktree, from, to }: Advance): Promise<boolean> {
  const here = placeIn(repository, worktree);
  const changes = await listChanges(here, from ?? EMPTY_TREE, to);
  // Files that were rewritten with their old content look changed until then.
  await tryCommand(here, { args: ["update-index", "-q", "--refresh"] });
  const indexed = await readIndex(here);
  let isChanged = false;
  // Added files first: they may be in the way of the others.
  for (const { path, before, after } of changes) {
    if (before !== null || indexed.has(path) || (await stateOf(here, path, after)) !== "begun") continue;
    await rm(join(here.cwd, path), { force: true });
    isChanged = true;
  }
  const differs = new Set(await listPaths(here, ["diff-files", "-z", "--name-only"]));
  const lost: string[] = [];
  for (const { path, before, after } of changes) {
    if (before === null || indexed.get(path) !== before || !differs.has(path)) continue;
    if ((await stateOf(here, path, after)) !== "other") lost.push(`${path}\0`);
  }
  const command = { args: ["checkout-index", "--index", "--force", "-z", "--stdin"], input: lost.join("") };
  if (lost.length > 0) await runCommand(here, command);
  return isChanged || lost.length > 0;
}

async function listChanges(here: Repository, from: string, to: string): Promise<readonly Change[]> {
  const fields = await listPaths(here, ["diff-tree", "-r", "-z", "--no-renames", from, to]);
  const changes: Change[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, , before = "", after = ""] = (fields[at] ?? "").split(" ");
    changes.push({ path: fields[at + 1] ?? "", before: oidOrNull(before), after: oidOrNull(after) });
  }
  return changes;
}

function oidOrNull(oid: string): string | null {
  return /^0+$/.test(oid) ? null : oid;
}

async function readIndex(here: Repository): Promise<ReadonlyMap<string, string>> {
  const lines = await listPaths(here, ["ls-files", "--stage", "-z"]);
  return new Map(
    lines.map((line) => {
      const [facts = "", path = ""] = line.split("\t");
      return [path, facts.split(" ")[1] ?? ""];
    }),
  );
}

async function listPaths(here: Repository, args: readonly string[]): Promise<readonly string[]> {
  return (await runCommand(here, { args }))
    .toString()
    .split("\0")
    .filter((field) => field !== "");
}

/** Whether a file is missing, is (a beginning of) what the step writes there, or something else. */
async function stateOf(here: Repository, path: string, after: string | null): Promise<"missing" | "begun" | "other"> {
  const file = join(here.cwd, path);
  const found = await lstat(file).catch(() => null);
  if (found === null) return "missing";
  if (after === null || !found.isFile()) return "other";
  const [bytes, blob] = [readOwnFile(file), await runCommand(here, { args: ["cat-file", "blob", after] })];
  return blob.subarray(0, bytes.length).equals(bytes) ? "begun" : "other";
}
