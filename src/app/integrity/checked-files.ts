// What a check has read of a branch, and what it keeps for the other forks of the conversation, so that each file is read once.
import type { BranchFiles } from "../../core/conversation/branch-files.ts";
import type { CheckedRecords, StoredTurn } from "../../core/conversation/conversation-check.ts";

/** What is known of files that other forks of the conversation hold, too. By position and object id, and by object id. */
export interface CheckedFiles {
  readonly turns: Map<string, StoredTurn>;
  readonly attachments: Map<string, boolean>;
}

/** A branch, read: its files by what they are, its turns by position, its records. */
export interface ReadBranch {
  readonly files: BranchFiles;
  readonly turns: readonly (StoredTurn | undefined)[];
  readonly records: CheckedRecords;
}

/** Creates the memory for the forks of one conversation. */
export function createCheckedFiles(): CheckedFiles {
  return { turns: new Map(), attachments: new Map() };
}
