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
  hide(worktree: Worktree): Promise<string | null>;
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
