// What `jpg trace` tells, as `--json` prints it: the places of a phrase in order of time, and what they come to.
import type { MatchedLine } from "../../core/look/search-words.ts";

/** A place where the phrase stands. */
export interface TracePlace extends MatchedLine {
  /** `event` = somebody said it; `summary` = a compaction's text says it; `view` = only what jpg wrote into the view does. */
  readonly kind: "event" | "summary" | "view";
  /** `user`, `assistant`, `reasoning`, `harness`, `system`, `tool call NAME`, `tool result NAME`; of a summary who wrote it. */
  readonly who: string;
  /** Turn position, 0-based; of a summary the first that it stands for. */
  readonly turn: number;
  /** Last turn that a summary stands for, inclusive. */
  readonly to_turn?: number;
  readonly event?: string;
  readonly compaction?: string;
  /** RFC 3339, UTC, as it was recorded: clocks may be wrong, the order of places goes by the conversation's. */
  readonly time: string;
  /** `exact` = as it was typed; `normalised` = spelling aside. */
  readonly match: "exact" | "normalised";
  /** How often it stands there. */
  readonly times: number;
  /** Whether the model is sent it now, from here. */
  readonly in_view: boolean;
}

/** `said` before any summary · `repeated` after a summary had said it · by a `summary` only · by the `view` only · `nowhere`. */
export type TraceVerdict = "said" | "repeated" | "summary" | "view" | "nowhere";

export interface TraceReport {
  readonly conversation: string;
  readonly branch: string;
  /** What named the commit that was read, e.g. `main~2`, where it is not the branch as it stands. */
  readonly revision?: string;
  readonly verdict: TraceVerdict;
  /** Summaries that were looked into, those that were reverted too. */
  readonly summaries: number;
  /** Oldest first. */
  readonly places: readonly TracePlace[];
}

/** Tells from places in order of time who was first. */
export function judgePlaces(places: readonly TracePlace[]): TraceVerdict {
  const [first] = places.filter(({ kind }) => kind !== "view");
  if (first === undefined) return places.length > 0 ? "view" : "nowhere";
  if (first.kind === "event") return "said";
  return places.some(({ kind }) => kind === "event") ? "repeated" : "summary";
}
