// Moves branches by compare-and-swap: all in one transaction when all stand where they were expected, else in halves, so
// that one stale branch does not hold the others back, and thousands of them do not go one by one.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { foldersOf, syncFolders } from "../../files/sync-folders.ts";
import { ZERO_ID } from "../../object-ids.ts";
import { refInTheWay, refOfBranch } from "../../refs/ref-name.ts";
import { commandError, type GitCommand, type Repository, tryCommand } from "../git/git-command.ts";
import { isReftable, readRef } from "./ref-reader.ts";

/** A move of one branch; `expected` null = it must not exist. */
export interface BranchMove {
  readonly branch: string;
  readonly expected: string | null;
  readonly to: string;
}

/** What reflogs say of a move. */
const MOVE_MESSAGE = "jpg: write";

const LOCK_ATTEMPTS = 20;
const LOCK_WAIT_MS = 15;

/** Moves branches; gives for each, in order, whether it was moved. Throws as git fails for other reasons than a stale branch. */
export async function moveBranches(repository: Repository, moves: readonly BranchMove[]): Promise<readonly boolean[]> {
  const moved = new Set<BranchMove>();
  // A transaction takes each branch once.
  const firsts = new Map([...moves].reverse().map((move) => [move.branch, move]));
  await moveTogether(repository, [...firsts.values()], moved);
  for (const move of moves)
    if (firsts.get(move.branch) !== move && (await moveBranch(repository, move))) moved.add(move);
  if (!isReftable(repository))
    await syncFolders(foldersOf([...moved].map(({ branch }) => join(repository.gitDir, refOfBranch(branch)))));
  return moves.map((move) => moved.has(move));
}

async function moveTogether(
  repository: Repository,
  moves: readonly BranchMove[],
  moved: Set<BranchMove>,
): Promise<void> {
  const [first] = moves;
  if (first === undefined) return;
  const isMoved =
    moves.length === 1
      ? await moveBranch(repository, first)
      : (await tryCommand(repository, updateCommand(moves))).code === 0;
  if (isMoved) for (const move of moves) moved.add(move);
  if (isMoved || moves.length === 1) return;
  const half = Math.ceil(moves.length / 2);
  await moveTogether(repository, moves.slice(0, half), moved);
  await moveTogether(repository, moves.slice(half), moved);
}

async function moveBranch(repository: Repository, move: BranchMove): Promise<boolean> {
  const command = updateCommand([move]);
  const isStale = async (): Promise<boolean> => (await readRef(repository, refOfBranch(move.branch))) !== move.expected;
  // Whoever lost to another writer need not start git to hear so; where refs are no files, that takes a git itself.
  if (!isReftable(repository) && (await isStale())) return false;
  for (let attempt = 1; ; attempt++) {
    const result = await tryCommand(repository, command);
    if (result.code === 0) return true;
    if (await isStale()) return false;
    const [, other, ref] = /'([^']+)' exists; cannot create '([^']+)'/.exec(result.stderr) ?? [];
    if (ref !== undefined && other !== undefined) throw refInTheWay(repository.cwd, ref, other);
    const isLocked = /\.lock': File exists/.test(result.stderr);
    if (!isLocked || attempt >= LOCK_ATTEMPTS) throw await commandError(repository, command, result);
    await sleep(LOCK_WAIT_MS + attempt);
  }
}

function updateCommand(moves: readonly BranchMove[]): GitCommand {
  const lines = moves.map(
    ({ branch, expected, to }) => `update ${refOfBranch(branch)}\0${to}\0${expected ?? ZERO_ID}\0`,
  );
  return {
    args: ["update-ref", "-m", MOVE_MESSAGE, "-z", "--stdin"],
    input: lines.join(""),
    // By itself git puts a ref in place before its content is on the disk.
    config: ["core.fsync=committed,reference"],
  };
}
