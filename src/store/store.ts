// The store of conversations: branches of commits in a git repository, seen as values. Two engines implement it (native git,
// isomorphic-git); both pass test/contract/conversation-store.ts. Nothing here knows what the files mean.
import type { JpgError } from "../core/errors.ts";
import type { GitVersion } from "./environment.ts";
import type { FirstParentOnly, ProjectRemote, Remotes, Sharing } from "./sharing.ts";

/** What reads and writes a store: the git program, or jpg without it. */
export type Engine = "native" | "embedded";

/** A branch and its commit; `name` without `refs/heads/`. */
export interface BranchTip {
  readonly name: string;
  readonly commit: string;
}

export interface TreeFile {
  /** Path from the root of the tree, `/` between names. */
  readonly path: string;
  /** Object id of the blob, 40 hex digits. */
  readonly oid: string;
  /** Bytes; present when sizes were asked for. */
  readonly size?: number;
  /** Set when it is not a plain file. */
  readonly special?: "link" | "repository";
}

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970. */
  readonly seconds: number;
  /** Minutes east of UTC; default 0. */
  readonly offsetMinutes?: number;
}

/** A change of one path: new bytes, an object that is already stored, or removal. */
export type FileChange =
  | { readonly path: string; readonly bytes: Uint8Array }
  | { readonly path: string; readonly oid: string }
  | { readonly path: string; readonly remove: true };

/** One commit to write; its first parent is the commit before it in the same write. */
export interface CommitSpec {
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
  readonly changes: Iterable<FileChange>;
  /** Sign if the user's git does (`commit.gpgSign`); default false. */
  readonly sign?: boolean;
  /** Further parents; a commit that has some is never signed, nor are those after it. Default none. */
  readonly merges?: readonly string[];
}

/** Commits for one branch, moved by compare-and-swap. */
export interface BranchWrite {
  readonly branch: string;
  /** The commit that the branch must have for the move to happen; null = it must not exist. */
  readonly expected: string | null;
  /** The parent of the first new commit; null = a root commit. Differs from `expected` when a tip is replaced. */
  readonly parent: string | null;
  readonly commits: Iterable<CommitSpec> | AsyncIterable<CommitSpec>;
}

export interface WriteResult {
  readonly branch: string;
  /** The new tip, even when it was not moved. */
  readonly commit: string;
  /** Ids of all commits written, oldest first. */
  readonly commits: readonly string[];
  /** False when the branch is no longer at `expected`: read again and retry. */
  readonly moved: boolean;
}

/** One commit of a log, with the files it added and removed among the paths asked for. */
export interface LogEntry {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  /** Whole message, subject first. */
  readonly message: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface LogQuery {
  readonly from: string;
  /** Folders or files; commits that touch none are left out (history is never simplified: --full-history). Empty = all. */
  readonly paths?: readonly string[];
  readonly limit?: number;
  /** With `paths`: which merges are followed through their first parent only. */
  readonly firstParentOnly?: FirstParentOnly;
}

/** Which files of commits to look for. */
export interface TextQuery {
  /** Any of them; each is not empty and holds no line end. None = nothing is found. */
  readonly texts: readonly string[];
  /** Folders to look under, never empty. */
  readonly under: readonly string[];
  /** Whether ASCII letters match in either case; default false. */
  readonly ignoreCase?: boolean;
}

/** A file that a commit changed in place. */
export interface RewrittenFile {
  readonly commit: string;
  readonly path: string;
  /** Object ids before and after. */
  readonly from: string;
  readonly to: string;
}

/** What the engine found in the repository. */
export interface StoreVerdict {
  /** Missing or damaged objects and refs without a commit, in git's words. */
  readonly problems: readonly string[];
  /** Files that commits on a branch changed in place; merges are not checked. Newest commit first. */
  readonly rewritten: readonly RewrittenFile[];
}

/** A store that has only some of its objects: the others are fetched when they are read, those that are read together at once. */
export interface PartialClone {
  /** Which of these objects are not here, each once. */
  missing(oids: readonly string[]): readonly string[];
  /** Fetches those that are not here, in one request. Throws `objects_elsewhere`, whose data names them as `oids`. */
  fetch(oids: readonly string[]): Promise<void>;
  close(): void;
}

/** The conversation branches of one repository. Every method throws JpgError of kind `repository` when git fails. */
export interface ConversationStore extends StoreServices {
  readonly engine: Engine;
  /** The store's own worktree, absolute. */
  readonly root: string;
  /** The store's git dir, absolute. */
  readonly gitDir: string;
  /** Null where the engine has none. */
  readonly worktrees: Worktrees | null;
  /** Removed branches; null where the engine does not keep them. */
  readonly trash: Trash | null;
  /** Branches of remotes; null where the engine does not know them. */
  readonly remotes: Remotes | null;
  /** Pushing and fetching; null where the engine cannot. */
  readonly sharing: Sharing | null;
  /** Whole histories; null where the engine does not read and write them. */
  readonly histories: Histories | null;
  /** Set when only some objects are here and the engine can fetch the others. */
  readonly partial: PartialClone | null;

