// Merge bases with a remote's branches, and what one side has and the other lacks, according to git. Merges that are followed
// through their first parent only count as in a log.
import type { CommitPair, FirstParentOnly, OutgoingList, OutgoingObject, OutgoingObjects } from "../sharing.ts";
import { type GitPipe, openGit } from "./git-process.ts";
import { commandError, formatArguments, placeOf, type Repository, runCommand, tryCommand } from "./porcelain.ts";

/** Parents of commits; of a first-parent-only merge, the first. */
interface Graph {
  readonly parents: ReadonlyMap<string, readonly string[]>;
  readonly hasFirstParentOnly: boolean;
}

/** Finds the merge bases of each pair, in order; none for unrelated histories. */
export async function mergeBases(
  repository: Repository,
  pairs: readonly CommitPair[],
  firstParentOnly?: FirstParentOnly,
): Promise<readonly (readonly string[])[]> {
  // In most pairs one is the other's ancestor: one question answers all of them. A single pair is one question either way.
  const ancestors = pairs.length > 1 ? await ancestorsOf(repository, pairs, firstParentOnly) : [];
  const bases: (readonly string[])[] = [];
  for (const [at, pair] of pairs.entries()) {
    const base = ancestors[at] ?? null;
    bases.push(base === null ? await basesOf(repository, pair, firstParentOnly) : [base]);
  }
  return bases;
}

/** The commit of each pair that is an ancestor of the other; null when neither is, or it cannot be seen here. */
async function ancestorsOf(
  repository: Repository,
  pairs: readonly CommitPair[],
  firstParentOnly: FirstParentOnly | undefined,
): Promise<readonly (string | null)[]> {
  const found = await findAncestors(repository, pairs, firstParentOnly);
  const swapped = pairs.flatMap(({ one, other }, at) => (found[at] === null ? [{ one: other, other: one }] : []));
  const others = (await findAncestors(repository, swapped, firstParentOnly)).values();
  return found.map((base) => base ?? others.next().value ?? null);
}

/** Returns `one` of each pair if it is an ancestor of `other`. */
async function findAncestors(
  repository: Repository,
  pairs: readonly CommitPair[],
  firstParentOnly: FirstParentOnly | undefined,
): Promise<readonly (string | null)[]> {
  if (pairs.length === 0) return [];
  const graph = await listGraph(
    repository,
    pairs.flatMap(({ one, other }) => [other, `^${one}`]),
    firstParentOnly,
  );
  return pairs.map(({ one, other }) => (isAncestor(graph, one, other) ? one : null));
}

async function basesOf(
  repository: Repository,
  pair: CommitPair,
  firstParentOnly?: FirstParentOnly,
): Promise<readonly string[]> {
  if (firstParentOnly === undefined) return askGit(repository, pair);
  const { one, other } = pair;
  const apart = await listGraph(repository, [`${one}...${other}`], firstParentOnly);
  if (isAncestor(apart, one, other)) return [one];
  if (isAncestor(apart, other, one)) return [other];
  // Without a first-parent-only merge between the two and their common history, git's own answer is right.
  if (!apart.hasFirstParentOnly) return askGit(repository, pair);
  return commonBases(await listGraph(repository, [one, other], firstParentOnly), pair);
}

