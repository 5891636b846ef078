// What `jpg search` is asked, and what it tells, as `--json` prints it.

import type { Event } from "../../core/conversation/event.ts";
import type { JpgError } from "../../core/errors.ts";
import type { MatchedLine, PatternOptions } from "../../core/look/search-words.ts";
import type { SearchScope } from "./search-texts.ts";

export interface SearchRequest extends PatternOptions {
  readonly pattern: string;
  /** Rank events by the words of the pattern, best first, hidden ones before shown ones (default false: as they stand). */
  readonly rank?: boolean;
  /** Look only at what these said; absent = at all. */
  readonly scopes?: readonly SearchScope[];
  /** Conversation to look in, with its forks, or one branch by its full name; absent = all conversations. */
  readonly id?: string;
  /** Tell of a turn on every branch that has it, not once a conversation. */
  readonly all?: boolean;
  /** Most hits, > 0; absent = all. */
  readonly limit?: number;
  /** Longest that an expression may take over one turn, milliseconds; default 5000. */
  readonly longestMs?: number;
}

/** An event whose text was found. */
export interface SearchHit extends MatchedLine {
  readonly conversation: string;
  readonly branch: string;
  /** Turn position, 0-based. */
  readonly turn: number;
  /** Id of the event; of a summary its compaction's, and `turn` is the last one that it stands for. */
  readonly event: string;
  readonly type: Event["type"] | "summary";
  /** `hidden` from the view, `changed` there, or `shown` as it is. */
  readonly state: "shown" | "changed" | "hidden";
  /** Compaction that hides or changes it; absent of a summary. */
  readonly compaction?: string;
  /** Ranked: events of its branch that are not listed, for their lines with these words stand in this one too; absent = none. */
  readonly alike?: number;
}

export interface SearchReport {
  /** By conversation, then branch, then turn: the active branch first, then `main`. Ranked: the best first. */
  readonly hits: readonly SearchHit[];
  /** Whether there are more than the limit let through. */
  readonly cut: boolean;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}
