// The tasks that are still open: from the newest list that a tool kept (TodoWrite, update_plan and their like, known by their
// form), from tasks kept one by one, else from what the assistant said was left. Nothing is guessed about other tools.
import { textOfContent } from "../event/content.ts";
import { type Event, isUserRequest, type ToolCallResponse } from "../event/event.ts";
import { fieldsOf } from "../event/fields.ts";
import { textsOf } from "../loss/event-texts.ts";
import { scanLines } from "../loss/line-facts.ts";
import type { PlacedEvent } from "../summary/placed-event.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { cutEnd, oneLine } from "./short-text.ts";

const TEXT_KEYS = ["content", "step", "subject", "description", "title", "task", "text", "name"] as const;
const CLOSED = /^(?:completed?|done|finished|cancell?ed|deleted|closed|skipped|resolved)$/i;
/** Most tasks given, and the longest one, characters. */
const MOST_TASKS = 40;
const TASK_CHARS = 200;

/** Messages behind the last request, newest first, that are searched for a list of what is left. */
const SEARCHED_MESSAGES = 3;
const HEADING =
  /^[\s#*_>\d.)-]*(?:(?:suggested |recommended |possible )?next steps?|remaining(?: \w+){0,2}|still (?:to do|open|missing)|to-?do|open (?:tasks|questions|items|points)|outstanding|follow-?ups?|not (?:yet )?done)\b[^.!?]{0,40}$/i;
const ITEM = /^(?:[-*•+]|\d{1,2}[.)])\s+(.*)$/;
const UNTICKED = /^[-*+]\s+\[ \]\s+(.*)$/;

/** Lists the open tasks of events with their calls, in the order they were written down; may be empty. */
export function openTasks(events: readonly PlacedEvent[], calls: readonly ToolCall[]): readonly string[] {
  const kept = [...newestList(calls), ...singleTasks(calls)];
  const tasks = kept.length > 0 ? kept : saidTasks(events);
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

/** What the newest message with such a list says is left, among those behind the last request. */
function saidTasks(events: readonly PlacedEvent[]): readonly string[] {
  let searched = 0;
  for (let at = events.length - 1; at >= 0 && searched < SEARCHED_MESSAGES; at -= 1) {
    const event = events[at]?.event as Event;
    // What an earlier answer left, later requests may have settled.
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
