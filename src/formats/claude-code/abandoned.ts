// Branches of a session that its active path left: the user went back and asked something else. Parallel calls, sub-agents
// and failed requests branch the graph as well and are none of these.

import { deriveName } from "../derived-name.ts";
import type { AbandonedBranch } from "../imported-session.ts";
import { followTest, pathTo, type SessionPath } from "./active-path.ts";
import { isSent } from "./line-kind.ts";
import { findLinesBeside } from "./lines-beside.ts";
import type { SessionGraph } from "./session-graph.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";
import { cutTurns, requestLines, type TurnCut } from "./turn-cuts.ts";
import { arrangeTurns } from "./turn-lines.ts";
import { readPlannedTurn, type TurnPlan } from "./turn-reader.ts";

export interface ActiveBranch {
  readonly path: SessionPath;
  readonly cuts: readonly TurnCut[];
  readonly plan: TurnPlan;
}

/** Finds the branches that were left, in the file order of their ends. */
export function findAbandoned(
  index: SessionIndex,
  graph: SessionGraph,
  active: ActiveBranch,
): readonly AbandonedBranch[] {
  const { leaf: end, chain: kept, beside: keptBeside } = active.path;
  const claimed = new Set([...kept, ...keptBeside.keys(), ...unreachedAnswers(index, graph, end)]);
  const branches: AbandonedBranch[] = [];
  for (const leaf of findLeaves(index, graph, claimed).toReversed()) {
    if (claimed.has(leaf)) continue;
    const chain = pathTo(leaf, graph);
    const own = chain.filter((entry) => !claimed.has(entry));
    const beside = findLinesBeside(index, graph, chain);
    for (const entry of [...own, ...beside.keys()]) claimed.add(entry);
    const first = own.find((entry) => isSent(entry.kind));
    if (first === undefined || !own.some(isSubstance)) continue;
    branches.unshift(createBranch(active, { chain, beside }, branchName(first)));
  }
  return branches;
}

/** Answers that the agent wrote before the end of the path, which they follow: it will come to them. */
function unreachedAnswers(index: SessionIndex, graph: SessionGraph, end: LineEntry | undefined): readonly LineEntry[] {
  if (end === undefined) return [];
  const follows = followTest(index, graph, end);
  return index.entries.filter((entry) => entry.kind === "assistant" && entry.line < end.line && follows(entry));
}

function isSubstance(entry: LineEntry): boolean {
  return entry.kind === "prompt" || entry.kind === "assistant";
}

function branchName(first: LineEntry): string {
  return `left-${deriveName(first.uuid ?? String(first.line)).slice(0, 8)}`;
}

/** Messages off the path that no other message off the path follows, in file order. */
function findLeaves(index: SessionIndex, graph: SessionGraph, onPath: ReadonlySet<LineEntry>): readonly LineEntry[] {
  const followed = new Set<LineEntry>();
  const candidates: LineEntry[] = [];
  for (const entry of index.entries) {
    if (onPath.has(entry) || entry.isSidechain || !isSent(entry.kind) || entry.kind === "attachment") continue;
    candidates.push(entry);
    for (
      let at = graph.parentOf(entry);
      at !== undefined && !onPath.has(at) && !followed.has(at);
      at = graph.parentOf(at)
    ) {
      followed.add(at);
    }
  }
  return candidates.filter((entry) => !followed.has(entry));
}

function createBranch(active: ActiveBranch, path: SessionPath, name: string): AbandonedBranch {
  const cuts = cutTurns(path.chain);
  const plan: TurnPlan = {
    ...active.plan,
    openers: cuts.map((cut) => cut.opener),
    lines: arrangeTurns(cuts, path.beside, []),
    requests: requestLines(path.chain),
    notes: new Set(),
  };
  const common = countCommonTurns(active.cuts, cuts);
  return {
    name,
    commonTurns: common,
    turnCount: cuts.length,
    readTurn: (turn) => readPlannedTurn(turn < common ? active.plan : plan, turn),
  };
}

/** How many turns the two begin with that sent the same lines. */
function countCommonTurns(a: readonly TurnCut[], b: readonly TurnCut[]): number {
  const differs = b.findIndex((cut, turn) => !hasSameLines(sentLines(cut), sentLines(a[turn])));
  return differs < 0 ? b.length : differs;
}

function sentLines(cut: TurnCut | undefined): readonly LineEntry[] {
  return cut?.chain.filter((entry) => isSent(entry.kind)) ?? [];
}

function hasSameLines(a: readonly LineEntry[], b: readonly LineEntry[]): boolean {
  return a.length === b.length && a.every((entry, position) => entry === b[position]);
}
