// The loop of one turn: asks the model, runs the tools that it calls, asks again, until it has answered. Everything is written to
// the turn's journal first; how the turn ended is a value.
import { offeredTools, SEARCH_TOOL, SHOW_TOOL } from "../../core/conversation/defined-tools.ts";
import {
  type ChatResponse,
  type Event,
  type EventMetadata,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
} from "../../core/conversation/event.ts";
import { withoutNotice } from "../../core/conversation/hidden-notice.ts";
import { JpgError, messageOf, nearestName } from "../../core/errors.ts";
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../../core/json.ts";
import { addUsage, priceOf, readUsage, sizeOf, type Usage } from "../../core/model/usage.ts";
import type { AnswerPart, LlmRequest, Retry, Stop, StopReason, StreamPart } from "../../llm/client.ts";
import { requestFrame } from "../compact/ask-summary.ts";
import { interruptedAt, type TextKind, type TurnJournal } from "../conversation/journal.ts";
import type { OpenedModel } from "../models/models.ts";
import type { Tool, ToolResult } from "../models/tool-box.ts";
import type { LiveEvents, OpenTurn } from "./open-turn.ts";

/** Shows a turn in progress to the user. If one of these throws, the turn ends; what had arrived is kept. */
export interface TalkObserver extends CallObserver {
  /** A piece of text, as soon as it is in the journal. */
  delta(kind: TextKind, text: string): void;
  /** A request is sent; `model` = its full name. */
  asked?(model: string): void;
  /** A request failed, and is sent again after a wait. */
  retrying?(model: string, retry: Retry): void;
  /** The conversation may be compacted automatically now, which takes a while if a model writes the summary. */
  compacting?(): void;
}

interface Talk {
  readonly turn: OpenTurn;
  readonly opened: OpenedModel;
  readonly system: string;
  readonly tools: readonly Tool[];
  /** Rounds of tool calls before the turn ends, 0 or more. */
  readonly maxToolRounds: number;
  readonly signal: AbortSignal;
  readonly observer: TalkObserver;
  /** Called while the provider works on a request: work done then delays nobody. */
  readonly whileAsked: () => void;
  readonly betweenRequests: () => Promise<void>;
}

/** How a turn ended, and the usage of its requests. */
export interface TalkEnd {
  readonly stop: StopReason;
  /** What the provider reported instead of an answer; null when it answered. */
  readonly failure: unknown;
  /** Of all requests; null when the provider counted none. */
  readonly usage: Usage | null;
  /** US dollars of all requests; null when a price or a count is unknown. */
  readonly price: number | null;
  /** Tokens of the last request and its answer, counted by the provider; null when it did not. */
  readonly lastSize: number | null;
}

/** Talks until the turn ends. Throws as the journal and the observer do. */
export async function talk(work: Talk): Promise<TalkEnd> {
  const counter = createUsageCounter(work.opened);
  for (let round = 0; ; round++) {
    const answer = await ask(work);
    work.turn.add(answer.events);
    counter.add(answer.stop);
    const end = endOf(answer, work) ?? (await runRound(work, answer, round));
    if (end !== null) return { ...end, ...counter.sums() };
    await work.betweenRequests();
  }
}

type RoundEnd = Pick<TalkEnd, "stop" | "failure">;

/** Returns how an answer ends the turn; null when it calls tools and waits for their results. */
function endOf({ stop, calls, failure }: Answer, { signal }: Talk): RoundEnd | null {
  if (stop === null) return signal.aborted ? ABORTED : { stop: "unknown", failure };
  const { reason } = stop;
  const isWhole = reason === "tool_calls" || reason === "complete";
  return calls.length > 0 && isWhole ? null : { stop: reason, failure: null };
}

/** Runs the calls of an answer; null when the model is to be asked again. */
async function runRound(work: Talk, answer: Answer, round: number): Promise<RoundEnd | null> {
  if (round >= work.maxToolRounds) {
    stopCalling(work, answer);
    return { stop: "tool_calls", failure: null };
  }
  await runCalls(answer.calls, callRun(work));
  return work.signal.aborted ? ABORTED : null;
}

const ABORTED: RoundEnd = { stop: "aborted", failure: null };

async function ask({ turn, opened, system, tools, signal, observer, whileAsked }: Talk): Promise<Answer> {
  const { client, provider, model } = opened;
  const { view: sent, compactions } = await turn.sent();
  const definitions = tools.map(({ definition }) => definition);
  const offered = offeredTools(definitions, sent, compactions);
  const view = [SEARCH_TOOL, SHOW_TOOL].every((own) => offered.some(({ name }) => name === own))
    ? sent
    : withoutNotice(sent);
  // The next requests have the same frame.
  const frame = requestFrame(system, offered);
  const retrying = (retry: Retry): void => observer.retrying?.(opened.name, retry);
  const request: LlmRequest = { model, view, signal, onRetry: retrying, ...frame };
  const { journal, live } = turn;
  observer.asked?.(opened.name);
  const answer = readAnswer(client.stream(request), {
    journal,
    live,
    provider,
    model,
    delta: observer.delta.bind(observer),
  });
  // Runs after the request is sent.
  setImmediate(whileAsked);
  return answer;
}

