// Reads from events what an extract is made of: what was asked and answered, what tools did, how it ends. Only single lines are shortened
// here.
import {
  type Content,
  type Event,
  fieldsOf,
  isText,
  isUserRequest,
  mediaOf,
  plainText,
  type ToolCallResponse,
  textOfContent,
  traitsOf,
} from "../conversation/event.ts";
import { listDecisions, listGuidance, listRefusals, questionOf, type Reply } from "./decisions.ts";
import { groupTurns, ledgerOfCalls, type PlacedEvent } from "./event-ledger.ts";
import { scanLines, scanSentences } from "./facts.ts";
import {
  type CommandRun,
  changesOf,
  commandsRunBy,
  commitsMade,
  type FailedCall,
  failureLines,
  hasFailed,
  type LastChange,
  listFailures,
  type MadeCommit,
  nameCall,
} from "./failures.ts";
import { textsOf } from "./hidden-content.ts";
import { cutEnd, isAnnouncement, isWaiting, oneLine, typedText, type Utterance } from "./passages.ts";
import { callFacts, isWriting, listToolCalls, type ToolCall } from "./tool-call.ts";

/** What happened in a stretch of a conversation; lists in order. */
export interface Gathered {
  /** A person's requests, not those of a harness or a summary. With the answer before each, if any. */
  readonly requests: readonly Reply[];
  /** What the assistant said. */
  readonly messages: readonly Utterance[];
  /** The last message of each turn. */
  readonly answers: readonly Utterance[];
  /** Files that calls changed, and files of which every change failed. */
  readonly modified: readonly string[];
  readonly notModified: readonly string[];
  /** What became of the changed files. */
  readonly changes: ReadonlyMap<string, LastChange>;
  /** Other files that were read. */
  readonly read: readonly string[];
  /** `NAME 12x`, the most called first. */
  readonly tools: readonly string[];
  readonly commands: readonly CommandRun[];
  readonly commits: readonly MadeCommit[];
  readonly failures: readonly FailedCall[];
  readonly decisions: readonly Utterance[];
  readonly guidance: readonly Utterance[];
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
    decisions: listDecisions(calls, { requests, answers }),
    guidance: [...listGuidance(requests), ...listRefusals(calls)].sort((a, b) => a.turn - b.turn),
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

/** What a person typed in an event; "" if nobody typed anything. */
export function typedRequest(event: Event): string {
  if (!isUserRequest(event)) return "";
  const media = mediaOf(event.content).map(({ type }) => `[${type}]`);
  return [typedText(spokenText(event.content)), ...media].filter((part) => part !== "").join("\n");
}

function speechOf(events: readonly PlacedEvent[]): Pick<Gathered, "requests" | "messages"> {
  const requests: Reply[] = [];
  const messages: Utterance[] = [];
  for (const { turn, event } of events) {
    if (event.type === "chat_response" && event.message !== undefined) {
      const text = typedText(spokenText(event.message));
      if (text.trim() !== "") messages.push({ turn, text });
    } else {
      const text = typedRequest(event);
      const answerBefore = messages.at(-1)?.text;
      if (text.trim() !== "") requests.push({ turn, text, answerBefore });
    }
  }
  return { requests, messages };
}

/** What was typed; attachments by name only. */
function spokenText(content: Content): string {
  if (isText(content)) return plainText(content);
  return content
    .flatMap((part) => {
      if (part.type === "text") return plainText(part.text);
      return part.type === "attachment" ? `[attachment${part.name === undefined ? "" : ` ${part.name}`}]` : [];
    })
    .join("\n");
}

// How a stretch of a conversation ends: with the work done, or in the middle of it: with a request, a call, an announcement, a question to
// the user or an interrupted answer. In that case the next model must know the last request and the last actions.

export type Unfinished = "unanswered" | "interrupted" | "working" | "announced" | "asked" | "failed";

interface Ending {
  /** Null if the last answer ends the work. */
  readonly unfinished: Unfinished | null;
  /** The question that the user was asked last; only with `asked`. */
  readonly question?: string;
  /** What was done last, in order, a line each; empty if the work is finished. */
  readonly actions: readonly string[];
}

const LAST_ACTIONS = 5;
const INTERRUPTED = /^\s*\[Request interrupted\b|^<turn_aborted>/;
/** An offer that ends an answer out of politeness. */
const POLITE =
  /^(?:let me know|feel free|happy to|just ask|tell me|is there anything else|anything else|do you (?:need|have) any(?:thing)?)\b.{0,20}\b(?:if|else|need|want|question|help|to help)\b/i;
const USERS_TURN = /\b(?:let me know|tell me|say the word|say so|ping me)\b/i;
/** Sentences at the end of an answer that say what is next. */
const LAST_SENTENCES = 2;

/** Determines how events end; `calls` are theirs. */
export function endingOf(events: readonly PlacedEvent[], calls: readonly ToolCall[]): Ending {
  const { unfinished, question } = whyUnfinished(events, calls);
  if (unfinished === null) return { unfinished, actions: [] };
  const turn = events.findLast(({ event }) => traitsOf(event).providerVisible)?.turn;
  const actions = calls
    .filter((call) => call.turn === turn)
    .slice(-LAST_ACTIONS)
    .map(describeAction);
  return { unfinished, question, actions };
}

interface Why {
  readonly unfinished: Unfinished | null;
  readonly question?: string;
}

function whyUnfinished(events: readonly PlacedEvent[], calls: readonly ToolCall[]): Why {
  const visible = events.map(({ event }) => event).filter(showsEnding);
  const last = visible.at(-1);
  if (last === undefined) return { unfinished: null };
  if (isInterruption(last)) return { unfinished: "interrupted" };
  if (isUserRequest(last)) return { unfinished: "unanswered" };
  if (last.type !== "chat_response" || last.message === undefined) return { unfinished: "working" };
  const said = textOfContent(last.message);
  const question = questionOf(said);
  if (question !== null && !POLITE.test(question)) return { unfinished: "asked", question };
  if (announcesMore(said)) return { unfinished: "announced" };
  const call = calls.at(-1);
  const isLastAction = call !== undefined && visible.at(-2) === call.response;
  return { unfinished: isLastAction && hasFailed(call) ? "failed" : null };
}

/**
 * Whether an event shows how a stretch ends: everything that a model is sent except reasoning, a harness's additions and requests that
 * nobody typed.
 */
function showsEnding(event: Event): boolean {
  if (!traitsOf(event).providerVisible) return false;
  if (event.type === "chat_response") return event.message === undefined ? false : textOfContent(event.message) !== "";
  if (event.type !== "chat_request") return true;
  return isInterruption(event) || (isUserRequest(event) && !isEmptyRequest(event));
}

function isEmptyRequest(event: Extract<Event, { type: "chat_request" }>): boolean {
  const text = textOfContent(event.content);
  return text.trim() !== "" && typedText(text).trim() === "";
}

function isInterruption(event: Event): boolean {
  return event.type === "chat_request" && INTERRUPTED.test(textOfContent(event.content));
}

function announcesMore(said: string): boolean {
  const text = said.trim();
  if (/[:：]$/.test(text)) return true;
  const sentences: string[] = [];
  const end = text.slice(-1500);
  scanSentences(end, (start, stop) => sentences.push(end.slice(start, stop)));
  return sentences
    .slice(-LAST_SENTENCES)
    .map((sentence) => sentence.replace(/^[\s*_>#-]+/, ""))
    .some((sentence) => {
      if (POLITE.test(sentence)) return false;
      return isAnnouncement(sentence) || isWaiting(sentence) || USERS_TURN.test(sentence);
    });
}

function describeAction(call: ToolCall): string {
  const name = nameCall(call);
  if (call.response === null) return `${name} (no result yet)`;
  if (!hasFailed(call)) return call.response.is_error ? `${name} (refused by the user)` : name;
  const [line = ""] = failureLines(call.response, true);
  return cutEnd(oneLine(`${name} (failed: ${line})`), 300);
}

// The tasks that are still open: from the newest list that a tool kept (TodoWrite, update_plan and the like, recognised by their form),
// from tasks kept one by one, else from what the assistant said was left. Nothing is guessed about other tools.

const TEXT_KEYS = ["content", "step", "subject", "description", "title", "task", "text", "name"] as const;
const CLOSED = /^(?:completed?|done|finished|cancell?ed|deleted|closed|skipped|resolved)$/i;
/** Most tasks listed, and the longest one, characters. */
const MOST_TASKS = 40;
const TASK_CHARS = 200;

/** Messages after the last request, newest first, that are searched for a list of what is left. */
const SEARCHED_MESSAGES = 3;
const HEADING =
  /^[\s#*_>\d.)-]*(?:(?:suggested |recommended |possible )?next steps?|remaining(?: \w+){0,2}|still (?:to do|open|missing)|to-?do|open (?:tasks|questions|items|points)|outstanding|follow-?ups?|not (?:yet )?done)\b[^.!?]{0,40}$/i;
const ITEM = /^(?:[-*•+]|\d{1,2}[.)])\s+(.*)$/;
const UNTICKED = /^[-*+]\s+\[ \]\s+(.*)$/;

/** Lists the open tasks of events with their calls, in the order they were written down; may be empty. */
export function openTasks(events: readonly PlacedEvent[], calls: readonly ToolCall[]): readonly string[] {
  const kept = [...newestList(calls), ...singleTasks(calls)];
  const tasks = kept.length > 0 ? kept : tasksInMessages(events);
  return [...new Set(tasks.map((task) => cutEnd(oneLine(task), TASK_CHARS)))]
    .filter((task) => task !== "")
    .slice(0, MOST_TASKS);
}

/** The open ones of the newest list whose entries have a status and a text. */
function newestList(calls: readonly ToolCall[]): readonly string[] {
  for (const { request, response } of [...calls].reverse()) {
    const entries = response?.is_error === true ? null : listIn(request.arguments);
    if (entries !== null) return entries.filter(({ isOpen }) => isOpen).map(({ text }) => text);
  }
  return [];
}

interface TaskEntry {
  readonly text: string;
  readonly isOpen: boolean;
}

function listIn(args: unknown): readonly TaskEntry[] | null {
  for (const value of Object.values(fieldsOf(args))) {
    if (!Array.isArray(value) || value.length === 0) continue;
    const entries = value.map(taskOf);
    if (entries.every((entry) => entry !== null)) return entries;
  }
  return null;
}

function taskOf(value: unknown): TaskEntry | null {
  const fields = fieldsOf(value);
  const { status } = fields;
  const text = TEXT_KEYS.map((key) => fields[key]).find((part) => typeof part === "string");
  return typeof status === "string" && text !== undefined ? { text, isOpen: !CLOSED.test(status) } : null;
}

/** Claude Code's TaskCreate and TaskUpdate: one call for each task and for each change of it. */
function singleTasks(calls: readonly ToolCall[]): readonly string[] {
  const tasks = new Map<string, TaskEntry>();
  for (const { request, response } of calls) {
    if (response?.is_error === true) continue;
    const { subject, taskId, status } = fieldsOf(request.arguments);
    if (request.name === "TaskCreate" && typeof subject === "string") {
      tasks.set(taskNumber(response) ?? String(tasks.size + 1), { text: subject, isOpen: true });
    } else if (request.name === "TaskUpdate" && typeof status === "string") {
      const task = tasks.get(String(taskId));
      if (task !== undefined) tasks.set(String(taskId), { ...task, isOpen: !CLOSED.test(status) });
    }
  }
  return [...tasks.values()].filter(({ isOpen }) => isOpen).map(({ text }) => text);
}

/** The number that the answer gives the new task: `Task #3 created`. */
function taskNumber(response: ToolCallResponse | null): string | undefined {
  return response === null ? undefined : /#(\w{1,20})/.exec(textOfContent(response.content).slice(0, 200))?.[1];
}

/** What the newest message with such a list, after the last request, says is left. */
function tasksInMessages(events: readonly PlacedEvent[]): readonly string[] {
  let searched = 0;
  for (let at = events.length - 1; at >= 0 && searched < SEARCHED_MESSAGES; at -= 1) {
    const event = events[at]?.event as Event;
    // Later requests may have settled what an earlier answer left.
    if (isUserRequest(event)) break;
    if (event.type !== "chat_response" || event.message === undefined) continue;
    searched += 1;
    const tasks = textsOf(event).flatMap(tasksInText);
    if (tasks.length > 0) return tasks;
  }
  return [];
}

function tasksInText(text: string): readonly string[] {
  const tasks: string[] = [];
  let isListed = false;
  scanLines(text, (start, end) => {
    const line = text.slice(start, Math.min(end, start + 2 * TASK_CHARS));
    const unticked = UNTICKED.exec(line)?.[1];
    const item = ITEM.exec(line)?.[1];
    if (unticked !== undefined) tasks.push(unticked);
    else if (item !== undefined && isListed) tasks.push(item);
    else isListed = HEADING.test(line);
  });
  return tasks;
}
