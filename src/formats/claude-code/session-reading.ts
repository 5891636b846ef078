// What a session's lines come to: the path that the agent would resume, cut into turns, and what each turn is read from.

import type { ParsedLines } from "../parsed-lines.ts";
import { findActivePath, type SessionPath } from "./active-path.ts";
import { createGraph, type SessionGraph } from "./session-graph.ts";
import type { SessionIndex } from "./session-index.ts";
import { titleOfEvents } from "./titles.ts";
import { cutTurns, requestLines, type TurnCut } from "./turn-cuts.ts";
import { arrangeTurns, findNotes } from "./turn-lines.ts";
import { readLineEvents, type TurnPlan } from "./turn-reader.ts";

export interface SessionReading {
  readonly index: SessionIndex;
  readonly graph: SessionGraph;
  readonly path: SessionPath;
  readonly cuts: readonly TurnCut[];
  readonly plan: TurnPlan;
}

/** Reads the path of an indexed session. */
export function readPath(lines: ParsedLines, index: SessionIndex, sessionId: string): SessionReading {
  const graph = createGraph(index);
  const path = findActivePath(index, graph);
  const cuts = cutTurns(path.chain);
  const notes = findNotes(index, graph, path);
  const plan: TurnPlan = {
    source: lines,
    sessionId,
    openers: cuts.map((cut) => cut.opener),
    lines: arrangeTurns(cuts, path.beside, notes),
    requests: requestLines(path.chain),
    notes: new Set(notes),
  };
  return { index, graph, path, cuts, plan };
}

/** The first words of the first request, and the turn that it stands in; null when there is none. */
export function firstTitle(plan: TurnPlan): { readonly title: string; readonly turn: number } | null {
  for (const [turn, entries] of plan.lines.entries()) {
    for (const entry of entries) {
      const title = titleOfEvents(readLineEvents(plan, entry));
      if (title !== undefined) return { title, turn };
    }
  }
  return null;
}