function callRun({ turn, tools, observer, signal }: Talk): CallRun {
  return { tools, live: turn.live, observer, signal, keep: turn.keep };
}

/** Ends the turn of a model that keeps calling tools; their results say so to it when the conversation continues. */
function stopCalling(work: Talk, { calls }: Answer): void {
  const { maxToolRounds, observer } = work;
  refuseCalls(calls, `Not run: a turn ends after ${maxToolRounds} rounds of tool calls.`, callRun(work));
  observer.notice(
    `The turn ended after ${maxToolRounds} rounds of tool calls; \`jpg query "go on"\` lets the model continue.`,
  );
}

interface UsageCounter {
  add(stop: Stop | null): void;
  sums(): Pick<TalkEnd, "usage" | "price" | "lastSize">;
}

function createUsageCounter({ facts }: OpenedModel): UsageCounter {
  let usage: Usage | null = null;
  let price: number | null = facts.price === null ? null : 0;
  let lastSize: number | null = null;
  return {
    add(stop) {
      const counted = stop === null ? null : readUsage(stop.usage);
      lastSize = counted === null ? null : sizeOf(counted) + counted.output;
      price = counted === null || price === null || facts.price === null ? null : price + priceOf(counted, facts.price);
      if (counted !== null) usage = usage === null ? counted : addUsage(usage, counted);
    },
    sums: () => ({ usage, price: usage === null ? null : price, lastSize }),
  };
}

// One answer of a model as it streams: first into the journal, then shown to the user, at the end as events. If it ends early, what
// had arrived stays, marked as interrupted.

interface AnsweredCall {
  readonly event: ToolCallRequest;
  /** Null when the model wrote no JSON object; then the event's arguments are its text. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
}

interface Answer {
  /** In the order in which they began; all have one `message_id`. */
  readonly events: readonly Event[];
  readonly calls: readonly AnsweredCall[];
  /** Null when the stream ended without one: `failure` says why. */
  readonly stop: Stop | null;
  /** What broke it off; null when it ended with a stop. */
  readonly failure: unknown;
}

interface AnswerReading {
  readonly journal: TurnJournal;
  readonly live: LiveEvents;
  /** Recorded in each event's metadata, as is `model`. */
  readonly provider: string;
  readonly model: string;
  /** Called with each piece of text once it is in the journal. */
  delta(kind: TextKind, text: string): void;
}

/** Reads a stream to its end. Throws only as the journal or `delta` does, not what the stream throws. */
async function readAnswer(stream: AsyncIterable<StreamPart>, reading: AnswerReading): Promise<Answer> {
  const writer = createAnswerWriter(reading);
  const parts = stream[Symbol.asyncIterator]();
  let stop: Stop | null = null;
  let failure: unknown = null;
  try {
    for (;;) {
      const next = await parts.next().catch((error: unknown) => {
        failure = error ?? new Error("the stream failed");
        return { done: true, value: undefined } as const;
      });
      if (next.done === true) break;
      if (next.value.type === "stop") stop = next.value.stop;
      else if (next.value.type === "delta") writer.delta(next.value.kind, next.value.text);
      else writer.part(next.value.part);
    }
  } finally {
    // The journal failed: stop the provider.
    if (stop === null && failure === null) await parts.return?.().catch(() => undefined);
  }
  if (stop === null && failure === null) failure = streamWithoutStop(reading);
  return { ...writer.end(stop), stop, failure };
}

interface AnswerWriter {
  delta(kind: TextKind, text: string): void;
  part(part: AnswerPart): void;
  end(stop: Stop | null): Pick<Answer, "events" | "calls">;
}

