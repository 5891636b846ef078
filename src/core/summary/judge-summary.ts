// Whether an answer may stand for turns: only a whole one, with all sections that were asked for, that is shorter than what it replaces and, when
// that is asked for, says nothing that the events do not bear out. What is wrong is a value, worded for the user and the model.
import type { Event } from "../event/event.ts";
import { checkGrounding } from "../loss/grounding.ts";
import { readSummaryAnswer, type SummaryAnswer } from "./summary-answer.ts";
import type { SummaryTemplate } from "./summary-template.ts";

/** Why an answer is not taken. */
export type Rejection =
  | "empty"
  | "truncated"
  | "refused"
  | "called_tools"
  | "unfinished"
  | "sections_missing"
  | "inflated"
  | "ungrounded";

/** An answer that is not taken. */
export interface RejectedSummary {
  readonly rejected: Rejection;
  /** What is wrong with it, completing "The answer could not be used: …". */
  readonly detail: string;
}

/** A finished answer of a model, as far as it matters here. */
export interface FinishedAnswer {
  readonly text: string;
  /** Why it ended; only `complete` is a whole answer. */
  readonly reason: "complete" | "tool_calls" | "length" | "refusal" | "aborted" | "unknown";
}

/** What an answer is judged by. */
export interface SummaryFacts {
  readonly template: SummaryTemplate;
  /** Most tokens that the summary may have: those of what it replaces; absent = not looked at. */
  readonly mostTokens?: number;
  /** Tokens of a text, counted as those of `mostTokens`. */
  readonly countText: (text: string) => number;
  /** The raw events, when what it says must be borne out by them. */
  readonly raw?: readonly Event[];
}

/** Reads an answer, or says why it is not taken. */
export function judgeSummary(answer: FinishedAnswer, facts: SummaryFacts): SummaryAnswer | RejectedSummary {
  const ending = judgeEnding(answer);
  if (ending !== null) return ending;
  return judgeAnswer(readSummaryAnswer(answer.text, facts.template.names), facts);
}

/** Gives back an answer that was read, or says why it is not taken. */
export function judgeAnswer(read: SummaryAnswer, facts: SummaryFacts): SummaryAnswer | RejectedSummary {
  return judgeContent(read, facts) ?? read;
}

/** Whether it was rejected. */
export function isRejected(judged: SummaryAnswer | RejectedSummary): judged is RejectedSummary {
  return "rejected" in judged;
}

function judgeEnding({ reason, text }: FinishedAnswer): RejectedSummary | null {
  switch (reason) {
    case "complete":
      return text.trim() === "" ? { rejected: "empty", detail: "it is empty" } : null;
    case "length":
      return { rejected: "truncated", detail: "it was cut off at the longest answer that the model gives" };
    case "refusal":
      return { rejected: "refused", detail: "the model refused to write it" };
    case "tool_calls":
      return { rejected: "called_tools", detail: "it calls tools in place of giving the summary" };
    case "aborted":
    case "unknown":
      return { rejected: "unfinished", detail: "it ended without saying that it is complete" };
    default:
      return reason satisfies never;
  }
}

/** The beginning of an answer that declines, where no section follows. */
const DECLINES =
  /^(?:I['’]m sorry|I am sorry|Sorry|I can(?:no|['’])t|I can not|I won['’]t|I['’]m (?:not able|unable)|I am (?:not able|unable)|As an AI)\b/i;

/** A longer answer that begins so says more than that it declines. */
const DECLINING_CHARS = 400;

function judgeContent(read: SummaryAnswer, facts: SummaryFacts): RejectedSummary | null {
  const { summary, sections } = read;
  if (summary === "") return { rejected: "empty", detail: "it holds no summary" };
  const missing = facts.template.required.filter((name) => !sections.has(name));
  if (missing.length > 0) {
    if (sections.size === 0 && DECLINES.test(summary))
      return { rejected: "refused", detail: "the model declined to write it" };
    return { rejected: "sections_missing", detail: `it lacks ${listSections(missing)}` };
  }
  const isShort = summary.length < DECLINING_CHARS;
  if (facts.template.required.length === 0 && isShort && DECLINES.test(summary))
    return { rejected: "refused", detail: "the model declined to write it" };
  return judgeSize(summary, facts) ?? judgeGrounding(summary, facts);
}

function listSections(names: readonly string[]): string {
  return `${names.length === 1 ? "the section" : "the sections"} ${names.join(", ")}`;
}

function judgeSize(summary: string, { mostTokens, countText }: SummaryFacts): RejectedSummary | null {
  const tokens = Math.round(countText(summary));
  if (mostTokens === undefined || tokens <= mostTokens) return null;
  return {
    rejected: "inflated",
    detail: `it is longer than what it replaces (${tokens} tokens for ${Math.round(mostTokens)})`,
  };
}

/** Findings named before the rest is left out. */
const MOST_NAMED = 8;

function judgeGrounding(summary: string, { raw }: SummaryFacts): RejectedSummary | null {
  const found = raw === undefined ? [] : checkGrounding(summary, raw);
  if (found.length === 0) return null;
  const named = found.slice(0, MOST_NAMED).map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  return {
    rejected: "ungrounded",
    detail: `it says what the turns do not: ${named.join(", ")}${found.length > MOST_NAMED ? ", …" : ""}`,
  };
}
