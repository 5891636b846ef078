// The store of conversations: branches of commits in a git repository, seen as values. Two engines implement it (native
// git, isomorphic-git); both pass test/contract/conversation-store.ts. Nothing here knows what the files mean.
import type { JpgError } from "../core/errors.ts";
import type { GitVersion } from "./environment.ts";
import type { FirstParentOnly, ProjectRemote, Remotes, Sharing } from "./sharing.ts";

/** What reads and writes a store: the git program, or jpg without it. */
export type Engine = "native" | "embedded";

/** A branch and the commit it stands at; `name` without `refs/heads/`. */
export interface BranchTip {
  readonly name: string;
  readonly commit: string;
}

/** A file of a commit's tree. */
export interface TreeFile {
  /** Path from the root of the tree, `/` between names. */
  readonly path: string;
  /** Object id of the blob, 40 hex digits. */
  readonly oid: string;
  /** Bytes; present when sizes were asked for. */
  readonly size?: number;
  /** What it is where it is no plain file. */
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
  /** Sign when the user's git says so (`commit.gpgSign`); default false. */
  readonly sign?: boolean;
  /** Further parents; one that has them is never signed, nor are those after it. Default none. */
  readonly merges?: readonly string[];
}

/** Commits for one branch, moved by compare-and-swap. */
export interface BranchWrite {
  readonly branch: string;
  /** Where the branch must stand for the move to happen; null = it must not exist. */
  readonly expected: string | null;
  /** The commit the first new commit builds on; null = a root commit. Differs from `expected` when a tip is replaced. */
  readonly parent: string | null;
  readonly commits: Iterable<CommitSpec> | AsyncIterable<CommitSpec>;
}

export interface WriteResult {
  readonly branch: string;
  /** The new tip, also when it was not moved. */
  readonly commit: string;
  /** Ids of all commits written, oldest first. */
  readonly commits: readonly string[];
  /** False when the branch did not stand at `expected` any more: read again and retry. */
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
  /** With `paths`: which merges only their first parent's history counts of. */
  readonly firstParentOnly?: FirstParentOnly;
}

/** Which files of commits to look for. */
export interface TextQuery {
  /** Any of them; each is not empty and holds no line end. None = nothing is found. */
  readonly texts: readonly string[];
  /** Folders to look under, never empty. */
  readonly under: readonly string[];
  /** Whether upper and lower case are alike, of ASCII letters; default false. */
  readonly ignoreCase?: boolean;
}

/** A file that a commit changed where it stood. */
export interface RewrittenFile {
  readonly commit: string;
  readonly path: string;
  /** Object ids before and after. */
  readonly from: string;
  readonly to: string;
}

/** What the engine found in the repository. */
export interface StoreVerdict {
  /** Objects that are missing or damaged and refs that name no commit, in git's words. */
  readonly problems: readonly string[];
  /** Files that commits on a branch changed in place; merges are not looked at. Newest commit first. */
  readonly rewritten: readonly RewrittenFile[];
}

/** A store that has only some of its objects: the others are brought when they are read, what is read together at once. */
export interface PartialClone {
  /** Which of these objects are not here, each once. */
  missing(oids: readonly string[]): readonly string[];
  /** Gets those that are not here, in one request. Throws `objects_elsewhere`, whose data names them as `oids`. */
  fetch(oids: readonly string[]): Promise<void>;
  close(): void;
}

/** The conversation branches of one repository. Every method throws JpgError of kind `repository` when git fails. */
export interface ConversationStore extends StoreSurroundings {
  readonly engine: Engine;
  /** The store's own worktree, absolute. */
  readonly root: string;
  /** The store's git dir, absolute. */
  readonly gitDir: string;
  /** Worktrees, where the engine has them. */
  readonly worktrees: Worktrees | null;
  /** Removed branches, where the engine keeps them. */
  readonly trash: Trash | null;
  /** Branches of remotes, where the engine knows them. */
  readonly remotes: Remotes | null;
  /** Sending and getting conversations, where the engine can. */
  readonly sharing: Sharing | null;
  /** Whole histories, where the engine reads and writes them. */
  readonly histories: Histories | null;
  /** Where only some objects are here, and the engine can get the others; null where all are. */
  readonly partial: PartialClone | null;

