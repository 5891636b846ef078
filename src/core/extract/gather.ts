// Reads out of events what an extract is made from: who asked what, what was answered, what tools did. Nothing is shortened here.
import { isText, mediaOf, plainText } from "../event/content.ts";
import { type Content, isUserRequest } from "../event/event.ts";
import { ledgerOfCalls } from "../summary/event-ledger.ts";
import { groupTurns, type PlacedEvent } from "../summary/placed-event.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";
import { listToolCalls, type ToolCall } from "../tools/tool-call.ts";
import { errorsSeen, type SeenError } from "./errors-seen.ts";
import { openTasks } from "./open-tasks.ts";
import type { Said } from "./passages.ts";

/** What happened in a stretch of a conversation; lists in order. */
export interface Gathered {
  /** What a person asked for; what a harness or a summary put there is not. */
  readonly requests: readonly Said[];
  /** What the assistant said. */
  readonly messages: readonly Said[];
  /** Of this the last in each turn. */
  readonly answers: readonly Said[];
  /** Files that calls changed, and those of which every change failed. */
  readonly modified: readonly string[];
  readonly notModified: readonly string[];
  /** Other files that were looked at. */
  readonly read: readonly string[];
  /** `NAME 12x`, the most called first. */
  readonly tools: readonly string[];
  readonly commands: readonly string[];
  readonly errors: readonly SeenError[];
  readonly openTasks: readonly string[];
  /** Whether nothing was said after the last request. */
  readonly isUnanswered: boolean;
}

/** Gathers from raw events, in order. */
export function gather(events: readonly PlacedEvent[]): Gathered {
  const calls = listToolCalls(groupTurns(events));
  const ledger = ledgerOfCalls(calls);
  const modified = new Set(ledger.modified);
  const notModified = new Set(calls.flatMap(changedFiles).filter((file) => !modified.has(file)));
  const messages = events.flatMap(({ turn, event }) => {
    if (event.type !== "chat_response" || event.message === undefined) return [];
    return [{ turn, text: spokenText(event.message) }];
  });
  return {
    requests: events.flatMap(requestsOf),
    messages,
    answers: messages.filter(({ turn }, at) => turn !== messages[at + 1]?.turn),
    modified: ledger.modified,
    notModified: [...notModified],
    read: ledger.read.filter((file) => !notModified.has(file)),
    tools: countTools(calls),
    commands: ledger.commands,
    errors: errorsSeen(calls),
    openTasks: openTasks(events, calls),
    isUnanswered: isUnanswered(events),
  };
}

function changedFiles({ request }: ToolCall): readonly string[] {
  const { kind, path, paths } = callFacts(request);
  if (!isWriting(kind)) return [];
  return paths ?? (path === undefined ? [] : [path]);
}

function countTools(calls: readonly ToolCall[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { request } of calls) counts.set(request.name, (counts.get(request.name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} ${count}x`);
}

/** What a person asked for in an event: one text, or none. */
export function requestsOf({ turn, event }: PlacedEvent): readonly Said[] {
  if (!isUserRequest(event)) return [];
  const media = mediaOf(event.content).map(({ type }) => `[${type}]`);
  const text = [spokenText(event.content), ...media].filter((part) => part !== "").join("\n");
  return text.trim() === "" ? [] : [{ turn, text }];
}

/** What was typed; of what was attached only the name. */
function spokenText(content: Content): string {
  if (isText(content)) return plainText(content);
  return content
    .flatMap((part) => {
      if (part.type === "text") return plainText(part.text);
      return part.type === "attachment" ? `[attachment${part.name === undefined ? "" : ` ${part.name}`}]` : [];
    })
    .join("\n");
}

function isUnanswered(events: readonly PlacedEvent[]): boolean {
  const last = events.findLastIndex(({ event }) => isUserRequest(event));
  return (
    last >= 0 && !events.slice(last).some(({ event }) => event.type === "chat_response" && event.message !== undefined)
  );
}
