// What a summary model is asked: the task in words, and the view that carries it. In the transcript form the raw events are one message of
// text. In the suffix form the conversation's own thread comes first, word for word, so that the provider reads it from its prompt cache,
// and one message after it asks for the summary.
import { type Event, isUserRequest, type ProjectedTurn, traitsOf, type View } from "../conversation/event.ts";
import { JpgError } from "../errors.ts";
import { errorLines } from "./facts.ts";
import { textsOf } from "./hidden-content.ts";
import { callFacts, isWriting } from "./tool-call.ts";
import type { Transcript } from "./transcript.ts";

/** The template files that make up a task, by purpose. */
export interface PromptTemplates {
  readonly summary: SummaryTemplate;
  readonly answer: string;
  /** Asked when the user's own instructions say what to write. */
  readonly own: string;
  /** Added when the last turn is cut. */
  readonly cut: string;
  readonly record: string;
  readonly retry: string;
}

export interface TaskOptions {
  /** What is summarised, in words: `turns 0 to 12`, `the conversation above`. */
  readonly subject: string;
  /** Replaces the template's text and sections; used verbatim. */
  readonly instructions?: string;
  /** Replaces the template's text; the sections stay. */
  readonly text?: string;
  /** Whether the last turn continues after what is summarised. */
  readonly isCut?: boolean;
  /** Sentences about what to emphasise; may be empty. */
  readonly focus: string;
  /** Longest summary, words; > 0. */
  readonly words: number;
  /** More fields to return in the block next to `files` and `open_tasks`. */
  readonly block?: Readonly<Record<string, unknown>>;
}

/** Words per token of prose, and the bounds of a summary's length. */
const WORDS_PER_TOKEN = 0.7;
const LEAST_WORDS = 150;
const MOST_WORDS = 2500;
/** Share of the original that is left: 70 % compression. */
const KEPT_SHARE = 0.3;

/** Returns the longest summary to ask for, words, when so many tokens are replaced. */
export function wordLimit(tokens: number): number {
  return Math.min(MOST_WORDS, Math.max(LEAST_WORDS, Math.round((tokens * KEPT_SHARE * WORDS_PER_TOKEN) / 50) * 50));
}

/** Words the task of writing a summary. */
export function writeTask(templates: TaskTemplates, options: TaskOptions): string {
  const { summary, answer, own, cut } = templates;
  const { subject, instructions, text, focus, words, block, isCut = false } = options;
  const common = { focus, words: String(words), cut: isCut ? cut.trim() : "" };
  if (instructions !== undefined)
    return fillTemplate("summary-own", own, { ...common, text: text ?? instructions, turns: subject });
  return fillTemplate("summary-answer", answer, {
    ...common,
    text: text ?? fillTemplate("summary text", summary.text, { turns: subject }),
    sections: summary.sections,
    block: JSON.stringify({ ...block, files: ["…"], open_tasks: ["…"] }),
  });
}

type TaskTemplates = Pick<PromptTemplates, "summary" | "answer" | "own" | "cut">;

/** Words the task again, after an answer that could not be used. */
export function writeRetry({ retry }: Pick<PromptTemplates, "retry">, task: string, reason: string): string {
  return fillTemplate("summary-retry", retry, { task, reason });
}

/** Puts a task after a transcript; `part` = which of several parts it is, else empty. */
export function writeRecord(
  { record }: Pick<PromptTemplates, "record">,
  { transcript, subject, task, part }: { transcript: Transcript; subject: string; task: string; part: string },
): string {
  return fillTemplate("summary-record", record, {
    turns: subject,
    part,
    mark: transcript.mark,
    shortened: describeShortened(transcript),
    record: transcript.text,
    task,
  });
}

/** Describes texts that did not fit whole; "" if all did. */
function describeShortened({ cut }: Transcript): string {
  if (cut.texts === 0) return "";
  const texts = cut.texts === 1 ? "One text was" : `${cut.texts} texts were`;
  return `${texts} shortened in the middle, by ${cut.chars} characters in all, because the record would not fit otherwise; where it was done, it says so.`;
}

export function nameTurns(from: number, to: number): string {
  return from === to ? `turn ${from}` : `turns ${from} to ${to}`;
}

/** Creates the view of one message. */
export function messageView(text: string): View {
  return { turns: [messageTurn(text, 0)] };
}

/** Appends a message to the beginning of a view. */
export function suffixView(beginning: readonly ProjectedTurn[], text: string): View {
  return { turns: [...beginning, messageTurn(text, beginning.length)] };
}

/**
 * Returns the beginning of a view if it shows exactly the covered raw events, as the same objects, so that a summary may be asked for after
 * it; null otherwise. So no compacted content ever reaches a summariser.
 */
export function rawBeginning(view: View, covered: readonly Event[]): readonly ProjectedTurn[] | null {
  const wanted = covered.filter((event) => traitsOf(event).providerVisible);
  const beginning: ProjectedTurn[] = [];
  let left = wanted.length;
  for (const turn of view.turns) {
    if (left === 0) break;
    if (turn.origin.kind !== "kept") return null;
    const events = takeVisible(turn.events, left);
    beginning.push({ ...turn, events });
    left -= events.filter((event) => traitsOf(event).providerVisible).length;
  }
  const shown = beginning.flatMap(({ events }) => events).filter((event) => traitsOf(event).providerVisible);
  return wanted.length > 0 && left === 0 && shown.every((event, at) => event === wanted[at]) ? beginning : null;
}

