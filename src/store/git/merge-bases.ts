// Where branches parted from those of a remote: from the newest commits, where that is near; the others for all of them at once,
// by listing what one side has and the other has not. Only of two that both went on far back is git asked by itself. Merges that
// are aside lead to their first parent alone, as in a log.
import type { CommitPair, IsAside, OutgoingList, OutgoingObject, OutgoingObjects } from "../sharing.ts";
import { type GitPipe, openGit } from "./git-process.ts";
import { type NearCommits, openNearCommits } from "./near-commits.ts";
import { commandError, formatArguments, placeOf, type Repository, runCommand, tryCommand } from "./porcelain.ts";

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

// Where two commits parted, told from the commits around them: most branches part a few commits back. What is further away, or
// has more than one answer, is left to git.

/** The best common ancestor of a pair; none of unrelated ones; null when git has to be asked. */
async function nearBases(
  commits: NearCommits,
  { one, other }: CommitPair,
  isAside?: IsAside,
): Promise<readonly string[] | null> {
  const parentsOf = async (commit: string): Promise<readonly string[] | null> => {
    const near = commits.read(commit);
    if (near === null) return null;
    const isCut = near.parents.length > 1 && (await isAside?.(near)) === true;
    return isCut ? near.parents.slice(0, 1) : near.parents;
  };
  const [before, beforeOther] = [openWalk(one, parentsOf), openWalk(other, parentsOf)];
  // Side by side: one of them mostly comes to the other soon, and may itself go far back.
  for (;;) {
    const steps = [await before.step(), await beforeOther.step()];
    if (beforeOther.met.has(one)) return [one];
    if (before.met.has(other)) return [other];
    if (steps.includes("lost")) return null;
    if (steps.every((step) => step === "end")) break;
  }
  const common = new Set([...before.met.keys()].filter((commit) => beforeOther.met.has(commit)));
  for (const commit of [...common]) for (const parent of before.met.get(commit) ?? []) common.delete(parent);
  return common.size > 1 ? null : [...common];
}

/** A walk through what comes before a commit, itself among it. */
interface Walk {
  /** Parents of the commits that were met. */
  readonly met: ReadonlyMap<string, readonly string[]>;
  /** Meets one more; `lost` when git has to be asked for it. */
  step(): Promise<"met" | "end" | "lost">;
}

function openWalk(from: string, parentsOf: (commit: string) => Promise<readonly string[] | null>): Walk {
  const met = new Map<string, readonly string[]>();
  const next = new Set([from]);
  return {
    met,
    async step() {
      const [commit] = next;
      if (commit === undefined) return "end";
      const parents = await parentsOf(commit);
      if (parents === null) return "lost";
      next.delete(commit);
      met.set(commit, parents);
      for (const parent of parents) if (!met.has(parent)) next.add(parent);
      return "met";
    },
  };
}

/** Which of these commits are here. Git is asked where its files do not say so of a few. */
export async function presentCommits(repository: Repository, commits: readonly string[]): Promise<ReadonlySet<string>> {
  const near = withNear(repository, (files) => commits.filter((commit) => files.read(commit) !== null));
  if (near.length === commits.length) return new Set(near);
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const output = (await runCommand(repository, { args, input: lines(commits) })).toString();
  return new Set([...output.matchAll(/^([0-9a-f]{40}) commit$/gm)].map(([, commit = ""]) => commit));
}

/** What tips reach and the known commits do not; a blob has the first path that it is found under. */
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

/** Which tips reach a commit that changed a file of the root; one question where none does, and none where that is near. */
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
  if (tips.length === 0 || isNowhere(repository, { tips, known }, path) || !(await isTouched(tips))) return [];
  const touched: string[] = [];
  for (const tip of tips) if (await isTouched([tip])) touched.push(tip);
  return touched;
}

/** Whether no commit that tips reach has a file, nor one that such a commit follows: all of them are near. */
function isNowhere(repository: Repository, { tips, known }: OutgoingObjects, path: string): boolean {
  return withNear(repository, (files) => {
    const reached = path.includes("/") ? null : files.reached(tips, new Set(known));
    return reached?.every(({ tree }) => files.readTree(tree)?.every(({ name }) => name !== path) === true) === true;
  });
}

function withNear<T>({ gitDir }: Repository, ask: (files: NearCommits) => T): T {
  const files = openNearCommits(gitDir);
  try {
    return ask(files);
  } finally {
    files.close();
  }
}

/** A line for each object: its kind, what it takes on disk, its id, its path. One git lists while the other looks up. */
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
