// What an import is asked for.
import type { PieceLimits } from "./source-pieces.ts";

export interface ImportRequest {
  /** Format to read, when the first argument names one. */
  readonly format?: string;
  readonly paths: readonly string[];
  /** Also make forks of the branches that the agent left. */
  readonly allBranches: boolean;
  /** Leave the active conversation as it is, as long as there is one. */
  readonly keepActive?: boolean;
  /** Sizes at which sources are cut; absent = those in force. */
  readonly limits?: PieceLimits;
}
