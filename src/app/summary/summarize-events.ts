// How raw events reach a summary model: behind the conversation's own thread, as one transcript, or in parts whose summaries are
// merged. Every part is made from its raw events; parts that no model merges are joined section by section.

import type { SummaryAnswer } from "../../core/compact/summary-answer.ts";
import {
  messageView,
  nameTurns,
  suffixView,
  wordLimit,
  writeRecord,
  writeTask,
} from "../../core/compact/summary-prompt.ts";
import { fitParts, fitWhole, type PlacedEvent, type TranscriptPart } from "../../core/compact/transcript.ts";
import { describeReading, type Summary } from "../../core/conversation/compaction.ts";
import { estimateTextTokens } from "../../core/conversation/text-tokens.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { JpgError } from "../../core/errors.ts";
import { askForSummary, type Summarizer } from "./ask-summary.ts";
import { mergeSummaries, type PartAnswer } from "./merge-summaries.ts";
import { factsFor, type SuffixThread, type SummarySource } from "./summary-source.ts";

/** Share of the window that is used: estimates err. */
const USED_SHARE = 0.9;
/** How often the budget is halved when the provider says that a request does not fit. */
const MOST_HALVINGS = 3;
/** Tokens of a record that are worth a call; below it no halving helps. */
const LEAST_BUDGET = 500;

/** A summary, and how its events were read. */
export interface EventsSummary {
  readonly answer: SummaryAnswer;
  readonly reading: Pick<Summary, "parts" | "shortened">;
}

/** Summarises events. Throws `summary_rejected`, `interrupted`, and what the provider throws. */
export async function summarizeEvents(summarizer: Summarizer, source: SummarySource): Promise<EventsSummary> {
  const task = writeTask(summarizer.templates, source.task);
  const room = source.windowTokens * USED_SHARE - summarizer.maxTokens - estimateTextTokens(task);
  if (source.suffix !== null && source.suffix.tokens <= room) {
    const answer = await askBehind(summarizer, source, source.suffix);
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

/** Tokens of the largest record that a budget let through. */
function sizeSent({ events }: SummarySource, budget: number): number {
  const whole = fitWhole(events, budget);
  return whole === null ? budget : estimateTextTokens(whole.text);
}

/** Asks behind the conversation's thread; null when it turns out not to be the place to ask. */
async function askBehind(
  summarizer: Summarizer,
  source: SummarySource,
  { beginning, frame, tokens }: SuffixThread,
): Promise<SummaryAnswer | null> {
  tellStart(summarizer, source, tokens, "behind its own thread");
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

/** Asks with the events written down: whole, or in parts of at most so many tokens. */
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

/** Whether the next part goes on with the turn that this one ends in. */
function isCutTurn({ events }: TranscriptPart, next: TranscriptPart | undefined): boolean {
  return events.at(-1)?.turn === next?.events[0]?.turn;
}

function askPart(
  summarizer: Summarizer,
  source: SummarySource,
  { events, transcript }: TranscriptPart,
  place = "",
): Promise<SummaryAnswer> {
  tellStart(summarizer, source, estimateTextTokens(transcript.text), place);
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

function tellStart({ opened, progress }: Summarizer, { task }: SummarySource, tokens: number, note: string): void {
  const more = note === "" ? "" : `, ${note}`;
  progress(`summarising ${task.subject}${more} with ${opened.name} (about ${formatTokens(tokens)} tokens)`);
}

function isOverflow(error: unknown): boolean {
  return error instanceof JpgError && error.code === "context_overflow";
}
