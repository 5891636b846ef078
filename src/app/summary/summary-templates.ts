// The templates of summary prompts, read together.
import { type PromptTemplates, parseSummaryTemplate } from "../../core/compact/summary-prompt.ts";
import { readTemplate } from "../workspace/templates.ts";

/** `sections`: the seven sections. `concise`: shorter, what chats are shortened with. */
export type SummaryStyle = "sections" | "concise";

export interface SummaryTemplates extends PromptTemplates {
  /** What is asked for where the summaries of parts are merged. */
  readonly merge: string;
  /** The instructions of a bundle. */
  readonly bundle: string;
}

/** Reads the templates of one style of summary. */
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
