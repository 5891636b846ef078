// Questions about history that a transfer asks: what is here already, what would leave.
import type { OutgoingList, OutgoingObject, OutgoingObjects } from "../../sharing.ts";
import { commandError, formatArguments, placeOf, type Repository, runCommand } from "../git/git-command.ts";
import { type GitPipe, openGit } from "../git/git-process.ts";
import { type NearCommits, openNearCommits } from "../objects/near-commits.ts";

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
