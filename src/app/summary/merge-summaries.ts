// Merges the summaries of the parts of one range, each made from its raw events: by the model, or, where it gives no answer that
// can be used, section by section. A merge that fails loses nothing.

import { isRejected, joinSummaries, judgeAnswer, type SummaryAnswer } from "../../core/compact/summary-answer.ts";
import { fillTemplate, messageView, writeRecord, writeTask } from "../../core/compact/summary-prompt.ts";
import { NOTHING_CUT, writeEntries } from "../../core/compact/transcript.ts";
import { estimateTextTokens } from "../../core/conversation/text-tokens.ts";
import { JpgError } from "../../core/errors.ts";
import { askForSummary, refuseAborted, type Summarizer, summaryRejected } from "./ask-summary.ts";
import { factsFor, judgedTemplate, type SummarySource } from "./summary-source.ts";

/** The summary of one part. */
export interface PartAnswer {
  /** Its turns, in words. */
  readonly subject: string;
  readonly answer: SummaryAnswer;
}

/** The parts, and what they are parts of. */
export interface MergeWork {
  /** Two or more, in order. */
  readonly answers: readonly PartAnswer[];
  readonly source: SummarySource;
  /** Most tokens that may be sent beside the task. */
  readonly budget: number;
}

/** Merges. Throws `interrupted`, and `summary_rejected` when even the joined sections may not stand for the range. */
export async function mergeSummaries(summarizer: Summarizer, work: MergeWork): Promise<SummaryAnswer> {
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
  const asked = instructions === "" ? "" : `The summaries were asked for so:\n\n${instructions}`;
  const merge = fillTemplate("summary-merge", templates.merge, { turns: subject, asked });
  return askForSummary(summarizer, {
    facts: factsFor(summarizer, source, source.events),
    task: writeTask(templates, { ...source.task, text: merge }),
    viewOf: (task) =>
      messageView(writeRecord(templates, { transcript, subject, task, part: ", as summaries of its parts" })),
  });
}
