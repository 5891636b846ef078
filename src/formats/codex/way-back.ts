// What a line of a rollout has to say so that the user can have gone back behind it: Codex goes back by requests, and forgets
// the compactions of the tasks that it goes back by.
import type { RawLine } from "../json-line.ts";
import type { RolloutKind } from "./line-kind.ts";
import type { RunningFacts } from "./running-facts.ts";

/** Absent = the line is none that this is known of. */
export interface WayBack {
  /** By how many requests the user went back, ≥ 0. */
  readonly requests?: number;
  /** The task in which a request or a compaction stands: how many began before it. */
  readonly task?: number;
  /** A compaction that lists what is sent from then on. */
  readonly hasList?: true;
}

/** Reads it of a line, given what is known behind it. */
export function readWayBack(kind: RolloutKind, payload: RawLine, { tasks: task }: RunningFacts): WayBack {
  if (kind === "rollback") return { requests: requestsOf(payload) };
  if (kind === "prompt") return { task };
  if (kind !== "compacted") return {};
  return { task, ...(Array.isArray(payload["replacement_history"]) && { hasList: true }) };
}

function requestsOf(payload: RawLine): number {
  const count = payload["num_turns"];
  return Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : 0;
}
