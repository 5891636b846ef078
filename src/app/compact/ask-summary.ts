// Asks a model for a summary and checks the answer. If it is not acceptable, asks once more with the reason, then gives up. Stores
// nothing.
import {
  type FinishedAnswer,
  isRejected,
  judgeSummary,
  type RejectedSummary,
  type SummaryAnswer,
  type SummaryFacts,
} from "../../core/compact/summary-answer.ts";
import { type PromptTemplates, parseSummaryTemplate, writeRetry } from "../../core/compact/summary-prompt.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { View } from "../../core/conversation/event.ts";
import { JpgError, userError } from "../../core/errors.ts";
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { addUsage, priceOf, readUsage, type Usage } from "../../core/model/usage.ts";
import type { LlmRequest } from "../../llm/client.ts";
import { readTemplate } from "../conversation/runtime.ts";
import type { OpenedModel } from "../models/models.ts";

/** What all requests of a conversation share besides its view. It must be identical to hit the provider's prompt cache. */
export type RequestFrame = Pick<LlmRequest, "system" | "tools" | "cache">;

/** Creates the frame of a conversation's requests; `system`: "" = none. */
export function requestFrame(system: string, tools: readonly ToolDefinition[]): RequestFrame {
  return { cache: true, ...(system === "" ? {} : { system }), ...(tools.length === 0 ? {} : { tools }) };
}

/** The model that is asked, and how. */
export interface Summarizer {
  readonly opened: OpenedModel;
  readonly templates: SummaryTemplates;
  /** Longest answer, tokens. */
  readonly maxTokens: number;
  readonly spending: Spending;
  readonly signal?: AbortSignal;
  /** Receives progress, a line at a time. */
  progress(text: string): void;
}

interface SummaryTask {
  readonly task: string;
  /** Builds the view that carries a task. */
  readonly viewOf: (task: string) => View;
  readonly facts: SummaryFacts;
  /** The conversation's own frame, if the request continues its thread. */
  readonly frame?: RequestFrame;
}

const ATTEMPTS = 2;

/** Asks for a summary. Throws `summary_rejected` (kind `provider`), `interrupted`, and the provider's errors. */
export async function askForSummary(summarizer: Summarizer, asked: SummaryTask): Promise<SummaryAnswer> {
  let task = asked.task;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await call(summarizer, asked, asked.viewOf(task));
    const judged = judgeSummary(answer, asked.facts);
    if (!isRejected(judged)) return judged;
    if (attempt === ATTEMPTS) throw summaryRejected(judged, summarizer);
    summarizer.progress(`the answer could not be used: ${judged.detail}; asking once more`);
    task = writeRetry(summarizer.templates, asked.task, judged.detail);
  }
}

function interrupted(): JpgError {
  return userError("interrupted", "Writing the summary was interrupted; nothing was committed.", {
    hints: ["Run the command again to start over."],
  });
}

async function call(summarizer: Summarizer, asked: SummaryTask, view: View): Promise<FinishedAnswer> {
  const { opened, maxTokens, signal, spending } = summarizer;
  refuseAborted(signal);
  const texts: string[] = [];
  const stream = opened.client.stream({
    model: opened.model,
    view,
    maxTokens,
    ...asked.frame,
    signal,
  });
  for await (const part of stream) {
    if (part.type === "part" && part.part.kind === "message") texts.push(part.part.text);
    if (part.type !== "stop") continue;
    addSpending(spending, part.stop.usage, opened.facts.price);
    if (part.stop.reason === "aborted") break;
    return { text: texts.join("\n"), reason: part.stop.reason };
  }
  refuseAborted(signal);
  return { text: texts.join("\n"), reason: "unknown" };
}

/** Throws `interrupted` if the signal was aborted. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted();
}

/** Creates the error for a rejected answer. */
export function summaryRejected({ rejected, detail }: RejectedSummary, { opened, spending }: Summarizer): JpgError {
  const message = `${opened.name} wrote no summary that can be stored: ${detail}.`;
  return new JpgError("provider", "summary_rejected", message, {
    data: { reason: rejected, detail, model: opened.name, calls: spending.calls },
    hints: [
      HINTS[rejected],
      "`--model NAME` asks another model; `jpg compact --emit FILE` lets anyone write the summary.",
      "Nothing was committed.",
    ],
  });
}

const HINTS: Readonly<Record<RejectedSummary["rejected"], string>> = {
  empty: "The model may be too small for a range like this: name fewer turns with --from and --to.",
  truncated: "Name fewer turns with --from and --to, or add --concise.",
  refused: "Leave out the turns that it refuses, with --from and --to.",
  called_tools: "The model mistook the record for its task.",
  unfinished: "The provider ended the answer early: try again.",
  sections_missing: "Small models may leave sections out: `jpg compact --concise` asks for fewer.",
  inflated: "There is little to shorten in this range: name more turns, or use --profile light.",
  ungrounded: "Leave out --strict to store it, with what was not found listed.",
};

// Sums usage and price over all calls for a summary, rejected ones included. Each sum is known only if every call's part is known.

/** A mutable sum over calls. */
export interface Spending {
  calls: number;
  /** Null once a call reported no usage. */
  usage: Usage | null;
  /** US dollars; null once the price of a call is unknown. */
  price: number | null;
}

export function createSpending(): Spending {
  return { calls: 0, usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, price: 0 };
}

/** Adds a call; `usage` as the provider sent it. */
function addSpending(spending: Spending, usage: unknown, price: ModelPrice | null): void {
  const read = readUsage(usage);
  const { usage: sum } = spending;
  spending.calls += 1;
  spending.usage = sum === null || read === null ? null : addUsage(sum, read);
  spending.price =
    spending.price === null || read === null || price === null ? null : spending.price + priceOf(read, price);
}

/** `sections`: the seven sections. `concise`: shorter, for chats. */
export type SummaryStyle = "sections" | "concise";

interface SummaryTemplates extends PromptTemplates {
  /** The task of merging the summaries of parts. */
  readonly merge: string;
  readonly bundle: string;
}

export async function readPromptTemplates(style: SummaryStyle = "sections"): Promise<SummaryTemplates> {
  const file = `summary-${style}.md`;
  const [summary, answer, own, cut, record, retry, merge, bundle] = await Promise.all([
    readTemplate(file),
    readTemplate("summary-answer.md"),
    readTemplate("summary-own.md"),
    readTemplate("summary-cut.md"),
    readTemplate("summary-record.md"),
    readTemplate("summary-retry.md"),
    readTemplate("summary-merge.md"),
    readTemplate("summary-bundle.md"),
  ]);
  return { summary: parseSummaryTemplate(file, summary), answer, own, cut, record, retry, merge, bundle };
}
