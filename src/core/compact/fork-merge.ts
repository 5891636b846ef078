// A merge turn, which summarises turns of a fork: which turns it covers, and which of a fork's turns are not covered yet. All of it is
// recorded in the turns themselves, so a merge is known even after a squash or a shallow clone.
import type { Summary } from "../conversation/compaction.ts";
import { describeTurns, type Event, type Fields, isFields } from "../conversation/event.ts";

/** Origin of the events of a merge turn. */
export const MERGE_ORIGIN = "merge";

/** Turns of a fork that a merge turn on another branch summarises. */
export interface MergedTurns {
  /** The fork's name at the time: for people, never looked up. */
  readonly branch: string;
  /** Position of the first, 0-based. */
  readonly from_turn: number;
  /** First event merged of `from_turn`; absent = the turn's first. */
  readonly from_event?: string;
  /** Object ids of their turn files, in order; never empty. Each names the one before, so that one proves all before it. */
  readonly turns: readonly string[];
  /** Last event merged, in the last of them: what is appended later is not merged. */
  readonly to_event: string;
}

/** The field `merge` in the metadata of a merge turn's `turn_start`. */
export interface MergeRecord {
  /** The merged fork, then the forks that its own turns merged. */
  readonly forks: readonly MergedTurns[];
  /** How the text was made. */
  readonly summary: Omit<Summary, "summary" | "inject">;
}

/** Reads the merge record of a turn's first event; null if the turn is no merge turn. */
export function readMergeRecord(first: Event | undefined): MergeRecord | null {
  const merge = first?.type === "turn_start" ? first.metadata?.["merge"] : undefined;
  if (!isFields(merge) || !Array.isArray(merge["forks"])) return null;
  const forks = merge["forks"].filter(isMergedTurns);
  if (forks.length === 0) return null;
  return { forks, summary: isFields(merge["summary"]) ? merge["summary"] : {} };
}

function isMergedTurns(value: unknown): value is MergedTurns {
  if (!isFields(value)) return false;
  const { branch, from_turn, from_event, turns, to_event }: Fields = value;
  return (
    typeof branch === "string" &&
    Number.isSafeInteger(from_turn) &&
    (from_turn as number) >= 0 &&
    (from_event === undefined || typeof from_event === "string") &&
    Array.isArray(turns) &&
    turns.length > 0 &&
    turns.every((oid) => typeof oid === "string") &&
    typeof to_event === "string"
  );
}

/** How far a branch has turns that were merged. */
export interface MergedEnd {
  /** Position of the last, 0-based. */
  readonly turn: number;
  /** The last merged event in it if the turn has grown since; absent = the whole turn. */
  readonly event?: string;
}

/**
 * Finds how far a branch has merged turns; null when it has none. `hasGrown` = whether the branch's turn at a position begins with exactly
 * the bytes of the last merged turn.
 */
export function findMergedEnd(
  merged: MergedTurns,
  turnOids: readonly string[],
  hasGrown: (merged: MergedTurns, turn: number) => boolean,
): MergedEnd | null {
  const last = merged.turns.length - 1;
  for (let at = last; at >= 0; at--) {
    const turn = merged.from_turn + at;
    if (turnOids[turn] === merged.turns[at]) return { turn };
    if (at === last && turnOids[turn] !== undefined && hasGrown(merged, turn)) return { turn, event: merged.to_event };
  }
  return null;
}

/** Whether a branch has all of them. */
export function holdsAll(merged: MergedTurns, held: MergedEnd | null): boolean {
  return held?.turn === merged.from_turn + merged.turns.length - 1;
}

/** The furthest of several; null of none. */
export function furthestMergedEnd(all: readonly (MergedEnd | null)[]): MergedEnd | null {
  return all.reduce((one, other) => {
    if (one === null || other === null) return one ?? other;
    if (one.turn !== other.turn) return one.turn > other.turn ? one : other;
    return one.event === undefined ? one : other;
  }, null);
}

/** Creates the events of a merge turn: a request that announces the merge, and the summary as its answer. */
export function mergeTurn(
  { forks: [first, ...others], summary }: MergeRecord,
  { text, timestamp, newId }: { readonly text: string; readonly timestamp: string; readonly newId: () => string },
): readonly Event[] {
  if (first === undefined) throw new Error("a merge has at least one fork");
  const merge = { forks: [first, ...others], summary };
  const metadata = { origin: MERGE_ORIGIN };
  return [
    { type: "turn_start", id: newId(), timestamp, metadata: { ...metadata, merge } },
    { type: "chat_request", id: newId(), timestamp, content: announce(first), metadata },
    { type: "chat_response", id: newId(), timestamp, message: text, metadata },
  ];
}

function announce(merged: MergedTurns): string {
  return `[Merged from the fork ${merged.branch}: a summary of what was said and done there, in ${nameMergedTurns(merged)} of it]`;
}

/** Names the turns, `turns 3..7`. */
export function nameMergedTurns({ from_turn, turns }: Pick<MergedTurns, "from_turn" | "turns">): string {
  return describeTurns(from_turn, from_turn + turns.length - 1);
}
