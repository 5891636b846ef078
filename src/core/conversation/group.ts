// Groups of compactions: records that one commit added as one change, since a record has only one range and one set of policies.
// They are shown, diffed, reverted and reapplied together. A record without a group is a group of its own.
import { type Compaction, withoutIndex } from "./compaction.ts";
import { formatRuns } from "./event.ts";
import { describePolicies } from "./policy.ts";

/** Records of one group, in order of their ranges; never empty. */
export type CompactionGroup = readonly [Compaction, ...Compaction[]];

/** Runs of turns that are named before the rest is only counted. */
const MOST_RUNS = 5;
/** Kinds of change that are named before the rest is only counted. */
const MOST_KINDS = 5;

/** Whether two compactions belong together: the same record, or records of one group. */
export function isSameGroup(a: Pick<Compaction, "id" | "group">, b: Pick<Compaction, "id" | "group">): boolean {
  return a.id === b.id || (a.group !== undefined && a.group === b.group);
}

/** Returns the group of a compaction among those given, itself included. */
export function groupOf(compaction: Compaction, all: Iterable<Compaction>): CompactionGroup {
  const others = [...all].filter((other) => other.id !== compaction.id && isSameGroup(compaction, other));
  return sorted([compaction, ...others]);
}

/** Groups compactions, in the order of the first of each group. */
export function groupsOf(all: Iterable<Compaction>): readonly CompactionGroup[] {
  const groups = new Map<string, [Compaction, ...Compaction[]]>();
  for (const compaction of all) {
    const key = compaction.group === undefined ? `record ${compaction.id}` : `group ${compaction.group}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [compaction]);
    else group.push(compaction);
  }
  return [...groups.values()].map(sorted);
}

/** The turns from the first to the last that a group covers, 0-based, inclusive. */
export function groupRange(group: CompactionGroup): { readonly from: number; readonly to: number } {
  return group.reduce(
    ({ from, to }, { from_turn, to_turn }) => ({ from: Math.min(from, from_turn), to: Math.max(to, to_turn) }),
    { from: group[0].from_turn, to: group[0].to_turn },
  );
}

/** Says in a few words what a group does and to which turns, e.g. `reasoning + tools stripped (0..3, 7), turns omitted (5)`. */
export function describeGroup(group: CompactionGroup): string {
  const [first] = group;
  if (group.length === 1) return describePolicies(first);
  const kinds = new Map<string, { readonly from: number; readonly to: number }[]>();
  for (const compaction of group) {
    const what = describePolicies(compaction);
    const run = { from: compaction.from_turn, to: compaction.to_turn };
    kinds.set(what, [...(kinds.get(what) ?? []), run]);
  }
  const named = [...kinds].slice(0, MOST_KINDS).map(([what, runs]) => `${what} (${shownRuns(runs)})`);
  const rest = kinds.size - named.length;
  return [...named, ...(rest === 0 ? [] : [`${rest} more`])].join(", ");
}

/** Names the runs of turns, each once: ranges that differ only inside a turn look the same. */
function shownRuns(runs: readonly { readonly from: number; readonly to: number }[]): string {
  const named = [...new Set(runs.map((run) => formatRuns([run])))];
  const rest = named.length - MOST_RUNS;
  const shown = named.slice(0, MOST_RUNS).join(", ");
  return rest > 0 ? `${shown}, ${rest} more` : shown;
}

function sorted([first, ...others]: readonly [Compaction, ...Compaction[]]): CompactionGroup {
  const [least = first, ...rest] = [first, ...others].sort(
    (a, b) => a.from_turn - b.from_turn || a.to_turn - b.to_turn || (a.id < b.id ? -1 : 1),
  );
  return [least, ...rest];
}

/** Where a fork ends: its last turn, 0-based, and that turn's last event. */
interface ClampBound {
  readonly turn: number;
  readonly event: string;
}

/** Longest base of a derived id: with `-` and six digits it still fits a file name (at most 64 characters). */
const MAX_BASE = 57;

/** Names the copy of a compaction that is clamped to a turn, e.g. `k3f9q2-7`: the same in every clone. */
export function clampedId(id: string, turn: number): string {
  return `${id.slice(0, MAX_BASE)}-${turn}`;
}

/**
 * Copies a compaction that begins at or before the bound and ends after it. The copy keeps the time, so that it wins and loses
 * as before, and drops `stats`, `receipt` and `index`, which describe the original. `covers` is still the original's: the
 * caller computes it anew.
 */
export function clampCompaction(compaction: Compaction, { turn, event }: ClampBound): Compaction {
  const { stats: _stats, receipt: _receipt, ...rest } = withoutIndex(compaction);
  return { ...rest, id: clampedId(compaction.id, turn), to_turn: turn, to_event: event };
}
