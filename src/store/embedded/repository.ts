// A repository as the embedded engine sees it: a git dir in a file system, which may be in memory, and what its parts share.
import type { Environment } from "../environment.ts";
import type { ObjectFiles } from "../native/objects/object-files.ts";
import type { RefPlace } from "../refs/ref-place.ts";

/** Where the engine works. */
export interface EmbeddedRepository extends RefPlace {
  readonly isBare: boolean;
  /** The caller's. */
  readonly env: Environment;
  /** Reads objects before isomorphic-git is asked: on a disk as the native engine does. */
  readonly files: Omit<ObjectFiles, "size">;
  /** What isomorphic-git keeps of packs that only it can read. */
  readonly cache: object;
  /** Whether the user's git signs commits. */
  readonly signs: () => Promise<boolean>;
}
