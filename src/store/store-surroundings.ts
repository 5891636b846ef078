// What belongs to a store beside its branches: what jpg keeps in the git dir for itself, and what git has written down there.
// Whoever wants one of these asks the store; no path below the git dir is built elsewhere.
import type { Cache } from "./cache.ts";
import type { MaskedCopies } from "./masked-copies.ts";
import type { Upkeep } from "./upkeep.ts";

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
