// Branches of a store: read from git's files, listed, moved by compare-and-swap.
import * as fs from "node:fs";
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod/mini";
import { codeOf } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { appendToOwnFile, foldersOf, readFileIfExists, replaceFile, syncFolders } from "../files.ts";
import { type Head, isBranchName, parseHead, readRefFile, refInTheWay, refOfBranch } from "../ref-files.ts";
import type { RemoteBranch, Remotes } from "../sharing.ts";
import { type BranchTip, type MaskedCopies, type MaskedCopy, type TrashedBranch, ZERO_ID } from "../store.ts";
import { isPlainFile } from "./guard.ts";
import {
  appendConfig,
  commandError,
  type GitCommand,
  type Repository,
  rewriteConfig,
  runCommand,
  tryCommand,
} from "./porcelain.ts";

// Reads refs without starting git: loose files first, then packed-refs, as git itself does. Asks git about a ref backend
// without files (reftable, in somebody else's clone).

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
  const head = parseHead(await readFileIfExists(path));
  return head !== null && "ref" in head ? head : (readHeadLink(path) ?? head);
}

/** The ref that HEAD names as a symbolic link (`core.preferSymlinkRefs`); null when it is none. */
function readHeadLink(path: string): Head | null {
  try {
    const target = fs.readlinkSync(path);
    return target.startsWith("refs/") ? { ref: target } : null;
  } catch {
    return null;
  }
}

/** Whether nothing was ever committed or fetched here, as in a new repository: then git need not be asked. */
export function hasNoRefs(gitDir: string): boolean {
  try {
    if (["packed-refs", "reftable"].some((name) => fs.existsSync(join(gitDir, name)))) return false;
    const inRefs = fs.readdirSync(join(gitDir, "refs"), { withFileTypes: true, recursive: true });
    return inRefs.every((entry) => entry.isDirectory());
  } catch {
    return false; // git reports what is wrong there
  }
}

/** Whether a git dir has files of remote branches; counts empty folders, does not look into a reftable. */
async function hasRemoteBranches(gitDir: string): Promise<boolean> {
  return isFolder(join(gitDir, "refs", "remotes")) || (await findPackedFolder(gitDir, "refs/remotes/"));
}

/** Whether packed-refs names a ref with this beginning, e.g. `refs/remotes/`. */
async function findPackedFolder(gitDir: string, folder: string): Promise<boolean> {
  return ((await readFileIfExists(join(gitDir, "packed-refs"))) ?? "").includes(` ${folder}`);
}

function isReftable(repository: Pick<Repository, "gitDir">): boolean {
  return isFolder(join(repository.gitDir, "reftable"));
}