/** Lists what revisions reach. */
async function listGraph(
  repository: Repository,
  revisions: readonly string[],
  firstParentOnly?: FirstParentOnly,
): Promise<Graph> {
  const input = revisions.map((revision) => `${revision}\n`).join("");
  const listed = (await runCommand(repository, { args: ["rev-list", "--parents", "--stdin"], input })).toString();
  const parents = new Map<string, readonly string[]>(
    listed.split("\n").map((line) => {
      const [commit = "", ...before] = line.split(" ");
      return [commit, before];
    }),
  );
  if (firstParentOnly === undefined) return { parents, hasFirstParentOnly: false };
  const merges = [...parents].filter(([, before]) => before.length > 1).map(([commit]) => commit);
  let hasFirstParentOnly = false;
  for (const [commit, message] of await readMessages(repository, merges)) {
    const before = parents.get(commit) ?? [];
    if (!(await firstParentOnly({ commit, message, parents: before }))) continue;
    parents.set(commit, before.slice(0, 1));
    hasFirstParentOnly = true;
  }
  return { parents, hasFirstParentOnly };
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

/** Whether a commit is an ancestor of another, among the listed commits. */
function isAncestor(graph: Graph, one: string, other: string): boolean {
  return reachableFrom(graph, other).has(one);
}

function reachableFrom({ parents }: Graph, from: string): ReadonlySet<string> {
  const seen = new Set([from]);
  // A set also iterates what is added during the iteration.
  for (const commit of seen) for (const parent of parents.get(commit) ?? []) seen.add(parent);
  return seen;
}

/** Common ancestors that are not ancestors of other common ancestors. */
function commonBases(graph: Graph, { one, other }: CommitPair): readonly string[] {
  const others = reachableFrom(graph, other);
  const common = [...reachableFrom(graph, one)].filter((commit) => others.has(commit));
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

/** Which of these commits are here. */
export async function presentCommits(repository: Repository, commits: readonly string[]): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set();
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const output = (await runCommand(repository, { args, input: lines(commits) })).toString();
  return new Set([...output.matchAll(/^([0-9a-f]{40}) commit$/gm)].map(([, commit = ""]) => commit));
}

/** Lists what tips reach and the known commits do not; a blob has the first path that it is found under. */
export async function listOutgoing(repository: Repository, objects: OutgoingObjects): Promise<OutgoingList> {
  if (objects.tips.length === 0) return { objects: [], bytes: 0 };
  const output = await describeOutgoing(repository, objects);
  const found: OutgoingObject[] = [];
  let bytes = 0;
  for (const [, kind, size, oid = "", path = ""] of output.matchAll(/^(\w+) (\d+) ([0-9a-f]{40}) (.*)$/gm)) {
    bytes += Number(size);
    if (kind === "blob" || kind === "commit" || kind === "tag") found.push({ oid, kind, path });
  }
  return { objects: found, bytes };
}

/** Returns the tips that reach a commit which changed a file; asks git once when none does. */
export async function listTouching(
  repository: Repository,
  { tips, known }: OutgoingObjects,
  path: string,
): Promise<readonly string[]> {
  const isTouched = async (some: readonly string[]): Promise<boolean> => {
    const input = lines([...some, ...known.map((commit) => `^${commit}`)]);
    const args = ["rev-list", "--full-history", "--max-count=1", "--stdin", "--", path];
    return (await runCommand(repository, { args, input })).length > 0;
  };
  if (tips.length === 0 || !(await isTouched(tips))) return [];
  const touched: string[] = [];
  for (const tip of tips) if (await isTouched([tip])) touched.push(tip);
  return touched;
}

/** A line for each object: its kind, bytes on disk, id and path. One git lists while the other looks up. */
async function describeOutgoing(repository: Repository, { tips, known }: OutgoingObjects): Promise<string> {
  const list = ["rev-list", "--objects", "--stdin"];
  const describe = ["cat-file", "--buffer", "--batch-check=%(objecttype) %(objectsize:disk) %(objectname) %(rest)"];
  const open = (args: readonly string[], to?: GitPipe): GitPipe =>
    openGit(formatArguments(repository, { args }), placeOf(repository), to);
  const describer = open(describe);
  const lister = open(list, describer);
  const chunks: Buffer[] = [];
  describer.child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  lister.child.stdin.end(lines([...tips, ...known.map((commit) => `^${commit}`)]));
  const [listed, described] = await Promise.all([lister.ended, describer.ended]);
  if (described.code !== 0) throw await commandError(repository, { args: describe }, described);
  if (listed.code !== 0) throw await commandError(repository, { args: list }, listed);
  return Buffer.concat(chunks).toString();
}

function lines(words: readonly string[]): string {
  return words.map((word) => `${word}\n`).join("");
}
