// Sends raw events to a summary model, and judges, splits and merges its answers.

import type { PlacedEvent } from "../../core/compact/event-ledger.ts";
import {
  isRejected,
  joinSummaries,
  judgeAnswer,
  type SummaryAnswer,
  type SummaryFacts,
} from "../../core/compact/summary-answer.ts";
import {
  fillTemplate,
  messageView,
  nameTurns,
  type SummaryTemplate,
  suffixView,
  type TaskOptions,
  withoutSections,
  wordLimit,
  writeRecord,
  writeTask,
} from "../../core/compact/summary-prompt.ts";
import { fitParts, fitWhole, NOTHING_CUT, type TranscriptPart, writeEntries } from "../../core/compact/transcript.ts";
import { describeReading, type Injection, type Summary } from "../../core/conversation/compaction.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { ProjectedTurn } from "../../core/conversation/event.ts";
import { estimateTextTokens } from "../../core/conversation/text-tokens.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { JpgError } from "../../core/errors.ts";
import type { OpenedModel } from "../models/models.ts";
import {
  askForSummary,
  type RequestFrame,
  refuseAborted,
  type Summarizer,
  type SummaryStyle,
  summaryRejected,
} from "./ask-summary.ts";

/** The conversation's own thread, at whose end a summary may be asked for. */
export interface SuffixThread {
  readonly beginning: readonly ProjectedTurn[];
  readonly frame: RequestFrame;
  /** Estimated tokens of the whole thread. */
  readonly tokens: number;
}

/** What is summarised, and how the summary is judged. */
export interface SummarySource {
  /** Raw events, in order. */
  readonly events: readonly PlacedEvent[];
  readonly task: TaskOptions;
  /** Context window of the model, tokens. */
  readonly windowTokens: number;
  readonly countText: (text: string) => number;
  /** Most tokens of the summary; absent = no limit. */
  readonly mostTokens?: number;
  /** Whether its claims must be grounded in the events. */
  readonly isStrict: boolean;
  readonly suffix: SuffixThread | null;
}

/** Collects the criteria for an answer over events. */
function factsFor(
  summarizer: Pick<Summarizer, "templates">,
  source: Pick<SummarySource, "countText" | "mostTokens" | "isStrict" | "task">,
  events: readonly PlacedEvent[],
): SummaryFacts {
  const { countText, mostTokens, isStrict } = source;
  return {
    template: judgedTemplate(summarizer, source),
    countText,
    mostTokens,
    ...(isStrict ? { raw: events.map(({ event }) => event) } : {}),
  };
}

/** Returns the sections that an answer must have: none if it followed the user's own instructions. */
function judgedTemplate(
  { templates }: Pick<Summarizer, "templates">,
  { task }: Pick<SummarySource, "task">,
): SummaryTemplate {
  return task.instructions === undefined ? templates.summary : withoutSections(templates.summary);
}

/** Options for writing a summary. */
export interface SummaryRequest {
  /** Summary model as `provider/model`, or `extractive`; absent = the profile's, the configured one, else jpg chooses. */
  readonly model?: string;
  /** The model in use, as `provider/model`; jpg chooses one of its provider. */
  readonly answering?: string;
  /** What the summary should focus on, in the user's words. */
  readonly focus?: readonly string[];
  /** Replace the instructions of the template and the profile. */
  readonly instructions?: string;
  /** Template; absent = `sections`. */
  readonly style?: SummaryStyle;
  /** How the summary appears in the thread; absent = `pair`. */
  readonly inject?: Injection;
  /** Aborts the writing; nothing is committed then. */
  readonly signal?: AbortSignal;
  /** Reject a summary with ungrounded claims. */
  readonly strict?: boolean;
  /** Accept a summary that is longer than what it replaces. */
  readonly force?: boolean;
  /**
   * Tools that the conversation's own requests offer; a request that continues its thread needs them to hit the provider's cache.
   */
  readonly tools?: readonly ToolDefinition[];
  /** Receives progress, a line at a time. It may quote the conversation: not yet safe for a terminal. */
  readonly progress?: (text: string) => void;
  /** Opens the chosen model; absent = by the settings. */
  readonly openModel?: (name: string) => Promise<OpenedModel>;
}

