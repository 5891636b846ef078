// The ledger as the last section of a summary: what the calls themselves show and the text does not say yet. Written by rule, so
// that it can be told from a model's words, and without counts, which would be numbers that no event bears out.
import { appendAll } from "../append-all.ts";
import type { EventLedger } from "./event-ledger.ts";

/** Heading of the section. */
const LEDGER_HEADING = "## LEDGER";

const ORIGIN = "Taken from the recorded calls, not written by a model.";
const MORE = "- … more stands in the turns themselves";

/**
 * Renders the ledger for a summary text: modified files always, the rest where the text does not have it. What is over the
 * limit (characters) is left out, the least important first, and said to be; empty when there is nothing to add, or no room.
 */
export function renderLedger(
  ledger: EventLedger,
  { text, limit }: { readonly text: string; readonly limit: number },
): string {
  const isNew = (entry: string): boolean => !text.includes(withoutMark(entry));
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ["Files modified:", ledger.modified],
    ["Errors seen:", ledger.errors.filter(isNew)],
    ["Commands run:", ledger.commands.filter(isNew)],
    ["Files looked at:", ledger.read.filter(isNew)],
  ];
  const lines = [LEDGER_HEADING, ORIGIN];
  let room = limit - LEDGER_HEADING.length - ORIGIN.length - MORE.length - 2;
  for (const [title, entries] of groups) {
    if (entries.length === 0) continue;
    const fitting = takeFitting(entries, room - title.length - 1);
    if (fitting.length > 0) appendAll(lines, [title, ...fitting]);
    room -= [title, ...fitting].reduce((sum, line) => sum + line.length + 1, 0);
    if (fitting.length === entries.length) continue;
    lines.push(MORE);
    break;
  }
  return lines.length <= 2 || lines[2] === MORE ? "" : lines.join("\n");
}

function takeFitting(entries: readonly string[], room: number): readonly string[] {
  const lines: string[] = [];
  let left = room;
  for (const entry of entries) {
    const line = `- ${entry}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines;
}

/** An entry as a text would repeat it: without how a command ended, and without the mark of a shortened line. */
function withoutMark(entry: string): string {
  return entry.replace(/ → failed$/, "").replace(/…$/, "");
}

/** Takes the ledger away from behind a summary. */
export function withoutLedger(summary: string): string {
  const at = summary.lastIndexOf(`\n\n${LEDGER_HEADING}\n${ORIGIN}\n`);
  return at < 0 ? summary : summary.slice(0, at);
}
