// Second pass: a line of a rollout as its event. The same line always gives the same event.
import type { Event } from "../../core/conversation/event.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { type ItemPlace, toItemEvent } from "./item-events.ts";
import { createRolloutNote, createUsageNote } from "./notes.ts";
import type { RolloutEntry } from "./rollout-index.ts";
import { payloadOf } from "./rollout-line.ts";
import type { RolloutTurn } from "./turns.ts";

/** Reads a turn, its turn_start first. */
export function readRolloutTurn(lines: ParsedLines, turn: RolloutTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { id, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readLineEvent(lines, entry))];
}

/** Reads the event of a line; none of one that only says what is sent from there on. */
export function readLineEvent(lines: ParsedLines, entry: RolloutEntry): readonly Event[] {
  const line = lines.at(entry.line);
  if (line === null || typeof line === "string") return [];
  switch (entry.kind) {
    case "note":
      return [createRolloutNote(line, entry)];
    case "usage":
      return [createUsageNote(line, entry)];
    case "compacted":
    case "rollback":
      return [];
    default:
      return [toItemEvent(payloadOf(line), placeOf(entry))];
  }
}

function placeOf({ kind, isQueued, ...entry }: RolloutEntry): ItemPlace {
  if (kind === "context" || kind === "harness") return { ...entry, origin: "harness" };
  return isQueued === true ? { ...entry, origin: "queued" } : entry;
}