// Raw events reach a summary model at the end of the conversation's own thread, as one transcript, or in parts whose summaries are
// merged. Each part is summarised from raw events; if no model merges them, parts are joined section by section.

/** Share of the window that is used, since estimates err. */
const USED_SHARE = 0.9;
/** How often the budget is halved after the provider says that a request does not fit. */
const MOST_HALVINGS = 3;
/** Smallest budget for a record, tokens; below it no halving helps. */
const LEAST_BUDGET = 500;

/** A summary, with how its events were split and shortened. */
interface EventsSummary {
  readonly answer: SummaryAnswer;
  readonly reading: Pick<Summary, "parts" | "shortened">;
}

/** Summarises events. Throws `summary_rejected`, `interrupted`, and the provider's errors. */
export async function summarizeEvents(summarizer: Summarizer, source: SummarySource): Promise<EventsSummary> {
  const task = writeTask(summarizer.templates, source.task);
  const room = source.windowTokens * USED_SHARE - summarizer.maxTokens - estimateTextTokens(task);
  if (source.suffix !== null && source.suffix.tokens <= room) {
    const answer = await askAfterThread(summarizer, source, source.suffix);
    if (answer !== null) return { answer, reading: {} };
  }
  let budget = Math.max(LEAST_BUDGET, room);
  for (let halvings = 0; ; halvings += 1) {
    try {
      return await askWritten(summarizer, source, budget);
    } catch (error) {
      if (!isOverflow(error) || halvings === MOST_HALVINGS || budget <= LEAST_BUDGET) throw error;
      budget = Math.max(LEAST_BUDGET, sizeSent(source, budget) / 2);
      summarizer.progress("the request is too large for the model; asking in smaller parts");
    }
  }
}

/** Returns the tokens of the largest record within a budget. */
function sizeSent({ events }: SummarySource, budget: number): number {
  const whole = fitWhole(events, budget);
  return whole === null ? budget : estimateTextTokens(whole.text);
}

/** Asks at the end of the conversation's thread; null when the model calls tools instead, or the request does not fit. */
async function askAfterThread(
  summarizer: Summarizer,
  source: SummarySource,
  { beginning, frame, tokens }: SuffixThread,
): Promise<SummaryAnswer | null> {
  reportStart(summarizer, source, tokens, "at the end of its own thread");
  try {
    return await askForSummary(summarizer, {
      facts: factsFor(summarizer, source, source.events),
      task: writeTask(summarizer.templates, { ...source.task, subject: "the conversation above" }),
      viewOf: (task) => suffixView(beginning, task),
      frame,
    });
  } catch (error) {
    const isMisled = error instanceof JpgError && error.data["reason"] === "called_tools";
    if (isMisled || isOverflow(error)) return null;
    throw error;
  }
}

/** Asks with a transcript of the events, whole or in parts of at most `budget` tokens. */
async function askWritten(summarizer: Summarizer, source: SummarySource, budget: number): Promise<EventsSummary> {
  const whole = fitWhole(source.events, budget);
  const parts = whole === null ? fitParts(source.events, budget) : [{ events: source.events, transcript: whole }];
  const reading = readingOf(parts);
  for (const line of describeReading({ summary: "", ...reading })) summarizer.progress(`the model is asked ${line}`);
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return { answer: await askPart(summarizer, source, only), reading };
  const answers: PartAnswer[] = [];
  for (const [at, part] of parts.entries()) {
    const place = `part ${at + 1} of ${parts.length}`;
    const subject = subjectOfEvents(part.events);
    const { mostTokens: _, ...rest } = source;
    const words = wordLimit(estimateTextTokens(part.transcript.text));
    const isCut = at < parts.length - 1 ? isCutTurn(part, parts[at + 1]) : (source.task.isCut ?? false);
    const own = { ...rest, events: part.events, task: { ...source.task, subject, words, isCut } };
    answers.push({ subject, answer: await askPart(summarizer, own, part, place) });
  }
  return { answer: await mergeSummaries(summarizer, { answers, source, budget }), reading };
}

