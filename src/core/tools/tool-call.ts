// The tool call as strategies look at it: a request with its result, and where both stand in the conversation.
import type { ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { type CallPairs, pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";

/** A call with its result, where it stands. */
export interface ToolCall {
  readonly request: ToolCallRequest;
  /** Null for a call that was never answered. */
  readonly response: ToolCallResponse | null;
  /** Turn of the request, position, 0-based. */
  readonly turn: number;
  /** Position of the request in the turn's events, 0-based. */
  readonly index: number;
  /** Position of the result in the events of its turn, 0-based; null without a result. */
  readonly responseIndex: number | null;
  /** Turn of the result, position, 0-based, when the answer came in a later one; absent = `turn`. */
  readonly responseTurn?: number;
}

/** Lists the calls of turns in the order of their requests. */
export function listToolCalls(turns: Iterable<Turn>): readonly ToolCall[] {
  const all = [...turns];
  return listPairedCalls(
    all,
    pairCalls(all, () => false),
  );
}

/** Lists the calls of turns in the order of their requests, paired already. */
export function listPairedCalls(turns: readonly Turn[], pairs: CallPairs): readonly ToolCall[] {
  const answers = findAnswers(turns, pairs);
  const calls: ToolCall[] = [];
  for (const { index: turn, events } of turns) {
    let index = -1;
    for (const event of events) {
      index += 1;
      if (event.type === "tool_call_request") calls.push(createCall(event, turn, index, answers.get(event)));
    }
  }
  return calls;
}

function findAnswers(turns: readonly Turn[], pairs: CallPairs): ReadonlyMap<ToolCallRequest, Answer> {
  const answers = new Map<ToolCallRequest, Answer>();
  for (const { index: turn, events } of turns) {
    let index = -1;
    for (const event of events) {
      index += 1;
      if (event.type !== "tool_call_response") continue;
      const request = pairs.get(event);
      if (request !== undefined) answers.set(request, { response: event, turn, index });
    }
  }
  return answers;
}

interface Answer {
  readonly response: ToolCallResponse;
  readonly turn: number;
  readonly index: number;
}

function createCall(request: ToolCallRequest, turn: number, index: number, answer: Answer | undefined): ToolCall {
  if (answer === undefined) return { request, response: null, turn, index, responseIndex: null };
  const { response, turn: responseTurn, index: responseIndex } = answer;
  const call = { request, response, turn, index, responseIndex };
  return responseTurn === turn ? call : { ...call, responseTurn };
}
