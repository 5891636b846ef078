// The ledger of a stretch of a conversation: files, commands and errors as the calls themselves show them. It accompanies a summary so that
// exact facts do not depend on a model's memory. Deterministic; each entry once, in order of appearance.
import type { Event, ToolCallRequest, Turn } from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import { errorLines } from "./facts.ts";
import { commandsRun, filesNamed } from "./hidden-content.ts";
import { callFacts, isWriting, listToolCalls, type ToolCall } from "./tool-call.ts";

export interface EventLedger {
  /** Files that calls wrote or edited without failing, as written. */
  readonly modified: readonly string[];
  /** Other files that calls named. */
  readonly read: readonly string[];
  /** First lines of commands (at most 120 characters), followed by ` → failed` if the newest run failed. */
  readonly commands: readonly string[];
  /** First lines of errors in results, shortened to 160 characters. */
  readonly errors: readonly string[];
}

const ERROR_CHARS = 160;

/** Reads the ledger from raw events, in order. */
export function readLedger(events: readonly PlacedEvent[]): EventLedger {
  const errors = new Set<string>();
  for (const { event } of events) for (const line of errorLines(event)) errors.add(shortLine(line));
  return { ...ledgerOfCalls(listToolCalls(groupTurns(events))), errors: [...errors] };
}

/** Reads what calls show by themselves, in order. */
export function ledgerOfCalls(calls: readonly ToolCall[]): Omit<EventLedger, "errors"> {
  const modified = new Set<string>();
  const others = new Set<string>();
  const commands = new Map<string, boolean>();
  for (const { request, response } of calls) {
    const failed = response?.is_error === true;
    const isChange = !failed && isWriting(callFacts(request).kind);
    for (const file of filesOf(request)) (isChange ? modified : others).add(file);
    for (const command of commandsRun(request.arguments)) commands.set(command, failed);
  }
  return {
    modified: [...modified],
    read: [...others].filter((file) => !modified.has(file)),
    commands: [...commands].map(([command, failed]) => (failed ? `${command} → failed` : command)),
  };
}

/** The files that the tool is known to concern, else those that its arguments name. */
function filesOf(request: ToolCallRequest): readonly string[] {
  const { path, paths, kind } = callFacts(request);
  if (kind === "search" || kind === "list") return [];
  return paths ?? (path === undefined ? filesNamed(request.arguments) : [path]);
}

function shortLine(line: string): string {
  return line.length > ERROR_CHARS ? `${line.slice(0, ERROR_CHARS - 1)}…` : line;
}

// The ledger as the last section of a summary: what the calls themselves show and the text does not say yet. Written by rule and under its
// own heading, so that it is not taken for a model's words, and without counts, which no event would support.

const LEDGER_HEADING = "## LEDGER";

const ORIGIN = "Taken from the recorded calls, not written by a model.";

const MORE = "- … more is in the turns themselves";

/**
 * Renders the ledger for a summary text: modified files always, the rest if the text does not have it. Over the limit (characters) the
 * least important entries are left out, and a line says so; empty when there is nothing to add, or no room.
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

/** An entry as a text would repeat it: without a command's outcome, and without the mark of a shortened line. */
function withoutMark(entry: string): string {
  return entry.replace(/ → failed$/, "").replace(/…$/, "");
}

/** Removes the ledger from the end of a summary. */
export function withoutLedger(summary: string): string {
  const at = summary.lastIndexOf(`\n\n${LEDGER_HEADING}\n${ORIGIN}\n`);
  return at < 0 ? summary : summary.slice(0, at);
}

// An event with its place.

export interface PlacedEvent {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly event: Event;
}

/** Groups events (in order) into turns again; a turn has only those given. */
export function groupTurns(events: readonly PlacedEvent[]): readonly Turn[] {
  const turns = new Map<number, Event[]>();
  for (const { turn, event } of events) {
    const list = turns.get(turn);
    if (list === undefined) turns.set(turn, [event]);
    else list.push(event);
  }
  return [...turns].map(([index, list]) => ({ index, events: list }));
}
