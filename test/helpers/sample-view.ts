// Builds small views for tests: events by kind, with ids given in the test.
import { contentLines, indentLine, viewBlocks } from "../../src/app/diff/view-text.ts";
import type {
  ChatRequest,
  ChatResponse,
  Event,
  ProjectedTurn,
  ToolCallRequest,
  ToolCallResponse,
  View,
} from "../../src/core/conversation/event.ts";

const timestamp = "2026-11-21T20:30:00Z";

export function request(id: string, content: string): ChatRequest {
  return { type: "chat_request", id, timestamp, content };
}

export function answer(id: string, message: string): ChatResponse {
  return { type: "chat_response", id, timestamp, message };
}

export function thought(id: string, reasoning: string): ChatResponse {
  return { type: "chat_response", id, timestamp, reasoning };
}

export function call(id: string, name: string, args: unknown): ToolCallRequest {
  return { type: "tool_call_request", id, timestamp, call_id: `c-${id}`, name, arguments: args };
}

/** The result of the call made with `call(callId, …)`. */
export function result(id: string, callId: string, content: string, isError = false): ToolCallResponse {
  return { type: "tool_call_response", id, timestamp, call_id: `c-${callId}`, content, is_error: isError };
}

export function kept(turn: number, ...events: readonly Event[]): ProjectedTurn {
  return { origin: { kind: "kept", turn }, events };
}

export function summary(from: number, to: number, compaction: string, ...events: readonly Event[]): ProjectedTurn {
  return { origin: { kind: "summary", from, to, compaction }, events };
}

export function view(...turns: readonly ProjectedTurn[]): View {
  return { turns };
}

/** The whole text of a view, the one that hunks of a diff number their lines by: headings at column 0, content indented. */
export function viewLines(view: View): string[] {
  return viewBlocks(view).flatMap(({ heading, content }) => [heading, ...contentLines(content).map(indentLine)]);
}
