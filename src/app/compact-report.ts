// What `compact` tells: which turns keep their form and which are read differently from now on. The JSON document of
// `jpg compact --json` (DESIGN §5) plus the timeline drawn for people. Turn positions are raw, 0-based, inclusive.
import type { Compaction } from "../core/compaction.ts";

/** Tokens of a stretch of the view, estimated, before and after the compaction. */
export interface TokenChange {
  readonly before: number;
  readonly after: number;
}

/** A stretch of turns that fares alike; segments are ordered, do not overlap and cover the conversation. */
export interface CompactSegment {
  readonly from: number;
  readonly to: number;
  /** `summary`: stands as a summary, whether this compaction's or an older one's. */
  readonly kind: "kept" | "compacted" | "summary";
  /** What happens here, in words, e.g. `reasoning + tools stripped`; absent for kept turns. */
  readonly policies?: string;
  readonly tokens: TokenChange;
}

/** The outcome of `compact` and of its dry run. */
export interface CompactReport {
  readonly conversation: string;
  /** Branch it was appended to, or would be. */
  readonly branch: string;
  readonly dryRun: boolean;
  /** Null when there was nothing to compact; then `reason` says why. */
  readonly compaction: Compaction | null;
  /** Commit that carries it; null in a dry run and when there was nothing to compact. */
  readonly commit: string | null;
  readonly reason?: string;
  /** Null when the range is empty. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** All policies in words, as in the commit's subject, e.g. `reasoning + tools stripped`. */
  readonly policies: string;
  /** Tokens of the whole view. */
  readonly tokens: TokenChange;
  readonly segments: readonly CompactSegment[];
  /** What the user should know, one sentence each, e.g. `hidden by summary k3f9q2 until k3f9q2 is reverted`. */
  readonly warnings: readonly string[];
}
