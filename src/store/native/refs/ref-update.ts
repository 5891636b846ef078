// Moves branches by compare-and-swap: all in one transaction when all stand where they were expected, else one by one, so
// that one stale branch does not hold the others back.
import { setTimeout as sleep } from "node:timers/promises";
import { commandError, type GitCommand, type Repository, tryCommand } from "../git/git-command.ts";
import { refOfBranch, ZERO_ID } from "./ref-name.ts";
import { isReftable, readRef } from "./ref-reader.ts";

/** A move of one branch; `expected` null = it must not exist. */
export interface BranchMove {
  readonly branch: string;
  readonly expected: string | null;
  readonly to: string;
}

const LOCK_ATTEMPTS = 20;
const LOCK_WAIT_MS = 15;

/** Moves branches; gives for each, in order, whether it was moved. Throws as git fails for other reasons than a stale branch. */
export async function moveBranches(repository: Repository, moves: readonly BranchMove[]): Promise<readonly boolean[]> {
  if (moves.length === 0) return [];
  if (moves.length > 1) {
    const { code } = await tryCommand(repository, updateCommand(moves));
    if (code === 0) return moves.map(() => true);
  }
  const moved: boolean[] = [];
  for (const move of moves) moved.push(await moveBranch(repository, move));
  return moved;
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
    args: ["update-ref", "-m", "jpg: write", "-z", "--stdin"],
    input: lines.join(""),
  };
}
