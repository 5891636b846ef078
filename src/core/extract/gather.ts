// Reads out of events what an extract is made from: who asked what, what was answered, what tools did, how it ends. Nothing is
// shortened here but single lines.
import { defined } from "../defined.ts";
import { isText, mediaOf, plainText } from "../event/content.ts";
import { type Content, type Event, isUserRequest } from "../event/event.ts";
import { ledgerOfCalls } from "../summary/event-ledger.ts";
import { groupTurns, type PlacedEvent } from "../summary/placed-event.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";
import { listToolCalls, type ToolCall } from "../tools/tool-call.ts";
import { changesOf, type LastChange } from "./changes.ts";
import { commitsMade, type MadeCommit } from "./commits.ts";
import { decisionsIn, type Reply } from "./decisions.ts";
import { type Ending, endingOf } from "./ending.ts";
import { type FailedCall, listFailures } from "./failures.ts";
import { guidanceIn, refusalsIn } from "./guidance.ts";
import { openTasks } from "./open-tasks.ts";
import type { Said } from "./passages.ts";
import { type CommandRun, commandsRunBy } from "./runs.ts";
import { typedText } from "./typed-text.ts";

/** What happened in a stretch of a conversation; lists in order. */
export interface Gathered {
  /** What a person asked for; what a harness or a summary put there is not. With the answer before it, where there is one. */
  readonly requests: readonly Reply[];
  /** What the assistant said. */
  readonly messages: readonly Said[];
  /** Of this the last in each turn. */
  readonly answers: readonly Said[];
  /** Files that calls changed, and those of which every change failed. */
  readonly modified: readonly string[];
  readonly notModified: readonly string[];
  /** What became of the changed files. */
  readonly changes: ReadonlyMap<string, LastChange>;
  /** Other files that were looked at. */
  readonly read: readonly string[];
  /** `NAME 12x`, the most called first. */
  readonly tools: readonly string[];
  readonly commands: readonly CommandRun[];
  readonly commits: readonly MadeCommit[];
  readonly failures: readonly FailedCall[];
  readonly decisions: readonly Said[];
  readonly guidance: readonly Said[];
  readonly openTasks: readonly string[];
  readonly ending: Ending;
}

/** Gathers from raw events, in order. */
export function gather(events: readonly PlacedEvent[]): Gathered {
  const calls = listToolCalls(groupTurns(events));
  const ledger = ledgerOfCalls(calls);
  const modified = new Set(ledger.modified);
  const notModified = new Set(calls.flatMap(changedFiles).filter((file) => !modified.has(file)));
  const { requests, messages } = speechOf(events);
  const answers = messages.filter(({ turn }, at) => turn !== messages[at + 1]?.turn);
  return {
    requests,
    messages,
    answers,
    modified: ledger.modified,
    notModified: [...notModified],
    changes: changesOf(calls),
    read: ledger.read.filter((file) => !notModified.has(file)),
    tools: countTools(calls),
    commands: commandsRunBy(calls),
    commits: commitsMade(calls),
    failures: listFailures(calls),
    decisions: decisionsIn(calls, { requests, answers }),
    guidance: [...guidanceIn(requests), ...refusalsIn(calls)].sort((a, b) => a.turn - b.turn),
    openTasks: openTasks(events, calls),
    ending: endingOf(events, calls),
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

/** What a person asked for in an event; "" where nobody typed anything. */
export function typedRequest(event: Event): string {
  if (!isUserRequest(event)) return "";
  const media = mediaOf(event.content).map(({ type }) => `[${type}]`);
  return [typedText(spokenText(event.content)), ...media].filter((part) => part !== "").join("\n");
}

function speechOf(events: readonly PlacedEvent[]): Pick<Gathered, "requests" | "messages"> {
  const requests: Reply[] = [];
  const messages: Said[] = [];
  for (const { turn, event } of events) {
    if (event.type === "chat_response" && event.message !== undefined) {
      const text = typedText(spokenText(event.message));
      if (text.trim() !== "") messages.push({ turn, text });
    } else {
      const text = typedRequest(event);
      const after = messages.at(-1)?.text;
      if (text.trim() !== "") requests.push({ turn, text, ...defined({ after }) });
    }
  }
  return { requests, messages };
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