  /** All branches, ordered by name. A ref that holds no commit id throws `store_damaged`, or is told to `passOver`. */
  listBranches(passOver?: (error: JpgError) => void): Promise<readonly BranchTip[]>;
  /** The branches whose history holds a commit, ordered by name. `commit` must exist. */
  listBranchesWith(commit: string): Promise<readonly BranchTip[]>;
  /** The commit of a branch, or null when there is none. */
  readBranch(name: string): Promise<string | null>;
  /** The branch HEAD names (the active conversation), also when it has no commit yet; null when detached. */
  readActiveBranch(): Promise<string | null>;
  /** Checks a branch out in a worktree, in the store's own (which makes it active) when none is given. */
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
  /** When commits were made (committer), seconds since 1970, in the order asked. Throws `object_missing`. */
  readCommitTimes(commits: readonly string[]): Promise<readonly number[]>;
  /** Newest first. */
  readLog(query: LogQuery): Promise<readonly LogEntry[]>;
  /** Paths of each commit's files whose bytes hold one of the texts, in path order; commits without any are left out. */
  findText(commits: readonly string[], query: TextQuery): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Writes objects, then moves each branch by compare-and-swap. One pass for all writes. */
  write(writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>): Promise<readonly WriteResult[]>;
  /** What is wrong below the branches, whatever the files mean. Reads every object once. */
  verify(): Promise<StoreVerdict>;
  /** Creates a branch at a commit without writing an object. False when it exists. */
  createBranch(name: string, commit: string): Promise<boolean>;
  /** How many objects have been read since the store was opened (for tests of what a view costs). */
  readonly objectsRead: number;
  close(): Promise<void>;
}

/** A file that a commit has otherwise than its first parent; `oid` null = it has none. */
export interface HistoryChange {
  readonly path: string;
  readonly oid: string | null;
  /** What it is where it is no plain file. */
  readonly special?: TreeFile["special"];
}

/** A commit of a history. */
export interface HistoryCommit extends Omit<LogEntry, "added" | "removed"> {
  /** Against the first parent; all files where there is none. */
  readonly changes: readonly HistoryChange[];
}

/** A commit of a history that is written anew. */
export interface NewHistoryCommit extends Omit<CommitSpec, "merges" | "sign"> {
  /** Positions of its parents among the commits that are written, 0-based; none = a root commit. */
  readonly parents: readonly number[];
}

/** Each throws JpgError of kind `repository` when git fails. */
export interface Histories {
  /** All commits that the tips reach, parents first. */
  read(tips: readonly string[]): Promise<readonly HistoryCommit[]>;
  /** Writes commits that no branch holds yet, parents first; gives their ids. */
  write(commits: AsyncIterable<NewHistoryCommit>): Promise<readonly string[]>;
  /** Creates branches, all or none. */
  create(branches: readonly BranchTip[]): Promise<void>;
}

/** A branch that was removed and can be brought back. */
export interface TrashedBranch {
  readonly branch: string;
  /** Where it stood. */
  readonly commit: string;
  /** RFC 3339 UTC, milliseconds; branches that were removed together share it. */
  readonly removedAt: string;
}

/** Each throws JpgError of kind `repository` and changes nothing when a ref stands elsewhere by now. */
export interface Trash {
  /** Oldest removal first. */
  list(): Promise<readonly TrashedBranch[]>;
  /** Removes branches, all or none; the store is left without an active one when it stands on one of them. */
  put(branches: readonly BranchTip[], removedAt: string): Promise<void>;
  /** Brings branches back, all or none. */
  restore(branches: readonly TrashedBranch[]): Promise<void>;
  /** Removes branches for good, with the objects that nothing else reaches; gives how many objects. */
  purge(branches: readonly TrashedBranch[]): Promise<number>;
}

// What belongs to a store beside its branches: what jpg keeps in the git dir for itself, and what git has written down there.
// Whoever wants one of these asks the store; no path below the git dir is built elsewhere.

/** A person as git names one. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** The author of new commits. */
export interface CommitAuthor extends Identity {
  readonly committer: Identity;
  /** False where the user's git signs no commits. */
  readonly maySign: boolean;
}

/** The identity of a store whose user has none. */
export const FALLBACK_IDENTITY: Identity = { name: "jpg", email: "jpg@localhost" };

/** A worktree, by its git dir. */
interface OfWorktree {
  readonly gitDir: string;
}