/** The events up to the `count`th that a model is sent. */
function takeVisible(events: readonly Event[], count: number): readonly Event[] {
  let left = count;
  const end = events.findIndex((event) => traitsOf(event).providerVisible && left-- === 1);
  return end < 0 ? events : events.slice(0, end + 1);
}

const NO_TIME = "1970-01-01T00:00:00Z";

function messageTurn(text: string, turn: number): ProjectedTurn {
  return {
    origin: { kind: "kept", turn },
    events: [
      { type: "turn_start", id: "summary.turn", timestamp: NO_TIME },
      { type: "chat_request", id: "summary.request", timestamp: NO_TIME, content: text },
    ],
  };
}

// Fills the placeholders of a template, `{{name}}`. Invariant: none is left unfilled and no value goes unused; filled-in text is not
// scanned again, so a conversation may contain placeholders without harm.

const HOLE = /\{\{([a-z_]+)\}\}/g;

/**
 * Fills a template. A placeholder on a line of its own, filled with nothing, removes its line and an empty line after it. Throws
 * `bad_template` (kind `internal`) for a placeholder without a value and a value without a placeholder.
 */
export function fillTemplate(name: string, template: string, values: Readonly<Record<string, string>>): string {
  const holes = new Set([...template.matchAll(HOLE)].map(([, hole]) => hole ?? ""));
  const unfilled = [...holes].filter((hole) => !Object.hasOwn(values, hole));
  const unknown = Object.keys(values).filter((value) => !holes.has(value));
  if (unfilled.length > 0 || unknown.length > 0) throw badTemplate(name, unfilled, unknown);
  return template
    .replace(/^\{\{([a-z_]+)\}\}\n(\n?)/gm, (line, hole: string) => (values[hole] === "" ? "" : line))
    .replace(HOLE, (_, hole: string) => values[hole] ?? "")
    .trimEnd();
}

function badTemplate(name: string, unfilled: readonly string[], unknown: readonly string[]): JpgError {
  const problems = [
    ...unfilled.map((hole) => `nothing is given for {{${hole}}}`),
    ...unknown.map((value) => `it has no hole {{${value}}}`),
  ];
  return new JpgError("internal", "bad_template", `The template ${name} cannot be filled: ${problems.join(", ")}.`);
}

// The template of a summary: what is asked of the model, and the sections that its answer must have. One file has both; the heading `#
// Sections` separates them, so that a user's own instructions can replace the first part and keep the form of the answer.

export interface SummaryTemplate {
  /** What is asked for; may have placeholders. */
  readonly text: string;
  /** The sections with their headings, as the model is shown them. */
  readonly sections: string;
  /** Names of the sections that an answer must have, in order, without those marked `(optional)`. */
  readonly required: readonly string[];
  /** Names of all sections, in order. */
  readonly names: readonly string[];
}

const PART = /^# Sections$/m;
const HEADING = /^## (.+?)( \(optional\))?$/gm;

/** Parses a template file. Throws `bad_template` (kind `internal`) when it has no sections. */
export function parseSummaryTemplate(file: string, content: string): SummaryTemplate {
  const at = content.search(PART);
  const sections = at < 0 ? "" : content.slice(content.indexOf("\n", at) + 1).trim();
  const headings = [...sections.matchAll(HEADING)];
  const required = headings.filter(([, , optional]) => optional === undefined).map(([, name]) => name ?? "");
  if (required.length === 0) {
    const problem = `The template ${file} names no sections: expected a line "# Sections" and lines "## NAME" after it.`;
    throw new JpgError("internal", "bad_template", problem);
  }
  return {
    text: content.slice(0, at).trim(),
    sections,
    required,
    names: headings.map(([, name]) => name ?? ""),
  };
}

/** A template without sections, for judging the answer to a user's own instructions. */
export function withoutSections(template: SummaryTemplate): SummaryTemplate {
  return { ...template, sections: "", required: [], names: [] };
}

// The focus of a summary: which kind of work a stretch of a conversation is, judged by its tools and words, and what a summary of such work
// should emphasise. A guess that only adds emphasis: everything else is still asked for.

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

/** Words of the user's requests and the kinds that they hint at. */
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

/** A kind that leads by this many signs is the only one. */
const CLEARLY = 2;
/** Fewest signs of a kind. */
const LEAST_SIGNS = 2;

/** Detects which kinds of work events are, the likeliest first; one or two, none with too few signs. */
export function detectWork(events: Iterable<Event>): readonly WorkKind[] {
  const signs = countSigns(events);
  const [first, second] = [...signs].filter(([, count]) => count >= LEAST_SIGNS).sort((a, b) => b[1] - a[1]);
  if (first === undefined) return [];
  return second === undefined || first[1] >= CLEARLY * second[1] ? [first[0]] : [first[0], second[0]];
}

/**
 * Words what a summary should pay special attention to: what the user asked for, then what the kinds of work suggest. Empty when there is
 * neither.
 */
export function phraseFocus(asked: readonly string[], work: readonly WorkKind[]): string {
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

/** Characters of a request that are read: a pasted log says little about what is wanted. */
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
