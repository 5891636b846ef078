// Where branches parted from those of a remote: from the newest commits, where that is near; the others for all of them at once,
// by listing what one side has and the other has not. Only of two that both went on far back is git asked by itself. Merges that
// are aside lead to their first parent alone, as in a log.
import type { CommitPair, IsAside } from "../../sharing.ts";
import { commandError, type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import { openNearCommits } from "../objects/near-commits.ts";
import { nearBases } from "./near-bases.ts";

/** Parents of commits; of a merge that is aside, the first. */
interface Graph {
  readonly parents: ReadonlyMap<string, readonly string[]>;
  readonly hasAside: boolean;
}

/** The best common ancestors of each pair, in order; none of unrelated ones. */
export async function mergeBases(
  repository: Repository,
  pairs: readonly CommitPair[],
  isAside?: IsAside,
): Promise<readonly (readonly string[])[]> {
  const near = await allNear(repository, pairs, isAside);
  const far = pairs.filter((_, at) => near[at] === null);
  const others = (await farBases(repository, far, isAside)).values();
  return near.map((bases) => bases ?? others.next().value ?? []);
}

/** Null for each that git has to be asked about. */
async function allNear(
  { gitDir }: Repository,
  pairs: readonly CommitPair[],
  isAside: IsAside | undefined,
): Promise<readonly (readonly string[] | null)[]> {
  if (pairs.length === 0) return [];
  const commits = openNearCommits(gitDir);
  try {
    const near: (readonly string[] | null)[] = [];
    for (const pair of pairs) near.push(await nearBases(commits, pair, isAside));
    return near;
  } finally {
    commits.close();
  }
}

async function farBases(
  repository: Repository,
  pairs: readonly CommitPair[],
  isAside: IsAside | undefined,
): Promise<readonly (readonly string[])[]> {
  // A single pair is one question either way.
  const straight = pairs.length > 1 ? await straightBases(repository, pairs, isAside) : [];
  const bases: (readonly string[])[] = [];
  for (const [at, pair] of pairs.entries()) {
    const base = straight[at] ?? null;
    bases.push(base === null ? await basesOf(repository, pair, isAside) : [base]);
  }
  return bases;
}

/** The one of each pair that leads to the other; null where neither does, or it is not seen here. */
async function straightBases(
  repository: Repository,
  pairs: readonly CommitPair[],
  isAside: IsAside | undefined,
): Promise<readonly (string | null)[]> {
  const found = await leadingOnes(repository, pairs, isAside);
  const swapped = pairs.flatMap(({ one, other }, at) => (found[at] === null ? [{ one: other, other: one }] : []));
  const others = (await leadingOnes(repository, swapped, isAside)).values();
  return found.map((base) => base ?? others.next().value ?? null);
}

/** `one` of each pair from which its `other` comes. */
async function leadingOnes(
  repository: Repository,
  pairs: readonly CommitPair[],
  isAside: IsAside | undefined,
): Promise<readonly (string | null)[]> {
  if (pairs.length === 0) return [];
  const graph = await listGraph(
    repository,
    pairs.flatMap(({ one, other }) => [other, `^${one}`]),
    isAside,
  );
  return pairs.map(({ one, other }) => (leadsTo(graph, one, other) ? one : null));
}

async function basesOf(repository: Repository, pair: CommitPair, isAside?: IsAside): Promise<readonly string[]> {
  if (isAside === undefined) return askGit(repository, pair);
  const { one, other } = pair;
  const apart = await listGraph(repository, [`${one}...${other}`], isAside);
  if (leadsTo(apart, one, other)) return [one];
  if (leadsTo(apart, other, one)) return [other];
  // Where none is aside between the two and what they share, the ways there are those that git sees.
  if (!apart.hasAside) return askGit(repository, pair);
  return commonBases(await listGraph(repository, [one, other], isAside), pair);
}

/** Lists what revisions reach. */
async function listGraph(repository: Repository, revisions: readonly string[], isAside?: IsAside): Promise<Graph> {
  const input = revisions.map((revision) => `${revision}\n`).join("");
  const listed = (await runCommand(repository, { args: ["rev-list", "--parents", "--stdin"], input })).toString();
  const parents = new Map<string, readonly string[]>(
    listed.split("\n").map((line) => {
      const [commit = "", ...before] = line.split(" ");
      return [commit, before];
    }),
  );
  if (isAside === undefined) return { parents, hasAside: false };
  const merges = [...parents].filter(([, before]) => before.length > 1).map(([commit]) => commit);
  let hasAside = false;
  for (const [commit, message] of await readMessages(repository, merges)) {
    const before = parents.get(commit) ?? [];
    if (!(await isAside({ commit, message, parents: before }))) continue;
    parents.set(commit, before.slice(0, 1));
    hasAside = true;
  }
  return { parents, hasAside };
}

/** The messages of commits, in any order. */
async function readMessages(
  repository: Repository,
  commits: readonly string[],
): Promise<readonly (readonly [commit: string, message: string])[]> {
  if (commits.length === 0) return [];
  const args = ["rev-list", "--no-walk=unsorted", "--format=%x00%H%x00%B%x00", "--stdin"];
  const input = commits.map((commit) => `${commit}\n`).join("");
  const output = (await runCommand(repository, { args, input })).toString();
  return [...output.matchAll(/\0([0-9a-f]{40})\0([^\0]*)\0/g)].map(([, commit = "", message = ""]) => [
    commit,
    message,
  ]);
}

/** Whether a commit comes before another, as far as commits are listed. */
function leadsTo(graph: Graph, one: string, other: string): boolean {
  return reached(graph, other).has(one);
}

function reached({ parents }: Graph, from: string): ReadonlySet<string> {
  const seen = new Set([from]);
  // A set also gives what is added to it while it is gone through.
  for (const commit of seen) for (const parent of parents.get(commit) ?? []) seen.add(parent);
  return seen;
}

/** Of what both reach, that which comes before nothing else of it. */
function commonBases(graph: Graph, { one, other }: CommitPair): readonly string[] {
  const others = reached(graph, other);
  const common = [...reached(graph, one)].filter((commit) => others.has(commit));
  const before = new Set(common.flatMap((commit) => graph.parents.get(commit) ?? []));
  return common.filter((commit) => !before.has(commit));
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