export interface StoreSurroundings {
  /** A cache of the store, or of one of its worktrees. */
  cache(name: string, worktree?: OfWorktree): Cache;
  /** Forgets all caches of the store. */
  dropCaches(): Promise<void>;
  /** The folder of the journals of open turns, absolute; it need not be there. */
  journal(): string;
  /** Keeps a text for the user, in place of the last one of that name. Gives its file; null when nothing can be written. */
  keepText(name: string, text: string): Promise<string | null>;
  /** The editor that the user's own git settings name (`core.editor`), a command line; what the store's name does not count. Null = none. */
  editor(): Promise<string | null>;
  /** Who new commits are by. */
  identity(): Promise<CommitAuthor>;
  /** The branch that was checked out before the one that is, in a worktree or else the store's own; null when none was. */
  previousBranch(worktree?: OfWorktree): Promise<string | null>;
  /** Commits that a branch stood at before, newest first, each once. */
  formerTips(branch: string): Promise<readonly string[]>;
  /** Commits whose parents a shallow clone left out; empty where history is whole. */
  cutOffCommits(): Promise<ReadonlySet<string>>;
  /** Whether commits may be somewhere else: there is a remote, or something was pushed. */
  isPublished(): Promise<boolean>;
  /** Records commits before they leave the store, pushed or handed over as a file: the commits only, nothing of where they go. */
  recordPublished(commits: readonly string[]): Promise<void>;
  /** What is known of masked copies; null where nothing can be kept. */
  maskedCopies(): MaskedCopies | null;
  /** Sees to it that git passes over the files of views, in all worktrees. */
  excludeViews(): Promise<void>;
  /** Has stock git merge branches as jpg does (merge options in the configuration); those that have that stay as they are. */
  configureBranches(names: readonly string[]): Promise<void>;
  /** Settings of the store's own git configuration that name programs, and that are not followed. */
  ignoredSettings(): readonly string[];
  /** Has the store tidied in the background, where that is worth it and git may; does not wait for it and never fails. */
  maintain(): Promise<void>;
  /** What looks after the store; null where the engine does not. */
  upkeep(): Promise<Upkeep | null>;
}

// The caches of a store: small files that save work. Each may be gone at any time and may hold anything, so whoever reads one
// checks it, and does the work again where it does not hold.

/** Files of one kind. The name of a cache ends with the version of what stands in it, where that has changed. */
export interface Cache {
  /** What is kept under a key, of a cache that is one file under none; null when nothing is, or it cannot be read. */
  read(key?: string): Buffer | null;
  /** Keeps something; without effect where nothing can be written. */
  write(content: string | Uint8Array, key?: string): Promise<void>;
  /** Forgets what is kept under a key. */
  drop(key?: string): Promise<void>;
}

/** The cache of a store that is nowhere on a disk. */
export const NO_CACHE: Cache = {
  read: () => null,
  write: () => Promise.resolve(),
  drop: () => Promise.resolve(),
};

/** A conversation and what was made of it. */
export interface MaskedCopy {
  /** Ids of the conversation and of its copy. */
  readonly original: string;
  readonly copy: string;
  /** Digest of what was to be masked. */
  readonly request: string;
  /** By branch of the original: its tip, the branch of the copy, and the tip that was made of it. */
  readonly branches: Readonly<Record<string, { readonly from: string; readonly name: string; readonly to: string }>>;
  /** By fingerprint of a secret. */
  readonly masks: Readonly<Record<string, string>>;
}

/** What a store knows of its masked copies. */
export interface MaskedCopies {
  /** Lists the copies, oldest first. */
  list(): Promise<readonly MaskedCopy[]>;
  /** Keeps a copy in mind, in place of what was known of one of that name. */
  record(copy: MaskedCopy): Promise<void>;
  /** Forgets all that is known of conversations, as originals or as copies. */
  forget(conversations: ReadonlySet<string>): Promise<void>;
}

// What is looked at and set right in a store beside its content: settings, hooks, locks, leftovers, worktrees, loose objects, the
// project around it. Looking changes nothing.

/** The programs that hooks call, absolute. */
export interface HookPrograms {
  readonly nodePath: string;
  readonly jpgPath: string;
}

