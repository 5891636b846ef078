// The calls that failed, and what became of them. A failure counts where somebody would have to know of it: a command, a change or
// another tool that failed, not a look at what is not there, and not a change that was made with the next try. What looks like an
// error in the output of a command that succeeded is none.
import { appendAll } from "../append-all.ts";
import { textOfContent } from "../event/content.ts";
import type { ToolCallResponse } from "../event/event.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { actionsOf, lastAction, plainCommand } from "./command-line.ts";
import { failureLines, saysFailed } from "./failure-lines.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** A failure, and what mended it. */
export interface FailedCall {
  /** Turn of the failure, 0-based. */
  readonly turn: number;
  /** What failed: the command, or the tool and its file. */
  readonly what: string;
  /** Why, in the words of its result; may be empty. */
  readonly lines: readonly string[];
  /** Where the same thing worked later, and the files that were changed until then; null = nowhere. */
  readonly mend: { readonly turn: number; readonly changed: readonly string[] } | null;
}

const WHAT_CHARS = 120;
/** Files named as what mended a failure. */
const MOST_CHANGED = 4;
/** Results by which a person, not a tool, ended a call; what was said then is guidance. */
const REFUSED =
  /^(?:The user doesn't want to (?:proceed with|take) this|\[Request interrupted|(?:exec )?(?:command )?rejected by user|User rejected|Interrupted by user|aborted by user)|^<tool_use_error>Sibling tool call errored/i;

/** Whether a person refused the call. */
export function isRefused(response: ToolCallResponse): boolean {
  return response.is_error && REFUSED.test(textOfContent(response.content).trimStart().slice(0, 200));
}

/** Whether a call failed: as its result says, or as the output of its command does. */
export function hasFailed(call: ToolCall): boolean {
  const { request, response } = call;
  if (response === null || isRefused(response)) return false;
  if (response.is_error) return true;
  return callFacts(request).kind === "shell" && lastAction(commandOf(call)) !== null && saysFailed(response);
}

/** Lists the failures of calls, in the order of the calls; the same failure again and again comes once, as it was last. */
export function listFailures(calls: readonly ToolCall[]): readonly FailedCall[] {
  const log: FailureLog = { open: new Map(), found: [], changed: [] };
  for (const [at, call] of calls.entries()) {
    if (call.response === null || isRefused(call.response)) continue;
    if (hasFailed(call)) {
      const key = keyOf(call);
      if (key !== null) log.open.set(key, { at, call, changedBefore: log.changed.length });
    } else {
      mend(log, call);
      appendAll(log.changed, changedFiles(call));
    }
  }
  const everChanged = new Set(log.changed);
  for (const failure of log.open.values()) {
    // A change that failed where others were made was made in another way.
    if (!changedFiles(failure.call).some((file) => everChanged.has(file))) log.found.push(describe(failure, null));
  }
  return log.found.sort((a, b) => a.at - b.at).map(({ at: _, ...failure }) => failure);
}

interface FailureLog {
  /** By what would make them good. */
  readonly open: Map<string, OpenFailure>;
  readonly found: (FailedCall & { readonly at: number })[];
  /** Files that calls changed so far, in order. */
  readonly changed: string[];
}

/** Closes the failures that a call makes good. Those of a moment ago that needed no change tell nothing. */
function mend({ open, found, changed }: FailureLog, call: ToolCall): void {
  for (const key of mendedBy(call)) {
    const failure = open.get(key);
    open.delete(key);
    if (failure === undefined || isWriting(callFacts(call.request).kind)) continue;
    const files = [...new Set(changed.slice(failure.changedBefore))].slice(-MOST_CHANGED);
    const turn = call.responseTurn ?? call.turn;
    if (files.length > 0 || turn !== failure.call.turn) found.push(describe(failure, { turn, changed: files }));
  }
}

interface OpenFailure {
  readonly at: number;
  readonly call: ToolCall;
  readonly changedBefore: number;
}

function describe({ at, call }: OpenFailure, mend: FailedCall["mend"]): FailedCall & { readonly at: number } {
  const isShell = callFacts(call.request).kind === "shell";
  const lines = call.response === null ? [] : failureLines(call.response, isShell);
  return { at, turn: call.responseTurn ?? call.turn, what: nameCall(call), lines, mend };
}

/** What a call would have to do to make a failure good; null for one that nobody need know of. */
function keyOf(call: ToolCall): string | null {
  const { kind, path } = callFacts(call.request);
  if (kind === "read" || kind === "search" || kind === "list") return null;
  if (isWriting(kind)) return `file ${path ?? ""}`;
  if (kind !== "shell") return `tool ${call.request.name}`;
  const action = lastAction(commandOf(call));
  return action === null ? null : `run ${action}`;
}

function mendedBy(call: ToolCall): readonly string[] {
  const { kind, path, paths } = callFacts(call.request);
  if (isWriting(kind)) return (paths ?? [path ?? ""]).map((file) => `file ${file}`);
  if (kind === "shell") return [...new Set(actionsOf(commandOf(call)).map((action) => `run ${action}`))];
  return kind === "other" ? [`tool ${call.request.name}`] : [];
}

function changedFiles(call: ToolCall): readonly string[] {
  const { kind, path, paths } = callFacts(call.request);
  if (!isWriting(kind)) return [];
  return paths ?? (path === undefined ? [] : [path]);
}

/** Names a call in a line: its command, or its tool with its file. */
export function nameCall(call: ToolCall): string {
  const { kind, path, paths } = callFacts(call.request);
  if (kind === "shell") return `\`${commandName(commandOf(call))}\``;
  const file = path ?? paths?.join(", ");
  return file === undefined ? call.request.name : cutEnd(oneLine(`${call.request.name} ${file}`), WHAT_CHARS + 40);
}

/** The first line of a command, as short as it still tells itself from others. */
function commandName(command: string): string {
  const [line = "", ...more] = plainCommand(command).split("\n");
  const name = cutEnd(oneLine(line), WHAT_CHARS);
  return more.length === 0 || name.endsWith("…") ? name : `${name} …`;
}

/** The command line of a call of a shell; "" for others. */
export function commandOf({ request }: ToolCall): string {
  const { command, cmd, script } = (request.arguments ?? {}) as Readonly<Record<string, unknown>>;
  const line = command ?? cmd ?? script ?? "";
  if (!Array.isArray(line)) return typeof line === "string" ? line : "";
  const words = line.filter((word) => typeof word === "string");
  return words.length === 3 && /^-l?c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.join(" ");
}
