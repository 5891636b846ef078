// Writes a view as JSON lines, one projected event per line: `view.jsonl` and `--to jsonl`. A line without its `$origin` is the
// event itself; turns can be appended one after the other. Nothing in a line controls a terminal.
import type { ProjectedTurn, View } from "../../core/conversation/event.ts";
import { formatEventLine } from "../../core/conversation/turn-file.ts";
import { forJson } from "../../core/safe-text.ts";

/** Key in the first event of each projected turn: where the turn comes from. */
export const ORIGIN_KEY = "$origin";

/** Writes a view; the concatenation of its turns, "" for an empty one. */
export function renderViewLines(view: View): string {
  return view.turns.map((turn) => renderTurnLines(turn)).join("");
}

/** Writes one projected turn: its events in order, each line ended by a newline. */
export function renderTurnLines(turn: ProjectedTurn): string {
  const lines = turn.events.map((event, at) =>
    at === 0 ? withOrigin(formatEventLine(event), turn) : formatEventLine(event),
  );
  return lines.map((line) => `${forJson(line)}\n`).join("");
}

/** The origin is inserted as text, last, so that the event's own keys keep their order. */
function withOrigin(line: string, { origin }: ProjectedTurn): string {
  return `${line.slice(0, -1)},${JSON.stringify(ORIGIN_KEY)}:${JSON.stringify(origin)}}`;
}
