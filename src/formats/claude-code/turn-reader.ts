// Second pass: reads the lines of one turn again and makes its events. Turns can be read in any order, any number of
// times, and always come out the same.
import type { Event } from "../../core/conversation/event.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { type LineReading, lineId, toEvents } from "./events.ts";
import type { LineEntry } from "./session-index.ts";

/** What the turns of a path are read from. */
export interface TurnPlan {
  readonly source: ParsedLines;
  readonly sessionId: string;
  /** The line that opens each turn. */
  readonly openers: readonly LineEntry[];
  /** Lines of each turn in event order. */
  readonly lines: readonly (readonly LineEntry[])[];
  /** Commands that open a turn, and a summary that stands before everything else: the user's side of the conversation. */
  readonly requests: ReadonlySet<LineEntry>;
  /** Lines that are not sent from where they stand. */
  readonly notes: ReadonlySet<LineEntry>;
}

/** Reads one turn, its turn_start first. `turn` is 0-based and below the number of openers. */
export function readPlannedTurn(plan: TurnPlan, turn: number): readonly Event[] {
  const opener = plan.openers[turn];
  if (opener === undefined) return [];
  const start: Event = {
    type: "turn_start",
    id: `${lineId(opener, plan.sessionId)}.turn`,
    timestamp: opener.timestamp,
  };
  const usages = new Map<string, string>();
  return [start, ...(plan.lines[turn] ?? []).flatMap((entry) => readLineEvents(plan, entry, usages))];
}

/** Reads the events of one line; none for lines that only mark a compaction. */
export function readLineEvents(
  plan: TurnPlan,
  entry: LineEntry,
  usages: Map<string, string> = new Map(),
): readonly Event[] {
  const raw = plan.source.at(entry.line);
  if (raw === null || typeof raw === "string") return [];
  return toEvents({ entry, raw, sessionId: plan.sessionId, as: readingOf(plan, entry), usages });
}

function readingOf(plan: TurnPlan, entry: LineEntry): LineReading["as"] {
  if (plan.notes.has(entry)) return "note";
  return plan.requests.has(entry) ? "request" : "plain";
}