export function isFolder(path: string): boolean {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Reads the ids of the commits where the history of a shallow clone ends; empty where history is whole. */
export async function readShallowCommits(gitDir: string): Promise<ReadonlySet<string>> {
  const text = (await readFileIfExists(join(gitDir, "shallow"))) ?? "";
  return new Set(text.split("\n").filter((line) => line !== ""));
}

// The branch sections in a store's configuration: merge options, so that a stock `git merge` never takes one compaction record
// for a renamed copy of another; and upstreams, so that stock git knows what to compare with and pull. One write for any number
// of branches.

/** Whether a config file's text is that of a jpg store (`jpg.format`). */
export function isStoreConfig(text: string): boolean {
  return /^\s*\[\s*jpg\s*\]/im.test(text);
}

/** Sets the merge options of branches that have none; does nothing in a repository that jpg did not make. */
export async function configureBranches(
  repository: Pick<Repository, "gitDir">,
  names: readonly string[],
): Promise<void> {
  const path = join(repository.gitDir, "config");
  const missingIn = (text: string): string[] => [...new Set(names)].filter((name) => !text.includes(sectionOf(name)));
  const before = (await readFileIfExists(path)) ?? "";
  if (!isStoreConfig(before) || missingIn(before).length === 0) return;
  await appendConfig(repository.gitDir, (text) => missingIn(text).map(sectionOf).join(""));
}

/** The upstream of branches: those of the same names, under a prefix, of a remote. */
interface Upstream {
  readonly remote: string;
  readonly prefix: string;
}

/** Records the upstream of branches, as `git clone` does; the branches must have none yet. */
export async function followRemote(
  { gitDir }: Pick<Repository, "gitDir">,
  names: readonly string[],
  followed: Upstream,
): Promise<void> {
  if (names.length > 0) await appendConfig(gitDir, () => names.map((name) => followSection(name, followed)).join(""));
}

/** Removes what `followRemote` recorded for a remote, in one write: git would rewrite the file for each line. */
export async function forgetFollowed({ gitDir }: Pick<Repository, "gitDir">, remote: string): Promise<void> {
  await rewriteConfig(gitDir, (text) =>
    text.replace(FOLLOW_SECTION, (section, followed) => (followed === remote ? "" : section)),
  );
}

const FOLLOW_SECTION = /^\[branch "(?:[^"\\\n]|\\.)*"\]\n\tremote = ([\w-]+)\n\tmerge = "(?:[^"\\\n]|\\.)*"\n(?!\t)/gm;

function followSection(name: string, { remote, prefix }: Upstream): string {
  return `[branch "${quote(name)}"]\n\tremote = ${remote}\n\tmerge = "${quote(prefix + name)}"\n`;
}

// Git merges repeated sections of one branch, so what stock git wrote there stays as it is.
function sectionOf(name: string): string {
  return `[branch "${quote(name)}"]\n\tmergeOptions = -Xfind-renames=100%\n`;
}

function quote(name: string): string {
  return name.replace(/["\\]/g, "\\$&");
}

// Lists branches, and refs of other folders, from git's own files, loose and packed: faster than starting git, which also looks
// up each object. Anything unusual is left to git, which reports what is wrong.

const HEADS = "refs/heads/";
const OID_LENGTH = 40;
/** Lines for other refs: comments, refs in other folders, peeled tags. */
const OTHER_LINE = /^(?:[#^].*|[0-9a-f]{40} refs\/.+)$/;
const OIDS = /^[0-9a-f]*$/;
/** The content of a loose ref: the id of a commit. */
const LOOSE = /^(?!0{40})([0-9a-f]{40})\n$/;
/** Loose refs are read one by one; git reads many of them faster. */
const MOST_LOOSE = 50;

/** The branches by name, in git's order, never none; null when git must be asked. */
export async function listBranchFiles(gitDir: string): Promise<BranchTip[] | null> {
  const tips = await listRefFiles(gitDir, HEADS);
  return tips?.length === 0 ? null : tips;
}

/** The refs below a folder (`refs/trash/`) by the rest of their names, in git's order; null when git must be asked. */
export async function listRefFiles(gitDir: string, folder: string): Promise<BranchTip[] | null> {
  // A folder that cannot contain refs may lead elsewhere.
  if (!isBranchName(folder.slice("refs/".length, -1)) || !isFolder(join(gitDir, "refs"))) return null;
  if (isFolder(join(gitDir, "reftable")) || !(await isSound(gitDir))) return null;
  // Loose refs first, as git does: one that is packed meanwhile is in the file that is read after.
  const loose = await readLoose(join(gitDir, folder));
  if (loose === null) return null;
  const packed = parsePackedRefs((await readFileIfExists(join(gitDir, "packed-refs"))) ?? "", folder);
  if (packed === null) return null;
  if (loose.length === 0) return packed;
  const names = new Set(loose.map(({ name }) => name));
  return [...packed.filter(({ name }) => !names.has(name)), ...loose].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether git would accept the folder as a repository, and its settings are plain. */
async function isSound(gitDir: string): Promise<boolean> {
  return isPlainFile(join(gitDir, "config")) && parseHead(await readFileIfExists(join(gitDir, "HEAD"))) !== null;
}

/** The refs below a folder in packed-refs, in order; null for a file that git would not have written. */
export function parsePackedRefs(text: string, folder: string): BranchTip[] | null {
  const start = ` ${folder}`;
  const tips: BranchTip[] = [];
  for (let from = 0, end = text.indexOf("\n"); from < text.length; from = end + 1, end = text.indexOf("\n", from)) {
    if (end < 0) return null;
    const nameAt = from + OID_LENGTH + start.length;
    if (nameAt < end && text.startsWith(start, from + OID_LENGTH)) {
      const commit = text.slice(from, from + OID_LENGTH);
      if (!OIDS.test(commit)) return null;
      tips.push({ name: text.slice(nameAt, end), commit });
    } else if (!OTHER_LINE.test(text.slice(from, end))) return null;
  }
  return tips;
}

/** Null when there are many, or anything but the id of a commit under a name that git accepts. */
async function readLoose(folder: string): Promise<BranchTip[] | null> {
  const tips: BranchTip[] = [];
  for (const name of looseNames(folder)) {
    const isPlain = name !== null && tips.length < MOST_LOOSE && isBranchName(name);
    const [, commit] = LOOSE.exec((isPlain ? await readFileIfExists(join(folder, name)) : null) ?? "") ?? [];
    if (name === null || commit === undefined) return null;
    tips.push({ name, commit });
  }
  return tips;
}

/** Names of loose refs; null for what is neither a file nor a readable folder. */
function* looseNames(folder: string, above = ""): Generator<string | null> {
  const entries = entriesOf(join(folder, above));
  if (entries === null) yield null;
  for (const entry of entries ?? []) {
    if (entry.isDirectory()) yield* looseNames(folder, `${above}${entry.name}/`);
    else if (!entry.name.endsWith(".lock")) yield entry.isFile() ? above + entry.name : null;
  }
}

/** Null when a folder cannot be read; empty when it is gone. */
function entriesOf(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return codeOf(error) === "ENOENT" ? [] : null;
  }
}

// Whether others may have commits of a store: it has a remote, or something was pushed from it, by URL too, or exported as a
// file. What others may have is never replaced.

/** Commit ids that were pushed or exported, one a line; written before they are sent. */
const RECORD = "jpg-pushed";

/** Records commits before they are sent: only the commits, not where they go. */
export async function recordPublished(gitDir: string, commits: readonly string[]): Promise<void> {
  const known = new Set(((await readFileIfExists(join(gitDir, RECORD))) ?? "").split("\n"));
  const added = [...new Set(commits)].filter((commit) => commit !== ZERO_ID && !known.has(commit));
  if (added.length === 0) return;
  appendToOwnFile(join(gitDir, RECORD), added.map((commit) => `${commit}\n`).join(""));
}

/** Whether a store has a remote, has branches of one, or pushed anything. */
export async function isPublished(gitDir: string): Promise<boolean> {
  if (((await readFileIfExists(join(gitDir, RECORD))) ?? "") !== "") return true;
  if (/^\s*\[\s*remote\s/im.test((await readFileIfExists(join(gitDir, "config"))) ?? "")) return true;
  return hasRemoteBranches(gitDir);
}

/** Replaces the name of a purged branch in a message. */
export const REMOVED = "(removed)";

/**
 * The branch that HEAD named before `active`, as `git switch -` reads it; null when there is none. A name without a slash is a
 * commit, or the branch that a store begins with, and no conversation.
 */
export function previousBranchIn(reflog: string | null, active: string | null): string | null {
  const moves = [...(reflog ?? "").matchAll(/\tcheckout: moving from (\S+) to \S+$/gm)].reverse();
  for (const [, from = ""] of moves) if (from !== active && from !== REMOVED && from.includes("/")) return from;
  return null;
}

/** Earlier values of a ref, newest first, each once. */
export function formerTipsIn(reflog: string | null): readonly string[] {
  const tips = [...(reflog ?? "").matchAll(/^([0-9a-f]{40}) /gm)].map(([, tip = ""]) => tip);
  return [...new Set(tips.reverse())];
}

/** The text of a ref's log below a git dir; null when it has none. */
export async function readReflog(gitDir: string, ref: string): Promise<string | null> {
  return await readFileIfExists(join(gitDir, "logs", ref));
}

/** One JSON document; it may be gone at any time, and then the next copy is a new one. */
const COPY_RECORD = "jpg-redacted";

const maskedCopy: z.ZodMiniType<MaskedCopy> = z.object({
  original: z.string(),
  copy: z.string(),
  request: z.string(),
  branches: z.record(z.string(), z.object({ from: z.string(), name: z.string(), to: z.string() })),
  masks: z.record(z.string(), z.string()),
});
const record: z.ZodMiniType<{ readonly copies: readonly MaskedCopy[] }> = z.object({ copies: z.array(maskedCopy) });

/** Opens the record of masked copies of the store in a git dir. */
export function openMaskedCopies(gitDir: string): MaskedCopies {
  const path = join(gitDir, COPY_RECORD);
  const list = async (): Promise<readonly MaskedCopy[]> =>
    parseJson((await readFileIfExists(path)) ?? "", record)?.copies ?? [];
  const write = (copies: readonly MaskedCopy[]): Promise<void> => replaceFile(path, `${JSON.stringify({ copies })}\n`);
  return {
    list,
    async record(copy) {
      await write([...(await list()).filter((one) => one.copy !== copy.copy), copy]);
    },
    async forget(conversations) {
      const copies = await list();
      const left = copies.filter(({ original, copy }) => !conversations.has(original) && !conversations.has(copy));
      if (left.length < copies.length) await write(left);
    },
  };
}

/** A move of one branch; `expected` null = it must not exist. */
export interface BranchMove {
  readonly branch: string;
  readonly expected: string | null;
  readonly to: string;
}

/** The reflog message of a move. */
const MOVE_MESSAGE = "jpg: write";

const LOCK_ATTEMPTS = 20;
const LOCK_WAIT_MS = 15;

/** Moves branches; returns for each, in order, whether it was moved. Throws when git fails for other reasons than a stale branch. */
export async function moveBranches(repository: Repository, moves: readonly BranchMove[]): Promise<readonly boolean[]> {
  const moved = new Set<BranchMove>();
  // A transaction takes each branch once.
  const firsts = new Map([...moves].reverse().map((move) => [move.branch, move]));
  await moveTogether(repository, [...firsts.values()], moved);
  for (const move of moves)
    if (firsts.get(move.branch) !== move && (await moveBranch(repository, move))) moved.add(move);
  if (!isReftable(repository))
    await syncFolders(foldersOf([...moved].map(({ branch }) => join(repository.gitDir, refOfBranch(branch)))));
  return moves.map((move) => moved.has(move));
}

async function moveTogether(
  repository: Repository,
  moves: readonly BranchMove[],
  moved: Set<BranchMove>,
): Promise<void> {
  const [first] = moves;
  if (first === undefined) return;
  const isMoved =
    moves.length === 1
      ? await moveBranch(repository, first)
      : (await tryCommand(repository, updateCommand(moves))).code === 0;
  if (isMoved) for (const move of moves) moved.add(move);
  if (isMoved || moves.length === 1) return;
  const half = Math.ceil(moves.length / 2);
  await moveTogether(repository, moves.slice(0, half), moved);
  await moveTogether(repository, moves.slice(half), moved);
}

async function moveBranch(repository: Repository, move: BranchMove): Promise<boolean> {
  const command = updateCommand([move]);
  const isStale = async (): Promise<boolean> => (await readRef(repository, refOfBranch(move.branch))) !== move.expected;
  // A stale branch needs no git to find out, except where refs are not files.
  if (!isReftable(repository) && (await isStale())) return false;
  for (let attempt = 1; ; attempt++) {
    const result = await tryCommand(repository, command);
    if (result.code === 0) return true;
    if (await isStale()) return false;
    const [, other, ref] = /'([^']+)' exists; cannot create '([^']+)'/.exec(result.stderr) ?? [];
    if (ref !== undefined && other !== undefined) throw refInTheWay(repository.cwd, ref, other);
    const isLocked = /\.lock': File exists/.test(result.stderr);
    if (!isLocked || attempt >= LOCK_ATTEMPTS) throw await commandError(repository, command, result);
    await sleep(LOCK_WAIT_MS + attempt);
  }
}

function updateCommand(moves: readonly BranchMove[]): GitCommand {
  const lines = moves.map(
    ({ branch, expected, to }) => `update ${refOfBranch(branch)}\0${to}\0${expected ?? ZERO_ID}\0`,
  );
  return {
    args: ["update-ref", "-m", MOVE_MESSAGE, "-z", "--stdin"],
    input: lines.join(""),
    // By default git renames a ref into place before its content is on the disk.
    config: ["core.fsync=committed,reference"],
  };
}

/** Prefix of the refs of removed branches. */
export const TRASH: string = "refs/trash/";

/** The ref of a removed branch. Throws `bad_branch_name`. */
export function refInTrash(removedAt: string, branch: string): string {
  // refOfBranch checks the name.
  return `${TRASH}${removedAt.replace(/[-:]/g, "")}/${refOfBranch(branch).slice("refs/heads/".length)}`;
}

/** The removed branch of a ref; null for a name that jpg did not make. */
export function parseTrashRef(ref: string, commit: string): TrashedBranch | null {
  const [, stamp = "", branch = ""] = /^refs\/trash\/([^/]+)\/(.+)$/.exec(ref) ?? [];
  const [, date = "", ...time] = /^(\d{8})T(\d\d)(\d\d)(\d\d\.\d{3})Z$/.exec(stamp) ?? [];
  if (date === "") return null;
  const removedAt = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.join(":")}Z`;
  return { branch, commit, removedAt };
}

export function createRemotes(repository: Repository): Remotes {
  return {
    list: () => listRemoteBranches(repository),
    track: (branch) => trackBranch(repository, branch),
  };
}

async function listRemoteBranches(repository: Repository): Promise<readonly RemoteBranch[]> {
  const args = ["for-each-ref", "--format=%(refname:lstrip=2) %(symref)", "refs/remotes/"];
  const lines = (await runCommand(repository, { args })).toString().split("\n");
  return lines.flatMap((line) => {
    const [, remote, name] = /^([^/ ]+)\/(\S+) $/.exec(line) ?? [];
    return remote === undefined || name === undefined ? [] : [{ remote, name }];
  });
}

async function trackBranch(repository: Repository, { remote, name }: RemoteBranch): Promise<void> {
  await runCommand(repository, { args: ["branch", "--quiet", "--track", name, `refs/remotes/${remote}/${name}`] });
  await configureBranches(repository, [name]);
}
