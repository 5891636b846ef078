// What a person says of a conversation beside its title: that it is archived, and its labels. Records under meta/ hold it,
// the latest of each kind counts.
import { userError } from "./errors.ts";
import { forLine } from "./safe-text.ts";

/** Longest label, characters (code points). */
const LONGEST = 50;
/** Labels of one conversation that are shown: others came from somewhere else than jpg. */
const MOST = 50;

/** A record under meta/ as far as marks go. */
export interface MarkRecord {
  readonly archived?: unknown;
  readonly labels?: unknown;
}

export interface ConversationMarks {
  readonly archived: boolean;
  /** Each once, ordered by name. */
  readonly labels: readonly string[];
}

/** Gives the marks in force; `records` = all of meta/, oldest first. What is damaged does not count. */
export function marksInForce(records: readonly MarkRecord[]): ConversationMarks {
  let archived = false;
  let labels: readonly string[] = [];
  for (const record of records) {
    if (typeof record.archived === "boolean") archived = record.archived;
    if (Array.isArray(record.labels)) labels = cleanLabels(record.labels);
  }
  return { archived, labels };
}

/** Parses a label that a person gives: one line without commas. Throws `bad_label`. */
export function parseLabel(text: string): string {
  const label = forLine(text).normalize("NFC");
  if (label !== "" && !label.includes(",") && [...label].length <= LONGEST) return label;
  throw userError(
    "bad_label",
    `${JSON.stringify(forLine(text, LONGEST))} is not a valid label: expected 1 to ${LONGEST} characters, no comma.`,
    {
      hints: ["Several labels are several words: jpg label @ parser release"],
    },
  );
}

/** Gives labels each once, ordered by name. */
export function sortLabels(labels: Iterable<string>): readonly string[] {
  return [...new Set(labels)].sort((a, b) => (a < b ? -1 : 1));
}

function cleanLabels(values: readonly unknown[]): readonly string[] {
  const lines = values.flatMap((value) =>
    typeof value === "string" ? [forLine(value, LONGEST).normalize("NFC")] : [],
  );
  return sortLabels(lines.filter((line) => line !== "")).slice(0, MOST);
}
