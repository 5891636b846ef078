// Takes back what a step that ended midway (git was killed, the disk was full) has done to a worktree's files. Git writes the
// files first and the index last: where the index still is what it was, a file that the step changes is missing, or holds a
// beginning of its new content. Whatever else stands there is the user's and stays.
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { readOwnFile } from "../../files/read-file.ts";
import { EMPTY_TREE } from "../../object-ids.ts";
import { type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import { type Advance, placeIn } from "./worktree-advance.ts";

/** A path that differs between two commits; null = it is not in that one. */
interface Change {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Brings the files of a step that ended midway back to the index; says whether there was anything to bring back. */
export async function takeBack(repository: Repository, { worktree, from, to }: Advance): Promise<boolean> {
  const here = placeIn(repository, worktree);
  const changes = await listChanges(here, from ?? EMPTY_TREE, to);
  // Files that were written anew with their old content look changed until then.
  await tryCommand(here, { args: ["update-index", "-q", "--refresh"] });
  const indexed = await readIndex(here);
  let isChanged = false;
  // First what was added: that makes room for the others.
  for (const { path, before, after } of changes) {
    if (before !== null || indexed.has(path) || (await stateOf(here, path, after)) !== "begun") continue;
    await rm(join(here.cwd, path), { force: true });
    isChanged = true;
  }
  const differs = new Set(await listPaths(here, ["diff-files", "-z", "--name-only"]));
  const lost: string[] = [];
  for (const { path, before, after } of changes) {
    if (before === null || indexed.get(path) !== before || !differs.has(path)) continue;
    if ((await stateOf(here, path, after)) !== "other") lost.push(`${path}\0`);
  }
  const command = { args: ["checkout-index", "--index", "--force", "-z", "--stdin"], input: lost.join("") };
  if (lost.length > 0) await runCommand(here, command);
  return isChanged || lost.length > 0;
}

async function listChanges(here: Repository, from: string, to: string): Promise<readonly Change[]> {
  const fields = await listPaths(here, ["diff-tree", "-r", "-z", "--no-renames", from, to]);
  const changes: Change[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, , before = "", after = ""] = (fields[at] ?? "").split(" ");
    changes.push({ path: fields[at + 1] ?? "", before: oidOrNull(before), after: oidOrNull(after) });
  }
  return changes;
}

function oidOrNull(oid: string): string | null {
  return /^0+$/.test(oid) ? null : oid;
}

async function readIndex(here: Repository): Promise<ReadonlyMap<string, string>> {
  const lines = await listPaths(here, ["ls-files", "--stage", "-z"]);
  return new Map(
    lines.map((line) => {
      const [facts = "", path = ""] = line.split("\t");
      return [path, facts.split(" ")[1] ?? ""];
    }),
  );
}

async function listPaths(here: Repository, args: readonly string[]): Promise<readonly string[]> {
  return (await runCommand(here, { args }))
    .toString()
    .split("\0")
    .filter((field) => field !== "");
}

/** Whether a file is missing, is (a beginning of) what the step writes there, or something else. */
async function stateOf(here: Repository, path: string, after: string | null): Promise<"missing" | "begun" | "other"> {
  const file = join(here.cwd, path);
  const found = await lstat(file).catch(() => null);
  if (found === null) return "missing";
  if (after === null || !found.isFile()) return "other";
  const [bytes, blob] = [readOwnFile(file), await runCommand(here, { args: ["cat-file", "blob", after] })];
  return blob.subarray(0, bytes.length).equals(bytes) ? "begun" : "other";
}
