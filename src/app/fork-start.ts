// What a fork after some turn begins with: the commit of that turn, and the compactions of the tip that stay with it.
import { planFork } from "../core/plan-fork.ts";
import type { ConversationStore, FileChange } from "../store/conversation-store.ts";
import { type BranchTree, loadBranchTree } from "./branch-tree.ts";
import { compactionIdOfPath } from "./compaction-path.ts";
import { turnCommitOf } from "./import-target.ts";
import { loadCompactions } from "./load-view.ts";

export interface ForkStart {
  readonly commit: string;
  /** Turns that the commit holds. */
  readonly turnCount: number;
  /** What makes `compactions/` at that commit those that stay. */
  readonly changes: readonly FileChange[];
}

/** The start of a fork that holds the first turns of a branch; the tip itself when it holds all of them. */
export async function startOfFork(store: ConversationStore, tip: BranchTree, turnCount: number): Promise<ForkStart> {
  const whole = { commit: tip.commit, turnCount: tip.turnOids.length, changes: [] };
  if (turnCount < 1 || turnCount >= tip.turnOids.length) return whole;
  const commit = await turnCommitOf(store, tip.commit, turnCount - 1);
  if (commit === null) return whole;
  const { applied } = await loadCompactions(store, tip);
  const facts = { turnCount: tip.turnOids.length, turnTimes: [], compactions: applied, turns: new Map(), now: "" };
  const { compactions } = planFork({ first: turnCount }, facts);
  const there = await loadBranchTree(store, tip.branch, commit);
  return { commit, turnCount, changes: alignCompactions(there, tip, new Set(compactions)) };
}

/** The changes that make `compactions/` exactly those of the tip that stay. */
export function alignCompactions(there: BranchTree, tip: BranchTree, stay: ReadonlySet<string>): FileChange[] {
  const has = new Set(there.compactions.map((file) => file.path));
  const wanted = tip.compactions.filter((file) => stay.has(compactionIdOfPath(file.path) ?? ""));
  const keep = new Set(wanted.map((file) => file.path));
  return [
    ...there.compactions
      .filter((file) => !keep.has(file.path))
      .map((file): FileChange => ({ path: file.path, remove: true })),
    ...wanted.filter((file) => !has.has(file.path)).map((file): FileChange => ({ path: file.path, oid: file.oid })),
  ];
}