function readingOf(parts: readonly TranscriptPart[]): EventsSummary["reading"] {
  const texts = parts.reduce((sum, { transcript }) => sum + transcript.cut.texts, 0);
  const chars = parts.reduce((sum, { transcript }) => sum + transcript.cut.chars, 0);
  return {
    ...(parts.length > 1 && { parts: parts.length }),
    ...(texts > 0 && { shortened: { texts, chars } }),
  };
}

/** Returns whether the next part continues the turn in which this one ends. */
function isCutTurn({ events }: TranscriptPart, next: TranscriptPart | undefined): boolean {
  return events.at(-1)?.turn === next?.events[0]?.turn;
}

function askPart(
  summarizer: Summarizer,
  source: SummarySource,
  { events, transcript }: TranscriptPart,
  place = "",
): Promise<SummaryAnswer> {
  reportStart(summarizer, source, estimateTextTokens(transcript.text), place);
  const { subject } = source.task;
  return askForSummary(summarizer, {
    facts: factsFor(summarizer, source, events),
    task: writeTask(summarizer.templates, source.task),
    viewOf: (task) =>
      messageView(
        writeRecord(summarizer.templates, { transcript, subject, task, part: place === "" ? "" : `, ${place}` }),
      ),
  });
}

function subjectOfEvents(events: readonly PlacedEvent[]): string {
  return nameTurns(events[0]?.turn ?? 0, events.at(-1)?.turn ?? 0);
}

function reportStart({ opened, progress }: Summarizer, { task }: SummarySource, tokens: number, note: string): void {
  const more = note === "" ? "" : `, ${note}`;
  progress(`summarising ${task.subject}${more} with ${opened.name} (about ${formatTokens(tokens)} tokens)`);
}

function isOverflow(error: unknown): boolean {
  return error instanceof JpgError && error.code === "context_overflow";
}

// Merges the summaries of a range's parts, by the model or, if it gives no usable answer, section by section. Nothing is lost if a
// merge fails.

interface PartAnswer {
  readonly subject: string;
  readonly answer: SummaryAnswer;
}

interface MergeWork {
  /** Two or more, in order. */
  readonly answers: readonly PartAnswer[];
  readonly source: SummarySource;
  /** Most tokens sent in addition to the task. */
  readonly budget: number;
}

/** Merges summaries. Throws `interrupted`, and `summary_rejected` when even the joined sections are not acceptable. */
async function mergeSummaries(summarizer: Summarizer, work: MergeWork): Promise<SummaryAnswer> {
  const { answers, source, budget } = work;
  const { text, mark } = writeEntries(answers.map(({ subject, answer }) => ({ label: subject, body: answer.summary })));
  if (estimateTextTokens(text) <= budget) {
    summarizer.progress(`merging the summaries of ${answers.length} parts`);
    try {
      return await askToMerge(summarizer, work, { text, mark, cut: NOTHING_CUT });
    } catch (error) {
      refuseAborted(summarizer.signal);
      if (!(error instanceof JpgError) || error.kind !== "provider") throw error;
      summarizer.progress(`${error.message} The sections of the parts are joined as they are.`);
    }
  }
  const joined = joinSummaries(
    answers.map(({ answer }) => answer),
    judgedTemplate(summarizer, source),
  );
  const judged = judgeAnswer(joined, factsFor(summarizer, source, source.events));
  if (isRejected(judged)) throw summaryRejected(judged, summarizer);
  return judged;
}

function askToMerge(
  summarizer: Summarizer,
  { source }: MergeWork,
  transcript: Parameters<typeof writeRecord>[1]["transcript"],
): Promise<SummaryAnswer> {
  const { templates } = summarizer;
  const { subject, instructions = "" } = source.task;
  const asked = instructions === "" ? "" : `The instructions for the summaries were:\n\n${instructions}`;
  const merge = fillTemplate("summary-merge", templates.merge, { turns: subject, asked });
  return askForSummary(summarizer, {
    facts: factsFor(summarizer, source, source.events),
    task: writeTask(templates, { ...source.task, text: merge }),
    viewOf: (task) =>
      messageView(writeRecord(templates, { transcript, subject, task, part: ", as summaries of its parts" })),
  });
}
