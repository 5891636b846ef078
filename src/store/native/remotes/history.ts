// Questions about history that a transfer asks: what is here already, what would leave, where two branches parted.
import type { OutgoingObject, OutgoingObjects } from "../../sharing.ts";
import { commandError, type Repository, runCommand, tryCommand } from "../git/git-command.ts";

/** Which of these commits are here. */
export async function presentCommits(repository: Repository, commits: readonly string[]): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set();
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const output = (await runCommand(repository, { args, input: lines(commits) })).toString();
  return new Set([...output.matchAll(/^([0-9a-f]{40}) commit$/gm)].map(([, commit = ""]) => commit));
}

/** The blobs, commits and tags that tips reach and the known commits do not, each once, with the first path that it is found under. */
export async function listOutgoing(
  repository: Repository,
  objects: OutgoingObjects,
): Promise<readonly OutgoingObject[]> {
  const input = `${await revList(repository, objects, ["--objects"])}\n`;
  const args = ["cat-file", "--batch-check=%(objecttype) %(objectname) %(rest)"];
  const output = (await runCommand(repository, { args, input })).toString();
  return [...output.matchAll(/^(blob|commit|tag) ([0-9a-f]{40}) (.*)$/gm)].map(([, kind, oid = "", path = ""]) => ({
    oid,
    kind: kind as OutgoingObject["kind"],
    path,
  }));
}

/** Bytes that they take where they are stored now. */
export async function outgoingBytes(repository: Repository, objects: OutgoingObjects): Promise<number> {
  return Number(await revList(repository, objects, ["--objects", "--disk-usage"]));
}

/** The best common ancestors of two commits; none of unrelated ones. */
export async function mergeBases(repository: Repository, one: string, other: string): Promise<readonly string[]> {
  const command = { args: ["merge-base", "--all", one, other] };
  const result = await tryCommand(repository, command);
  if (result.code > 1) throw await commandError(repository, command, result);
  return result.stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

async function revList(repository: Repository, { tips, known }: OutgoingObjects, flags: string[]): Promise<string> {
  const input = lines([...tips, ...known.map((commit) => `^${commit}`)]);
  return (await runCommand(repository, { args: ["rev-list", ...flags, "--stdin"], input })).toString().trim();
}

function lines(words: readonly string[]): string {
  return words.map((word) => `${word}\n`).join("");
}
