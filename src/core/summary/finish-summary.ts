// Turns an accepted answer into what is stored: the text with the ledger behind it, and files and tasks. What the events show by
// themselves comes from them and comes first; the model only adds to it.
import type { EventLedger } from "./event-ledger.ts";
import { renderLedger } from "./ledger-text.ts";
import type { SummaryAnswer } from "./summary-answer.ts";

/** The text of a summary with its lists. */
export interface FinishedSummary {
  readonly summary: string;
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
}

/** Most files that are listed beside those that were modified. */
const MOST_OTHER_FILES = 200;
/** Longest ledger, characters. */
const LEDGER_CHARS = 8000;
/** Characters of the ledger for each token that the summary saves: it may take about half of them. */
const CHARS_PER_SAVED_TOKEN = 1.5;

/** Finishes an answer; `savedTokens` = tokens that its text is shorter than what it replaces, ≥ 0. */
export function finishSummary(answer: SummaryAnswer, ledger: EventLedger, savedTokens: number): FinishedSummary {
  const limit = Math.min(LEDGER_CHARS, Math.floor(savedTokens * CHARS_PER_SAVED_TOKEN));
  const section = renderLedger(ledger, { text: answer.summary, limit });
  return {
    summary: section === "" ? answer.summary : `${answer.summary}\n\n${section}`,
    files: listFiles(answer, ledger),
    open_tasks: answer.open_tasks,
  };
}

function listFiles({ files }: SummaryAnswer, { modified, read }: EventLedger): readonly string[] {
  const known = [...modified, ...read];
  const isKnown = (file: string): boolean => {
    const end = `/${file.replace(/^\.?\//, "")}`;
    return known.some((path) => path === file || path.endsWith(end));
  };
  const named = files.filter((file) => !isKnown(file));
  return [...modified, ...[...read, ...named].slice(0, MOST_OTHER_FILES)];
}
