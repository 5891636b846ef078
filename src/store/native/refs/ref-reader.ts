// Reads refs without starting git: loose files first, then packed-refs, as git itself does. A ref backend that is not made
// of files (reftable, in somebody else's clone) is asked through git.
import * as fs from "node:fs";
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { readRefFile } from "../../refs/ref-files.ts";
import { type Head, parseHead } from "../../refs/ref-text.ts";
import { type Repository, runCommand, tryCommand } from "../git/git-command.ts";

/** The commit a ref names, following symbolic refs, or null. */
export async function readRef(repository: Repository, ref: string): Promise<string | null> {
  if (isReftable(repository)) {
    const { stdout, code } = await tryCommand(repository, { args: ["rev-parse", "--verify", "--quiet", ref] });
    return code === 0 ? stdout.toString().trim() : null;
  }
  return await readRefFile({ fs, gitDir: repository.gitDir, isOnDisk: true }, ref);
}

/** HEAD of the worktree whose git dir is given. */
export async function readHead(repository: Repository, worktreeGitDir: string): Promise<Head | null> {
  if (isReftable(repository)) {
    const place = { ...repository, gitDir: worktreeGitDir };
    const { stdout, code } = await tryCommand(place, { args: ["symbolic-ref", "--quiet", "HEAD"] });
    if (code === 0) return { ref: stdout.toString().trim() };
    const detached = await runCommand(place, { args: ["rev-parse", "--verify", "HEAD"] });
    return { commit: detached.toString().trim() };
  }
  const path = join(worktreeGitDir, "HEAD");
  const head = parseHead(await readFileIfThere(path));
  return head !== null && "ref" in head ? head : (readHeadLink(path) ?? head);
}

/** What HEAD names as a link, in which form git writes it by `core.preferSymlinkRefs`; null where it is none. */
function readHeadLink(path: string): Head | null {
  try {
    const target = fs.readlinkSync(path);
    return target.startsWith("refs/") ? { ref: target } : null;
  } catch {
    return null;
  }
}

/** Whether nothing was ever committed or fetched there, as in a repository that was just made: then git need not be asked. */
export function hasNoRefs(gitDir: string): boolean {
  try {
    if (["packed-refs", "reftable"].some((name) => fs.existsSync(join(gitDir, name)))) return false;
    const inRefs = fs.readdirSync(join(gitDir, "refs"), { withFileTypes: true, recursive: true });
    return inRefs.every((entry) => entry.isDirectory());
  } catch {
    return false; // git says what is wrong there
  }
}

/** Whether a git dir has files of remote branches; folders that are empty count, a reftable is not looked into. */
export async function hasRemoteBranches(gitDir: string): Promise<boolean> {
  return isFolder(join(gitDir, "refs", "remotes")) || (await findPackedFolder(gitDir, "refs/remotes/"));
}

/** Whether packed-refs names a ref that begins so, e.g. `refs/remotes/`. */
async function findPackedFolder(gitDir: string, folder: string): Promise<boolean> {
  return ((await readFileIfThere(join(gitDir, "packed-refs"))) ?? "").includes(` ${folder}`);
}

export function isReftable(repository: Pick<Repository, "gitDir">): boolean {
  return isFolder(join(repository.gitDir, "reftable"));
}

/** Whether a path is a folder. */
export function isFolder(path: string): boolean {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Reads the ids of the commits where the history of a shallow clone ends; empty where history is whole. */
export async function readShallowCommits(gitDir: string): Promise<ReadonlySet<string>> {
  const text = (await readFileIfThere(join(gitDir, "shallow"))) ?? "";
  return new Set(text.split("\n").filter((line) => line !== ""));
}
