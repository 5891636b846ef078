// The rows of `jpg log`, as `--json` prints them: keys may be added, none goes or is renamed.
import type { TokenSource } from "../../core/model/token-meter.ts";

/** One commit of the compaction history, newest first in a log. */
export interface LogRow {
  readonly kind: "compaction" | "revert" | "reapply";
  /** Id of the compaction that the commit adds, takes back or brings back. */
  readonly compaction: string;
  readonly commit: string;
  /** What several compactions share that the commit adds, takes back or brings back as one; absent = it is only this one. */
  readonly group?: string;
  /** Ids of all of them, in order of their ranges; absent as `group`. */
  readonly compactions?: readonly string[];
  /** Turn positions, 0-based, inclusive; null when the record cannot be read. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** What the commit did, worded from the record. */
  readonly subject: string;
  /** The commit's own subject, where it tells something else than the record. */
  readonly message?: string;
  readonly source: string | null;
  /** Whether the compaction is in force at the tip. */
  readonly live: boolean;
  /** Tokens of the whole view before and after; null when nobody recorded them. */
  readonly tokens: { readonly before: number; readonly after: number } | null;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Commit time, RFC 3339 UTC. */
  readonly timestamp: string;
  readonly policies?: string;
  readonly profile?: string;
  readonly author?: string;
  /** Text of its summary, for the verbose form. */
  readonly summary?: string;
  /** Present when the commit only brought it along, with turns: history is squashed or cut off there. */
  readonly squashed?: true;
  /** Beside `squashed`: a shallow clone cut history off at this commit. */
  readonly cut_off?: true;
  /** Why a live compaction has no effect, e.g. `stale: turn 7 differs`. */
  readonly not_applied?: string;
}

export type LogReport = readonly LogRow[];
