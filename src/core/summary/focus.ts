// The focus of a summary: which kind of work a stretch of a conversation is, told from its tools and words, and what a summary
// of such work should dwell on. A guess that only adds emphasis: everything else a summary must hold stays asked for.
import type { Event } from "../event/event.ts";
import { isUserRequest } from "../event/event.ts";
import { textsOf } from "../loss/event-texts.ts";
import { errorLines } from "../loss/line-facts.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";

export type WorkKind = "code review" | "implementation" | "debugging" | "planning" | "questions";

/** What a summary of a kind of work dwells on, completing "dwell on". */
const EMPHASIS: Readonly<Record<WorkKind, string>> = {
  "code review": "what was criticised, where exactly, how grave it is, and what was agreed on",
  implementation:
    "how the parts are built and why so, the files and functions that were changed, and what is unfinished",
  debugging: "error messages word for word, what was ruled out, the cause that was found, and how it was solved",
  planning: "decisions with their reasons, alternatives that were turned down, and how the tasks are cut and ordered",
  questions: "the facts and conclusions of each answer, and what stayed unanswered",
};

/** What words of the user's requests count for, in the kinds that they hint at. */
const WORDS: readonly (readonly [WorkKind, RegExp])[] = [
  ["code review", /\b(?:review|pull request|merge request|PR|nitpick|approve|LGTM|feedback on|critique)\b/i],
  ["implementation", /\b(?:implement|add|create|build|write|refactor|rename|migrate|support|port)\b/i],
  [
    "debugging",
    /\b(?:bug|debug|error|fails?|failing|failed|crash(?:es|ed)?|broken|stack ?trace|exception|regression|flaky|why does|fix)\b/i,
  ],
  [
    "planning",
    /\b(?:plan|design|approach|architecture|roadmap|trade-?offs?|should we|milestones?|prioriti[sz]e|proposal|spec)\b/i,
  ],
];

/** Signs that outweigh another kind's by this much make a kind the only one. */
const CLEARLY = 2;
/** Signs without which no kind is told. */
const LEAST_SIGNS = 2;

/** Tells which kinds of work events are, the likeliest first; one or two, none when too little tells. */
export function detectWork(events: Iterable<Event>): readonly WorkKind[] {
  const signs = countSigns(events);
  const [first, second] = [...signs].filter(([, count]) => count >= LEAST_SIGNS).sort((a, b) => b[1] - a[1]);
  if (first === undefined) return [];
  return second === undefined || first[1] >= CLEARLY * second[1] ? [first[0]] : [first[0], second[0]];
}

/**
 * Words what a summary should pay special attention to: what the user asked for, then what the kinds of work suggest. Empty
 * when there is neither.
 */
export function wordFocus(asked: readonly string[], work: readonly WorkKind[]): string {
  const areas = asked.map((area) => area.trim()).filter((area) => area !== "");
  return [
    ...(areas.length === 0 ? [] : [`Pay special attention to: ${areas.join("; ")}.`]),
    ...work.map(
      (kind) => `This is ${kind === "questions" ? "about questions and answers" : kind}: dwell on ${EMPHASIS[kind]}.`,
    ),
  ].join("\n");
}

interface Tally {
  requests: number;
  questions: number;
  edits: number;
  reads: number;
  calls: number;
  errors: number;
  plans: number;
}

function countSigns(events: Iterable<Event>): ReadonlyMap<WorkKind, number> {
  const tally: Tally = { requests: 0, questions: 0, edits: 0, reads: 0, calls: 0, errors: 0, plans: 0 };
  const words = new Map<WorkKind, number>();
  for (const event of events) {
    if (isUserRequest(event)) countRequest(textsOf(event).join("\n").slice(0, REQUEST_CHARS), tally, words);
    else if (event.type === "tool_call_request") countCall(event, tally);
    else if (errorLines(event).length > 0) tally.errors += 1;
  }
  const said = (kind: WorkKind): number => words.get(kind) ?? 0;
  const { requests, questions, edits, reads, calls, errors, plans } = tally;
  const isTalk = calls <= requests;
  return new Map<WorkKind, number>([
    ["code review", 2 * said("code review") + (edits === 0 && reads > 2 && said("code review") > 0 ? 2 : 0)],
    ["implementation", said("implementation") + Math.min(edits, 3 * requests + 3)],
    ["debugging", 2 * said("debugging") + Math.min(errors, 2 * requests + 2)],
    ["planning", 2 * said("planning") + 2 * plans],
    ["questions", isTalk ? 2 * questions : questions >> 1],
  ]);
}

/** How much of a request is looked at, characters: a pasted log says little of what is wanted. */
const REQUEST_CHARS = 2000;

function countRequest(text: string, tally: Tally, words: Map<WorkKind, number>): void {
  tally.requests += 1;
  if (/\?\s*$/m.test(text)) tally.questions += 1;
  for (const [kind, pattern] of WORDS) {
    // One request is one sign, however often it says the word.
    if (text.search(pattern) >= 0) words.set(kind, (words.get(kind) ?? 0) + 1);
  }
}

const PLAN_TOOLS = /^(?:ExitPlanMode|exit_plan_mode|TodoWrite|update_plan|write_todos|todowrite)$/;

function countCall(call: Extract<Event, { type: "tool_call_request" }>, tally: Tally): void {
  tally.calls += 1;
  const { kind } = callFacts(call);
  if (isWriting(kind)) tally.edits += 1;
  if (kind === "read" || kind === "search") tally.reads += 1;
  if (PLAN_TOOLS.test(call.name) && tally.plans < MOST_PLANS) tally.plans += 1;
}

/** Agents write their list of tasks again and again. */
const MOST_PLANS = 2;
