// Runs the calls of an answer, one after the other in the model's order, and records what came of each. Whatever is wrong
// with a call is a result that says so to the model; only the user's wish and a question that nobody can answer end the turn.

import { type ToolCallResponse, textOfContent } from "../../core/conversation/event.ts";
import { messageOf, nearestName } from "../../core/errors.ts";
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../../core/json.ts";
import type { Tool, ToolResult } from "../programs/tool-box.ts";
import type { AnsweredCall } from "./answer.ts";
import type { LiveEvents } from "./live-event.ts";

/** A call as the user is shown it. */
export interface ShownCall {
  readonly name: string;
  /** As the model wrote them: an object, or a text that is none. */
  readonly arguments: unknown;
  /** Who offers the tool; empty = nobody does. */
  readonly origin: string;
}

/** Told of calls, and asked about them. */
export interface CallObserver {
  /** Something to know, one line. */
  notice(text: string): void;
  toolCall(call: ShownCall): void;
  toolResult(result: { readonly name: string; readonly isError: boolean; readonly text: string }): void;
  /** Whether a call may be made. What it throws ends the turn. */
  confirm(call: ShownCall): Promise<boolean | CallRefusal>;
}

/** A no with its reason, which the model is told. */
export interface CallRefusal {
  readonly refused: string;
}

/** What calls are run with. */
export interface CallRun {
  readonly tools: readonly Tool[];
  readonly live: LiveEvents;
  readonly observer: CallObserver;
  /** Given each result as soon as it is there. */
  keep(event: ToolCallResponse): void;
  readonly signal: AbortSignal;
}

const DECLINED = "The user declined this call.";
const INTERRUPTED = "Interrupted by the user: no result was recorded, the outcome is unknown.";
const NOT_RUN = "Interrupted by the user before this call was made.";

/** Runs calls and keeps their results, in order. When the signal ends it, the calls that are left say so. */
export async function runCalls(calls: readonly AnsweredCall[], run: CallRun): Promise<void> {
  for (const call of calls) {
    const { content, isError } = run.signal.aborted ? failed(NOT_RUN) : await runCall(call, run);
    const { call_id, name } = call.event;
    run.keep(run.live.result({ call_id, content, is_error: isError }));
    run.observer.toolResult({ name, isError, text: textOfContent(content) });
  }
}

/** Answers calls that are not to be run any more, so that none is left open. */
export function refuseCalls(calls: readonly AnsweredCall[], reason: string, run: CallRun): void {
  for (const { event } of calls) run.keep(run.live.result({ call_id: event.call_id, content: reason, is_error: true }));
}

async function runCall({ event, arguments: args }: AnsweredCall, run: CallRun): Promise<ToolResult> {
  const { name } = event;
  const tool = run.tools.find(({ definition }) => definition.name === name);
  const shown = { name, arguments: event.arguments, origin: tool?.origin ?? "" };
  run.observer.toolCall(shown);
  if (tool === undefined) return failed(unknownTool(name, run.tools));
  if (args === null) return failed(badArguments(name, event.arguments));
  const allowed = !tool.confirm || (await run.observer.confirm(shown));
  if (allowed !== true) return failed(run.signal.aborted ? NOT_RUN : declined(allowed));
  try {
    return await tool.call(args, { signal: run.signal, notice: (text) => run.observer.notice(text) });
  } catch (error) {
    if (run.signal.aborted) return failed(INTERRUPTED);
    return failed(`The tool ${name} failed: ${messageOf(error)}`);
  }
}

function declined(answer: false | CallRefusal): string {
  return answer === false ? DECLINED : `${DECLINED} Their reason: ${answer.refused}`;
}

function failed(text: string): ToolResult {
  return { content: text, isError: true };
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map(({ definition }) => definition.name);
  const nearest = nearestName(name, names);
  const offered = names.length === 0 ? "There are no tools." : `The tools are: ${names.join(", ")}.`;
  return `There is no tool ${name}. ${nearest === undefined ? "" : `Did you mean ${nearest}? `}${offered}`;
}

/** Names what is wrong with arguments that are no JSON object, so that the model can write them again. */
function badArguments(name: string, written: unknown): string {
  const text = typeof written === "string" ? written : (JSON.stringify(written) ?? "");
  return `The arguments of ${name} are not a JSON object: ${problemOf(text)}. Nothing was run; write the call again with a JSON object.`;
}

function problemOf(text: string): string {
  if (text.trim() === "") return "they are empty";
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(text, value, MAX_FOREIGN_DEPTH)) return `they nest deeper than ${MAX_FOREIGN_DEPTH} levels`;
    return `found ${Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`}`;
  } catch (error) {
    return messageOf(error);
  }
}
