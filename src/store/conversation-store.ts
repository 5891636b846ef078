// The store of conversations: branches of commits in a git repository, seen as values. Two engines implement it (native
// git, isomorphic-git); both pass test/contract/conversation-store.ts. Nothing here knows what the files mean.
import type { JpgError } from "../core/errors.ts";
import type { IsAside, Remotes, Sharing } from "./sharing.ts";
import type { StoreSurroundings } from "./store-surroundings.ts";
import type { Worktree, Worktrees } from "./worktrees.ts";

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
  readonly isAside?: IsAside;
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
  bring(oids: readonly string[]): Promise<void>;
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
