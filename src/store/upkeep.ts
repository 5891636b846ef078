// What is looked at and set right in a store beside its content: settings, hooks, locks, leftovers, worktrees, loose objects, the
// project around it. Looking changes nothing.
import type { GitVersion } from "./git-version.ts";
import type { ProjectRemote } from "./sharing.ts";

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
  look(programs: HookPrograms, version: GitVersion): Promise<StoreHealth>;
  /** Forgets worktrees whose folder is gone. */
  forgetGoneWorktrees(): Promise<void>;
  /** Packs loose objects. */
  pack(): Promise<void>;
  /** Remotes to which the project around the store is mirrored: a push there deletes whatever the project does not have. */
  mirrors(): Promise<readonly ProjectRemote[]>;
}