/** What was mended: the place had changed, the programs were gone, or a clone had nothing of jpg's yet. */
export interface Mended {
  readonly kind: "moved" | "programs" | "clone";
  /** The user's own hooks, which stay: names, or `core.hooksPath`. */
  readonly foreign: readonly string[];
  /** Linked worktrees that had lost the store, or the store them, and have found each other; >= 0. */
  readonly worktrees: number;
  /** Whether the clone that was taken over has only the newest history. */
  readonly isShallow?: boolean;
}

/** What was seen. */
export interface StoreHealth {
  /** Folders that git writes to and that cannot be written. */
  readonly unwritable: readonly string[];
  /** Keys of `.git/config` that are not as jpg sets them. */
  readonly settings: readonly string[];
  /** Hooks of the user's own, which jpg leaves alone: names, or `core.hooksPath`. */
  readonly foreign: readonly string[];
  /** Hooks and the textconv program that are missing or call another jpg than this. */
  readonly programs: readonly string[];
  /** Hooks and the textconv program that call a program that is gone. */
  readonly dead: readonly string[];
  /** Names of linked worktrees whose folder is gone. */
  readonly goneWorktrees: readonly string[];
  /** Locks of git and jpg that nobody holds, absolute. */
  readonly locks: readonly string[];
  /** Drafts, unfinished packs and objects whose writers are gone, absolute. */
  readonly leftovers: readonly string[];
  /** Objects in files of their own. */
  readonly looseObjects: number;
  /** Whether HEAD stands at a commit. */
  readonly isActive: boolean;
}

/** Each throws JpgError of kind `repository` when git fails. */
export interface Upkeep {
  /** Looks at the store, as a jpg of these programs over a git of this version wants it. */
  inspect(programs: HookPrograms, version: GitVersion): Promise<StoreHealth>;
  /** Forgets worktrees whose folder is gone. */
  pruneWorktrees(): Promise<void>;
  /** Packs loose objects. */
  pack(): Promise<void>;
  /** Remotes to which the project around the store is mirrored: a push there deletes whatever the project does not have. */
  mirrors(): Promise<readonly ProjectRemote[]>;
}

// Folders in which branches are checked out, as an engine that has them shows them.

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
  /** The folder in which worktrees are made when nobody names a place, absolute. */
  folder(): Promise<string>;
  list(): Promise<readonly Worktree[]>;
  /** The worktree of this store that a folder is in; null when it is in none. */
  at(folder: string): Promise<Worktree | null>;
  /** Adds a worktree of a branch, or of a commit (40 hex digits) with HEAD detached; sparse (cone, without turns/ and sources/) unless `full`. */
  add(path: string, checkedOut: string, options: { readonly full: boolean }): Promise<Worktree>;
  /** Has the repository around a worktree, if there is one, pass over it. Gives the file that says so; null where none is around. */
  exclude(worktree: Worktree): Promise<string | null>;
  /** Takes a worktree away with all its files. */
  remove(worktree: Worktree): Promise<void>;
  /** What git has begun and not ended in a worktree; null when nothing. */
  unfinished(worktree: Worktree): Promise<UnfinishedOperation | null>;
  /** Brings a worktree's index and files from one commit to another; throws `worktree_in_the_way` and changes nothing when local changes stand in the way. Where its branch stands elsewhere than at `to` by now, nothing is done. */
  advance(worktree: Worktree, from: string | null, to: string): Promise<void>;
  /** Settles the steps that killed writers left half done; gives those that there was something to do for. */
  settle(): Promise<readonly SettledStep[]>;
}

/** A worktree's step that a writer did not finish, and that is settled now. */
export interface SettledStep {
  /** `advance`: the files have followed their branch. `use`: they are again those of the branch that HEAD names. */
  readonly kind: "advance" | "use";
  /** The branch that moved, or that HEAD was to go over to. */
  readonly branch: string;
  /** The branch that HEAD names; null when it is detached. */
  readonly active: string | null;
  /** The worktree's folder. */
  readonly path: string;
}

/** What git has begun in a worktree and not ended while HEAD is detached. */
export interface UnfinishedOperation {
  readonly name: "bisect" | "rebase";
  /** Branch that it began on; null when it began on a commit. */
  readonly branch: string | null;
  /** Arguments of git that end it. */
  readonly ends: readonly string[];
}

/** The id that means "no object". */
export const ZERO_ID: string = "0".repeat(40);
/** The id of the empty tree. */
export const EMPTY_TREE: string = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** A project: the repository one stands in when that is not a store. */
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
