// Asks a model for a summary and takes only an answer that may stand for turns: one that is not is asked for once more, with what
// was wrong with it, and then given up. Nothing is stored here.

import {
  type FinishedAnswer,
  isRejected,
  judgeSummary,
  type RejectedSummary,
  type SummaryAnswer,
  type SummaryFacts,
} from "../../core/compact/summary-answer.ts";
import { writeRetry } from "../../core/compact/summary-prompt.ts";
import type { View } from "../../core/conversation/event.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { OpenedModel } from "../models/models.ts";
import type { RequestFrame } from "./request-frame.ts";
import { addSpending, type Spending } from "./summary-spending.ts";
import type { SummaryTemplates } from "./summary-templates.ts";

/** Who is asked, and how. */
export interface Summarizer {
  readonly opened: OpenedModel;
  readonly templates: SummaryTemplates;
  /** Longest answer, tokens. */
  readonly maxTokens: number;
  readonly spending: Spending;
  readonly signal?: AbortSignal;
  /** Told what is going on, a line at a time. */
  progress(text: string): void;
}

/** One summary to be written. */
export interface SummaryTask {
  readonly task: string;
  /** The view that carries a task. */
  readonly viewOf: (task: string) => View;
  readonly facts: SummaryFacts;
  /** What the request has of the conversation's own, beside the view. */
  readonly frame?: RequestFrame;
}

/** How often an answer is asked for. */
const ATTEMPTS = 2;

/** Asks. Throws `summary_rejected` (kind `provider`), `interrupted`, and what the provider throws. */
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
    ...defined({ signal }),
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

/** Throws `interrupted` when the signal was given. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted();
}

/** Creates the error of an answer that was given up. */
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
