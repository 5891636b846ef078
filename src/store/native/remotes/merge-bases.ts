// Where branches parted from those of a remote: for all of them at once, by listing what one side has and the other has not. Only
// of two that both went on is git asked by itself.
import type { CommitPair } from "../../sharing.ts";
import { commandError, type Repository, runCommand, tryCommand } from "../git/git-command.ts";

/** The best common ancestors of each pair, in order; none of unrelated ones. */
export async function mergeBases(
  repository: Repository,
  pairs: readonly CommitPair[],
): Promise<readonly (readonly string[])[]> {
  // A single pair is one question either way.
  const straight = pairs.length > 1 ? await straightBases(repository, pairs) : [];
  const bases: (readonly string[])[] = [];
  for (const [at, pair] of pairs.entries()) {
    const base = straight[at] ?? null;
    bases.push(base === null ? await askGit(repository, pair) : [base]);
  }
  return bases;
}

/** The one of each pair that leads to the other; null where neither does, or it is not seen here. */
async function straightBases(
  repository: Repository,
  pairs: readonly CommitPair[],
): Promise<readonly (string | null)[]> {
  const found = await leadingOnes(repository, pairs);
  const swapped = pairs.flatMap(({ one, other }, at) => (found[at] === null ? [{ one: other, other: one }] : []));
  const others = (await leadingOnes(repository, swapped)).values();
  return found.map((base) => base ?? others.next().value ?? null);
}

/** `one` of each pair from which its `other` comes. */
async function leadingOnes(repository: Repository, pairs: readonly CommitPair[]): Promise<readonly (string | null)[]> {
  if (pairs.length === 0) return [];
  const input = pairs.map(({ one, other }) => `${other}\n^${one}\n`).join("");
  const listed = (await runCommand(repository, { args: ["rev-list", "--parents", "--stdin"], input })).toString();
  const parents = new Map(
    listed.split("\n").map((line) => {
      const [commit = "", ...before] = line.split(" ");
      return [commit, before];
    }),
  );
  return pairs.map(({ one, other }) => (leadsTo(parents, one, other) ? one : null));
}

/** Whether a commit comes before another, as far as commits are listed. */
function leadsTo(parents: ReadonlyMap<string, readonly string[]>, one: string, other: string): boolean {
  const seen = new Set([other]);
  // A set also gives what is added to it while it is gone through.
  for (const commit of seen) {
    if (commit === one) return true;
    for (const parent of parents.get(commit) ?? []) seen.add(parent);
  }
  return false;
}

async function askGit(repository: Repository, { one, other }: CommitPair): Promise<readonly string[]> {
  const command = { args: ["merge-base", "--all", one, other] };
  const result = await tryCommand(repository, command);
  if (result.code > 1) throw await commandError(repository, command, result);
  return result.stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}
