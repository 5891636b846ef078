// Where a store is, and what it belongs to.

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
