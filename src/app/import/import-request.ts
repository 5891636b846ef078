// What an import is asked for.
import type { KeptChoice } from "../sessions/kept-files.ts";
import type { PieceLimits } from "../sessions/source-pieces.ts";

export interface ImportRequest {
  /** Format to read, when the first argument names one. */
  readonly format?: string;
  readonly paths: readonly string[];
  /** Without paths: which of the sessions that agents keep; absent = all. */
  readonly kept?: KeptChoice;
  /** Also make forks of the branches that the agent left. */
  readonly allBranches: boolean;
  /** Read sessions that the store holds once more, as jpg reads them now; where that gives other events, make a fork. */
  readonly again?: boolean;
  /** Leave the active conversation as it is, as long as there is one. */
  readonly keepActive?: boolean;
  /** Sizes at which sources are cut; absent = those in force. */
  readonly limits?: PieceLimits;
  /** Smallest file of which is noted where it may be read from once it has grown, bytes; absent = the size in force. */
  readonly markedFrom?: number;
}
