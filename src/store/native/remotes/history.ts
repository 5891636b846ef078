// Questions about history that a transfer asks: what is here already, what would leave.
import type { OutgoingList, OutgoingObject, OutgoingObjects } from "../../sharing.ts";
import { type Repository, runCommand } from "../git/git-command.ts";

/** Which of these commits are here. */
export async function presentCommits(repository: Repository, commits: readonly string[]): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set();
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const output = (await runCommand(repository, { args, input: lines(commits) })).toString();
  return new Set([...output.matchAll(/^([0-9a-f]{40}) commit$/gm)].map(([, commit = ""]) => commit));
}

/** What tips reach and the known commits do not; a blob has the first path that it is found under. */
export async function listOutgoing(repository: Repository, objects: OutgoingObjects): Promise<OutgoingList> {
  if (objects.tips.length === 0) return { objects: [], bytes: 0 };
  const input = `${await revList(repository, objects, ["--objects"])}\n`;
  const args = ["cat-file", "--batch-check=%(objecttype) %(objectsize:disk) %(objectname) %(rest)"];
  const output = (await runCommand(repository, { args, input })).toString();
  const found: OutgoingObject[] = [];
  let bytes = 0;
  for (const [, kind, size, oid = "", path = ""] of output.matchAll(/^(\w+) (\d+) ([0-9a-f]{40}) (.*)$/gm)) {
    bytes += Number(size);
    if (kind === "blob" || kind === "commit" || kind === "tag") found.push({ oid, kind, path });
  }
  return { objects: found, bytes };
}

/** Which tips reach a commit that changed a file; one question where none does. */
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

async function revList(repository: Repository, { tips, known }: OutgoingObjects, flags: string[]): Promise<string> {
  const input = lines([...tips, ...known.map((commit) => `^${commit}`)]);
  return (await runCommand(repository, { args: ["rev-list", ...flags, "--stdin"], input })).toString().trim();
}

function lines(words: readonly string[]): string {
  return words.map((word) => `${word}\n`).join("");
}
