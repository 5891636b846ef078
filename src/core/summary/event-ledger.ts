// The ledger of a stretch of a conversation: files, commands and errors as the calls themselves show them. It goes with a
// summary so that what must be exact does not hang on a model's memory. Deterministic; each entry once, in order of appearance.
import type { ToolCallRequest } from "../event/event.ts";
import { commandsRun, filesNamed } from "../loss/call-traces.ts";
import { errorLines } from "../loss/line-facts.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";
import { listToolCalls, type ToolCall } from "../tools/tool-call.ts";
import { groupTurns, type PlacedEvent } from "./placed-event.ts";

export interface EventLedger {
  /** Files that calls wrote or edited and that did not fail, as written. */
  readonly modified: readonly string[];
  /** Other files that calls named. */
  readonly read: readonly string[];
  /** First lines of commands (120 characters at most), with ` → failed` behind those of which the newest run failed. */
  readonly commands: readonly string[];
  /** First lines of errors that results show, shortened to 160 characters. */
  readonly errors: readonly string[];
}

const ERROR_CHARS = 160;

/** Reads the ledger from raw events, in order. */
export function readLedger(events: readonly PlacedEvent[]): EventLedger {
  const errors = new Set<string>();
  for (const { event } of events) for (const line of errorLines(event)) errors.add(shortLine(line));
  return { ...ledgerOfCalls(listToolCalls(groupTurns(events))), errors: [...errors] };
}

/** Reads what calls alone show, in order. */
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

/** What the tool is known to concern, else what its arguments name. */
function filesOf(request: ToolCallRequest): readonly string[] {
  const { path, paths, kind } = callFacts(request);
  if (kind === "search" || kind === "list") return [];
  return paths ?? (path === undefined ? filesNamed(request.arguments) : [path]);
}

function shortLine(line: string): string {
  return line.length > ERROR_CHARS ? `${line.slice(0, ERROR_CHARS - 1)}…` : line;
}
