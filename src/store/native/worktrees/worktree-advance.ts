// Brings a worktree's index and files along when its branch moved. What stands in the way is found by a dry run first, so
// that a refusal changes nothing.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type JpgError, repositoryError } from "../../../core/errors.ts";
import { EMPTY_TREE } from "../../object-ids.ts";
import type { Worktree } from "../../worktrees.ts";
import { commandError, type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import type { GitResult } from "../git/git-process.ts";

/** A worktree's step from one commit to another; `from` null = from nothing. */
export interface Advance {
  readonly worktree: Worktree;
  readonly from: string | null;
  readonly to: string;
}

/** Files in a worktree's git dir that say what was begun and not finished there. */
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
  if (!isClear(result)) throw await refusalOfSwitch(here, advance, command, result);
}

function checkUnfinished(advance: Advance): void {
  for (const [file, operation, finish] of UNFINISHED) {
    if (existsSync(join(advance.worktree.gitDir, file))) throw unfinishedError(advance, operation, finish);
  }
}

/**
 * Whether a dry run found nothing in the way. In a sparse worktree git says that an untracked file is "already present;
 * will not overwrite", exits with 0, and then overwrites it all the same (git 2.39).
 */
function isClear({ code, stderr }: GitResult): boolean {
  return code === 0 && !/already present|despite sparse|sparse update/.test(stderr);
}

/** Advances a worktree; throws `worktree_in_the_way`. */
export async function applyAdvance(repository: Repository, advance: Advance): Promise<void> {
  const here = placeIn(repository, advance.worktree);
  const command = { args: ["read-tree", ...advanceArguments(advance)] };
  const result = await tryCommand(here, command);
  if (result.code !== 0) throw await refusalOfSwitch(here, advance, command, result);
}

/** Brings index and files back to what they were before an advance, where they hold what it brought. Throws as git fails. */
export async function undoAdvance(repository: Repository, { worktree, from, to }: Advance): Promise<void> {
  const args = ["read-tree", "-m", "-u", to, from ?? EMPTY_TREE];
  await runCommand(placeIn(repository, worktree), { args });
}

function advanceArguments({ from, to }: Advance): readonly string[] {
  const trees = [from ?? EMPTY_TREE, to];
  // Where a caller had one from a file of the store, it may be anything: an option of git among them.
  if (!trees.every((tree) => /^[0-9a-f]{40}$/.test(tree)))
    throw new TypeError("A worktree is advanced between commits.");
  return ["-m", "-u", ...trees];
}

/** A repository as commands in one of its worktrees see it. */
export function placeIn(repository: Repository, worktree: Worktree): Repository {
  return { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
}

/** The error for what git said when it would not touch a worktree. */
export async function refusalOfSwitch(
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
    [`To finish it: git -C ${path} status`, `Or give it up: git -C ${path} ${finish}`],
  );
}

function inTheWay(
  { worktree }: Pick<Advance, "worktree">,
  what: string,
  files: readonly string[],
  hints: readonly string[],
): JpgError {
  const branch = worktree.branch === null ? "" : `, where ${worktree.branch} is checked out`;
  const message = `The worktree ${worktree.path}${branch}, has ${what}, and cannot be brought along: nothing was changed.`;
  return repositoryError("worktree_in_the_way", message, { hints, data: { worktree: worktree.path, files } });
}

function filesInTheWay(stderr: string): string[] {
  const quoted = [...stderr.matchAll(/(?:Entry|Path|working tree file|Updating) '([^'\n]+)'/g)].map(
    (match) => match[1] ?? "",
  );
  const listed = [...stderr.matchAll(/^\t(.+)$/gm)].map((match) => match[1] ?? "");
  return [...new Set([...quoted, ...listed])];
}