  /** All branches, ordered by name. A ref without a commit id throws `store_damaged`, or is passed to `skip`. */
  listBranches(skip?: (error: JpgError) => void): Promise<readonly BranchTip[]>;
  /** The branches whose history holds a commit, ordered by name. `commit` must exist. */
  listBranchesWith(commit: string): Promise<readonly BranchTip[]>;
  /** The commit of a branch, or null when it does not exist. */
  readBranch(name: string): Promise<string | null>;
  /** The branch HEAD names (the active conversation), even when it has no commit yet; null when detached. */
  readActiveBranch(): Promise<string | null>;
  /** Checks a branch out in a worktree; by default in the store's own, which makes it active. */
  useBranch(name: string, worktree?: Worktree): Promise<void>;
  /** The commit a revision names (branch, id, unique prefix, `x~1`), as git in a worktree reads it; null when it names none. */
  resolveCommit(revision: string, worktree?: Worktree): Promise<string | null>;
  /** Files under the folders (all when empty), in path order; `sizes` of all, or of those that are here. `commit` must exist. */
  listTree(
    commit: string,
    query?: { readonly under?: readonly string[]; readonly sizes?: boolean | "here" },
  ): Promise<readonly TreeFile[]>;
  /** Object ids of the named entries (files or folders) of a commit's tree; absent entries are left out. */
  readEntries(commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Contents in the order asked; with `atLeast`, each may end after so many bytes. Throws `object_missing`. */
  readBlobs(oids: readonly string[], atLeast?: number): AsyncIterable<Uint8Array>;
  /** Committer times, seconds since 1970, in the order asked. Throws `object_missing`. */
  readCommitTimes(commits: readonly string[]): Promise<readonly number[]>;
  /** Newest first. */
  readLog(query: LogQuery): Promise<readonly LogEntry[]>;
  /** Paths of each commit's files whose bytes hold one of the texts, in path order; commits without any are left out. */
  findText(commits: readonly string[], query: TextQuery): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Writes objects, then moves each branch by compare-and-swap. One pass for all writes. */
  write(writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>): Promise<readonly WriteResult[]>;
  /** Checks objects and refs, whatever the files mean. Reads every object once. */
  verify(): Promise<StoreVerdict>;
  /** Creates a branch at a commit without writing an object. False when it exists. */
  createBranch(name: string, commit: string): Promise<boolean>;
  /** How many objects have been read since the store was opened (for tests of what a view costs). */
  readonly objectsRead: number;
  close(): Promise<void>;
}

/** A file that differs from the commit's first parent; `oid` null = removed. */
export interface HistoryChange {
  readonly path: string;
  readonly oid: string | null;
  /** Set when it is not a plain file. */
  readonly special?: TreeFile["special"];
}

export interface HistoryCommit extends Omit<LogEntry, "added" | "removed"> {
  /** Against the first parent; all files where there is none. */
  readonly changes: readonly HistoryChange[];
}

/** A commit of a rewritten history. */
export interface NewHistoryCommit extends Omit<CommitSpec, "merges" | "sign"> {
  /** Positions of its parents among the commits that are written, 0-based; none = a root commit. */
  readonly parents: readonly number[];
}

/** A line of a drawn history: strokes only, or strokes and a commit after them. */
export interface DrawnLine {
  readonly strokes: string;
  readonly commit: {
    readonly id: string;
    readonly subject: string;
  } | null;
}

/** Each method throws JpgError of kind `repository` when git fails. */
export interface Histories {
  /** Git's own drawing of all commits that the tips reach, newest first; `limit` = only so many commits. */
  draw(tips: readonly string[], limit?: number): Promise<readonly DrawnLine[]>;
  /** All commits that the tips reach, parents first. */
  read(tips: readonly string[]): Promise<readonly HistoryCommit[]>;
  /** Writes commits that no branch holds yet, parents first; returns their ids. */
  write(commits: AsyncIterable<NewHistoryCommit>): Promise<readonly string[]>;
  /** Creates branches, all or none. */
  create(branches: readonly BranchTip[]): Promise<void>;
}

/** A branch that was removed and can be restored. */
export interface TrashedBranch {
  readonly branch: string;
  /** Its last commit. */
  readonly commit: string;
  /** RFC 3339 UTC, milliseconds; branches that were removed together share it. */
  readonly removedAt: string;
}

/** Each method throws JpgError of kind `repository` and changes nothing when a ref has moved meanwhile. */
export interface Trash {
  /** Oldest removal first. */
  list(): Promise<readonly TrashedBranch[]>;
  /** Removes branches, all or none; if one of them is active, the store then has no active branch. */
  put(branches: readonly BranchTip[], removedAt: string): Promise<void>;
  /** Restores branches, all or none. */
  restore(branches: readonly TrashedBranch[]): Promise<void>;
  /** Removes branches for good, with the objects that nothing else reaches; returns how many objects. */
  purge(branches: readonly TrashedBranch[]): Promise<number>;
}

// What a store has in addition to its branches: what jpg keeps in the git dir for itself, and git's own records there. No other
// module builds a path below the git dir.

/** A person as git names one. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** The author of new commits. */
export interface CommitAuthor extends Identity {
  readonly committer: Identity;
  /** False when the user's git signs no commits. */
  readonly maySign: boolean;
}

/** The identity of a store whose user has none. */
export const FALLBACK_IDENTITY: Identity = { name: "jpg", email: "jpg@localhost" };

/** A worktree, by its git dir. */
interface OfWorktree {
  readonly gitDir: string;
}

/** What a store offers besides its branches. */
export interface StoreServices {
  /** A cache of the store, or of one of its worktrees. */
  cache(name: string, worktree?: OfWorktree): Cache;
  /** Removes all caches of the store. */
  dropCaches(): Promise<void>;
  /** The folder of the journals of open turns, absolute; it need not exist. */
  journal(): string;
  /** Keeps a text for the user, replacing the last one of that name. Returns its file; null when nothing can be written. */
  keepText(name: string, text: string): Promise<string | null>;
  /** The editor in the user's own git settings (`core.editor`), a command line; ignores the store's settings. Null = none. */
  editor(): Promise<string | null>;
  identity(): Promise<CommitAuthor>;
  /** The branch that was checked out before the current one, in a worktree or else the store's own; null when none was. */
  previousBranch(worktree?: OfWorktree): Promise<string | null>;
  /** Earlier tips of a branch, newest first, each once. */
  formerTips(branch: string): Promise<readonly string[]>;
  /** Commits whose parents a shallow clone left out; empty where history is whole. */
  cutOffCommits(): Promise<ReadonlySet<string>>;
  /** Whether others may have some commits: there is a remote, or something was pushed. */
  isPublished(): Promise<boolean>;
  /** Records commits before they are sent, pushed or exported as a file: the commits only, not where they go. */
  recordPublished(commits: readonly string[]): Promise<void>;
  /** The record of masked copies; null where nothing can be kept. */
  maskedCopies(): MaskedCopies | null;
  /** Makes git ignore the files of views, in all worktrees. */
  excludeViews(): Promise<void>;
  /** Makes stock git merge branches as jpg does (merge options in the configuration); keeps existing options. */
  configureBranches(names: readonly string[]): Promise<void>;
  /** Settings of the store's own git configuration that name programs, and that are ignored. */
  ignoredSettings(): readonly string[];
  /** Starts git's maintenance in the background if it is due and allowed; does not wait for it and never fails. */
  maintain(): Promise<void>;
  /** Health checks and repairs; null where the engine has none. */
  upkeep(): Promise<Upkeep | null>;
}

// The caches of a store: small files that save work. Each may be missing at any time and may hold anything, so a reader checks
// it, and does the work again when it does not fit.

/** Files of one kind. The name of a cache ends with the version of its content, if that has changed. */
export interface Cache {
  /** The content under a key (none for a cache that is one file); null when there is none or it cannot be read. */
  read(key?: string): Buffer | null;
  /** Stores content; no effect where nothing can be written. */
  write(content: string | Uint8Array, key?: string): Promise<void>;
  /** Removes the content under a key. */
  drop(key?: string): Promise<void>;
}

/** The cache of a store that is not on a disk. */
export const NO_CACHE: Cache = {
  read: () => null,
  write: () => Promise.resolve(),
  drop: () => Promise.resolve(),
};

/** A conversation and its masked copy. */
export interface MaskedCopy {
  /** Ids of the conversation and of its copy. */
  readonly original: string;
  readonly copy: string;
  /** Digest of what was to be masked. */
  readonly request: string;
  /** By branch of the original: its tip, the branch of the copy, and the copy's tip for it. */
  readonly branches: Readonly<Record<string, { readonly from: string; readonly name: string; readonly to: string }>>;
  /** By fingerprint of a secret. */
  readonly masks: Readonly<Record<string, string>>;
}

export interface MaskedCopies {
  /** Lists the copies, oldest first. */
  list(): Promise<readonly MaskedCopy[]>;
  /** Records a copy, replacing an earlier record of the same name. */
  record(copy: MaskedCopy): Promise<void>;
  /** Removes all records of conversations, as originals or as copies. */
  forget(conversations: ReadonlySet<string>): Promise<void>;
}

// What is checked and repaired in a store apart from its content: settings, hooks, locks, leftovers, worktrees, loose objects,
// the project around it. Checking changes nothing.

/** The programs that hooks call, absolute. */
export interface HookPrograms {
  readonly nodePath: string;
  readonly jpgPath: string;
}

/** What was repaired: the place had changed, the programs were gone, or a clone lacked jpg's settings. */
export interface Mended {
  readonly kind: "moved" | "programs" | "clone";
  /** The user's own hooks, which stay: names, or `core.hooksPath`. */
  readonly foreign: readonly string[];
  /** Linked worktrees that were joined to the moved store; >= 0. */
  readonly worktrees: number;
  /** Whether the adopted clone has only the newest history. */
  readonly isShallow?: boolean;
}

export interface StoreHealth {
  /** Folders that git writes to and that are not writable. */
  readonly unwritable: readonly string[];
  /** Keys of `.git/config` that differ from what jpg sets. */
  readonly settings: readonly string[];
  /** Hooks of the user's own, which jpg leaves alone: names, or `core.hooksPath`. */
  readonly foreign: readonly string[];
  /** Hooks and the textconv program that are missing or call another jpg. */
  readonly programs: readonly string[];
  /** Hooks and the textconv program that call a program that is gone. */
  readonly dead: readonly string[];
  /** Names of linked worktrees whose folder is gone. */
  readonly goneWorktrees: readonly string[];
  /** Locks of git and jpg that nobody holds, absolute. */
  readonly locks: readonly string[];
  /** Drafts, unfinished packs and objects whose writers are gone, absolute. */
  readonly leftovers: readonly string[];
  /** Number of loose objects. */
  readonly looseObjects: number;
  /** Whether HEAD names a commit. */
  readonly isActive: boolean;
}

/** Each method throws JpgError of kind `repository` when git fails. */
export interface Upkeep {
  /** Checks the store against what a jpg of these programs over a git of this version expects. */
  inspect(programs: HookPrograms, version: GitVersion): Promise<StoreHealth>;
  /** Removes the entries of worktrees whose folder is gone. */
  pruneWorktrees(): Promise<void>;
  /** Packs loose objects. */
  pack(): Promise<void>;
  /** Remotes to which the project around the store is mirrored: a push there deletes all that the project does not have. */
  mirrors(): Promise<readonly ProjectRemote[]>;
}

// Folders in which branches are checked out, for engines that have them.

export interface Worktree {
  readonly path: string;
  /** Branch checked out there; null when detached. */
  readonly branch: string | null;
  /** The commit of a detached HEAD; null on a branch. */
  readonly commit: string | null;
  /** Its own git dir (`<gitDir>` or `<gitDir>/worktrees/x`). */
  readonly gitDir: string;
}

export interface Worktrees {
  /** The default folder of worktrees, absolute. */
  folder(): Promise<string>;
  list(): Promise<readonly Worktree[]>;
  /** The worktree of this store that a folder is in; null when it is in none. */
  at(folder: string): Promise<Worktree | null>;
  /**
   * Adds a worktree of a branch, or of a commit (40 hex digits) with HEAD detached; sparse (cone, without turns/ and sources/)
   * unless `full`.
   */
  add(path: string, checkedOut: string, options: { readonly full: boolean }): Promise<Worktree>;
  /** Makes the repository around a worktree, if any, ignore it. Returns its exclude file; null when there is none around. */
  exclude(worktree: Worktree): Promise<string | null>;
  /** Removes a worktree with all its files. */
  remove(worktree: Worktree): Promise<void>;
  /** The git operation in progress in a worktree; null when there is none. */
  unfinished(worktree: Worktree): Promise<UnfinishedOperation | null>;
  /**
   * Advances a worktree's index and files from one commit to another; throws `worktree_in_the_way` and changes nothing when
   * local changes conflict. Does nothing when its branch is no longer at `to`.
   */
  advance(worktree: Worktree, from: string | null, to: string): Promise<void>;
  /** Settles the steps that killed writers did not finish; returns those that needed something done. */
  settle(): Promise<readonly SettledStep[]>;
}

/** An unfinished step of a worktree that is settled now. */
export interface SettledStep {
  /** `advance`: the files now match their branch. `use`: they match the branch that HEAD names again. */
  readonly kind: "advance" | "use";
  /** The branch that moved, or that HEAD was to switch to. */
  readonly branch: string;
  /** The branch that HEAD names; null when it is detached. */
  readonly active: string | null;
  /** The worktree's folder. */
  readonly path: string;
}

/** A git operation in progress in a worktree while HEAD is detached. */
export interface UnfinishedOperation {
  readonly name: "bisect" | "rebase";
  /** Branch that it began on; null when it began on a commit. */
  readonly branch: string | null;
  /** Arguments of git that end it. */
  readonly ends: readonly string[];
}

/** The id that means "no object". */
export const ZERO_ID: string = "0".repeat(40);
export const EMPTY_TREE: string = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** A project: the repository around the current directory when that is not a store. */
export interface ProjectLocation {
  /** Top of the current worktree; the git dir when the project is bare. */
  readonly root: string;
  /** The git dir that all its worktrees share. */
  readonly commonDir: string;
}

/** Where the store is, or would be made. */
export interface StoreLocation {
  /** The store's own worktree, absolute. */
  readonly root: string;
  readonly kind: "flag" | "env" | "here" | "project" | "user";
  readonly exists: boolean;
  readonly project?: ProjectLocation;
}
