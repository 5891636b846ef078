// A repository of isomorphic-git: what the parts of the embedded store share.
import type git from "isomorphic-git";

/** A file system, its place in it, and the queue that ref moves of all its stores go through. */
export interface EmbeddedRepository {
  readonly fs: Parameters<typeof git.init>[0]["fs"];
  readonly dir: string;
  readonly gitdir: string;
  /** isomorphic-git's own cache of parsed packs and indexes. */
  readonly cache: object;
  lock: Promise<unknown>;
}
