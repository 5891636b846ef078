// Second pass: a line of a session as its events. The same line always gives the same events.

import type { Event, EventMetadata } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import { readArguments } from "../openai-chat/read-arguments.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { plainValues } from "../plain-values.ts";
import { dataOf } from "./line.ts";
import type { CopilotEntry, CopilotTurn } from "./line-index.ts";

/** Whose reasoning it is: bound to the service, whichever company's model it was. */
const PROVIDER = "github-copilot";

/** An event without id and time. */
type EventBody = Readonly<Record<string, unknown>> & { readonly type: string };

/** Reads a turn, its turn_start first. */
export function readCopilotTurn(lines: ParsedLines, turn: CopilotTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { id, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readCopilotLine(lines, entry))];
}

/** Reads the events of a line; the first has the line's id. */
export function readCopilotLine(lines: ParsedLines, entry: CopilotEntry): readonly Event[] {
  const line = lines.at(entry.line);
  if (line === null || typeof line === "string") return [];
  const { id, timestamp } = entry;
  return bodiesOf(line, entry).map((body, n) => {
    const { type, ...rest } = body;
    return { type, id: n === 0 ? id : `${id}.${n}`, timestamp, ...rest } as Event;
  });
}

function bodiesOf(line: RawLine, entry: CopilotEntry): readonly EventBody[] {
  const data = dataOf(line);
  switch (entry.kind) {
    case "prompt":
      return requestBodies(data, entry);
    case "harness":
      return [harness(stringOf(data, "content") ?? "")];
    case "answer":
      return answerBodies(data, entry);
    case "output":
      return [outputBody(data)];
    default:
      return [noteBody(line, data)];
  }
}

/** What the user typed, and before and behind it what Copilot CLI sent with it. */
function requestBodies(data: RawLine, { isQueued }: CopilotEntry): readonly EventBody[] {
  const typed = stringOf(data, "content") ?? "";
  const sent = stringOf(data, "transformedContent") ?? typed;
  const at = sent.indexOf(typed);
  const request: EventBody = {
    type: "chat_request",
    content: at < 0 ? sent : typed,
    ...(isQueued === true && { metadata: { origin: "queued" } }),
  };
  if (at < 0) return [request];
  const around = [sent.slice(0, at), sent.slice(at + typed.length)].map((text) =>
    text.trim() === "" ? [] : [harness(text.trim())],
  );
  return [...(around[0] ?? []), request, ...(around[1] ?? [])];
}

function harness(content: string): EventBody {
  return { type: "chat_request", content, metadata: { origin: "harness" } };
}

function answerBodies(data: RawLine, { id, model: inForce }: CopilotEntry): readonly EventBody[] {
  const model = stringOf(data, "model") ?? inForce;
  const made: EventMetadata = { provider: PROVIDER, ...defined({ model }), message_id: id };
  const bodies = [...reasoningBodies(data, made), ...messageBodies(data, made), ...callBodies(data, made)];
  const { outputTokens } = data;
  const [first, ...rest] = bodies;
  if (first === undefined || typeof outputTokens !== "number") return bodies;
  const metadata = { ...(first["metadata"] as EventMetadata), usage: { outputTokens } };
  return [{ ...first, metadata }, ...rest];
}

function reasoningBodies(data: RawLine, made: EventMetadata): readonly EventBody[] {
  const reasoning = stringOf(data, "reasoningText") ?? "";
  const encrypted = stringOf(data, "encryptedContent");
  const signature = stringOf(data, "reasoningOpaque");
  if (reasoning === "" && encrypted === undefined && signature === undefined) return [];
  const metadata = {
    ...made,
    ...defined({ signature, encrypted }),
  };
  return [{ type: "chat_response", reasoning, metadata }];
}

function messageBodies(data: RawLine, metadata: EventMetadata): readonly EventBody[] {
  const message = stringOf(data, "content") ?? "";
  return message === "" ? [] : [{ type: "chat_response", message, metadata }];
}

function callBodies(data: RawLine, metadata: EventMetadata): readonly EventBody[] {
  const calls = data["toolRequests"];
  if (!Array.isArray(calls)) return [];
  return calls.filter(isRecord).map((call) => ({
    type: "tool_call_request",
    call_id: stringOf(call, "toolCallId") ?? "",
    name: stringOf(call, "name") ?? "",
    arguments: readArguments(call["arguments"]),
    metadata,
  }));
}

function outputBody(data: RawLine): EventBody {
  const result = recordOf(data, "result") ?? {};
  const problem = recordOf(data, "error");
  return {
    type: "tool_call_response",
    call_id: stringOf(data, "toolCallId") ?? "",
    content: stringOf(result, "content") ?? stringOf(problem ?? {}, "message") ?? "",
    is_error: data["success"] === false || problem !== undefined,
  };
}

/** A note keeps the small plain values; the whole line lives on in the sources. */
function noteBody(line: RawLine, data: RawLine): EventBody {
  const values = { ...plainValues(data), ...plainValues(recordOf(data, "context") ?? {}) };
  const { cwd: _, content: __, ...kept } = values;
  return { type: "note", kind: String(line["type"]), ...(Object.keys(kept).length > 0 && { data: kept }) };
}