function createAnswerWriter({ journal, live, provider, model, delta: show }: AnswerReading): AnswerWriter {
  const base: EventMetadata = { provider, model, message_id: live.newId() };
  const events = new Map<string, Event>();
  const calls: AnsweredCall[] = [];
  const streaming = new Map<TextKind, { readonly event: ChatResponse; text: string }>();
  const keep = (event: Event): void => {
    journal.event(event);
    events.set(event.id, event);
  };
  const delta = (kind: TextKind, text: string): void => {
    if (text === "") return;
    let open = streaming.get(kind);
    if (open === undefined) {
      open = { event: live.response(kind, base), text: "" };
      streaming.set(kind, open);
      journal.open(open.event);
      events.set(open.event.id, open.event);
    }
    journal.delta(open.event.id, text);
    open.text += text;
    show(kind, text);
  };
  const closeText = (part: Extract<AnswerPart, { readonly kind: TextKind }>): void => {
    const open = streaming.get(part.kind);
    streaming.delete(part.kind);
    const event = open?.event ?? live.response(part.kind, base);
    // Text that was shown counts, whatever the complete part has.
    const text = part.text === "" ? (open?.text ?? "") : part.text;
    if (text === "" && part.metadata === undefined) return;
    keep({ ...event, [part.kind]: text, metadata: { ...base, ...part.metadata } });
    if (open === undefined && text !== "") show(part.kind, text);
  };
  const call = (part: Extract<AnswerPart, { readonly kind: "tool_call" }>): void => {
    const { callId, name, text, metadata } = part;
    const event = live.call({ call_id: callId, name, arguments: part.arguments ?? text }, { ...base, ...metadata });
    keep(event);
    calls.push({ event, arguments: part.arguments });
  };
  const closeInterrupted = (): void => {
    for (const { event, text } of streaming.values()) keep(interruptedAt(event, text));
    streaming.clear();
  };
  return {
    delta,
    part: (part) => (part.kind === "tool_call" ? call(part) : closeText(part)),
    end: (stop) => {
      closeInterrupted();
      const list = [...events.values()];
      const last = list.at(-1);
      const facts = stop === null ? {} : stopMetadata(stop);
      if (last === undefined || Object.keys(facts).length === 0) return { events: list, calls };
      const marked = { ...last, metadata: { ...last.metadata, ...facts } };
      keep(marked);
      return { events: [...list.slice(0, -1), marked], calls };
    },
  };
}

/** What the end of an answer adds to its last event: usage, the provider's id, and why it is incomplete. */
function stopMetadata({ reason, providerReason, usage, id }: Stop): EventMetadata {
  const isWhole = reason === "complete" || reason === "tool_calls";
  return {
    ...(id === null ? {} : { response_id: id }),
    ...(usage === null || usage === undefined ? {} : { usage }),
    ...(isWhole ? {} : { stop: reason }),
    ...(isWhole || providerReason === null ? {} : { stop_reason: providerReason }),
  };
}

function streamWithoutStop({ provider, model }: AnswerReading): JpgError {
  return new JpgError("provider", "stream_cut", `The answer of ${provider}/${model} ended without saying why.`, {
    hints: ["Ask again; `jpg query -v` says more."],
  });
}

// Runs the calls of an answer, one after the other in the model's order, and records the results. A wrong call gets a result that
// says so to the model; only the user, or a question that nobody can answer, ends the turn.

export interface ShownCall {
  readonly name: string;
  /** As the model wrote them: an object, or text that is not a JSON object. */
  readonly arguments: unknown;
  /** Where the tool is from; empty = there is no such tool. */
  readonly origin: string;
}

/** Shows tool calls to the user, and asks whether to make them. */
interface CallObserver {
  /** A notice of one line. */
  notice(text: string): void;
  toolCall(call: ShownCall): void;
  toolResult(result: { readonly name: string; readonly isError: boolean; readonly text: string }): void;
  /** Whether to make a call. What it throws ends the turn. */
  confirm(call: ShownCall): Promise<boolean | CallRefusal>;
}

/** A refusal with its reason, which the model is sent. */
interface CallRefusal {
  readonly refused: string;
}

interface CallRun {
  readonly tools: readonly Tool[];
  readonly live: LiveEvents;
  readonly observer: CallObserver;
  /** Called with each result. */
  keep(event: ToolCallResponse): void;
  readonly signal: AbortSignal;
}

const DECLINED = "The user declined this call.";
const INTERRUPTED = "Interrupted by the user: no result was recorded, the outcome is unknown.";
const NOT_RUN = "Interrupted by the user before this call was made.";

/** Runs calls and keeps their results, in order. When the user interrupts, the remaining calls get a result that says so. */
async function runCalls(calls: readonly AnsweredCall[], run: CallRun): Promise<void> {
  for (const call of calls) {
    const { content, isError } = run.signal.aborted ? failed(NOT_RUN) : await runCall(call, run);
    const { call_id, name } = call.event;
    run.keep(run.live.result({ call_id, content, is_error: isError }));
    run.observer.toolResult({ name, isError, text: textOfContent(content) });
  }
}

/** Gives results to calls that will not run, so that none is left open. */
function refuseCalls(calls: readonly AnsweredCall[], reason: string, run: CallRun): void {
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

/** Says what is wrong with arguments that are no JSON object, so that the model can correct them. */
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
