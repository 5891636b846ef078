// Reads refs without starting git: loose files first, then packed-refs, as git itself does. A ref backend that is not made
// of files (reftable, in somebody else's clone) is asked through git.
import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { readOwnText } from "../../files/read-file.ts";
import { type Repository, runCommand, tryCommand } from "../git/git-command.ts";

/** What HEAD of a worktree says. */
export type Head = { readonly ref: string } | { readonly commit: string };

/**
 * Reads a file as text, or gives null when it (or a folder on the way) does not exist. For small files of git's: at once,
 * because a detour through the thread pool costs many times what the reading costs.
 */
export async function readFileIfThere(path: string): Promise<string | null> {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    return isThere ? readOwnText(path, { followLink: true }) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return null;
    throw error;
  }
}

/** The commit a ref names, following symbolic refs, or null. */
export async function readRef(repository: Repository, ref: string): Promise<string | null> {
  if (isReftable(repository)) {
    const { stdout, code } = await tryCommand(repository, { args: ["rev-parse", "--verify", "--quiet", ref] });
    return code === 0 ? stdout.toString().trim() : null;
  }
  return await readRefFile(repository.gitDir, ref, 5);
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
    const target = readlinkSync(path);
    return target.startsWith("refs/") ? { ref: target } : null;
  } catch {
    return null;
  }
}

async function readRefFile(gitDir: string, ref: string, depth: number): Promise<string | null> {
  const value = parseHead(await readFileIfThere(join(gitDir, ref)));
  if (value === null) return findPackedRef((await readFileIfThere(join(gitDir, "packed-refs"))) ?? "", ref);
  if ("commit" in value) return value.commit;
  return depth > 0 ? await readRefFile(gitDir, value.ref, depth - 1) : null;
}

/** What the text of a ref says; null when it is none. */
export function parseHead(text: string | null): Head | null {
  if (text === null) return null;
  const symbolic = /^ref:\s*(\S.*?)\s*$/.exec(text);
  if (symbolic?.[1] !== undefined) return { ref: symbolic[1] };
  const commit = /^[0-9a-f]{40,64}/.exec(text);
  return commit === null ? null : { commit: commit[0] };
}

/** Finds a ref in the text of packed-refs (`<oid> <ref>` per line). */
export function findPackedRef(text: string, ref: string): string | null {
  const end = text.indexOf(` ${ref}\n`);
  if (end < 0) return null;
  const oid = text.slice(text.lastIndexOf("\n", end) + 1, end);
  return /^[0-9a-f]{40,64}$/.test(oid) ? oid : null;
}

/** Whether nothing was ever committed or fetched there, as in a repository that was just made: then git need not be asked. */
export function hasNoRefs(gitDir: string): boolean {
  try {
    if (["packed-refs", "reftable"].some((name) => existsSync(join(gitDir, name)))) return false;
    const inRefs = readdirSync(join(gitDir, "refs"), { withFileTypes: true, recursive: true });
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

export function isReftable(repository: Repository): boolean {
  return isFolder(join(repository.gitDir, "reftable"));
}

/** Whether a path is a folder. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Reads the ids of the commits where the history of a shallow clone ends; empty where history is whole. */
export async function readShallowCommits(gitDir: string): Promise<ReadonlySet<string>> {
  const text = (await readFileIfThere(join(gitDir, "shallow"))) ?? "";
  return new Set(text.split("\n").filter((line) => line !== ""));
}
