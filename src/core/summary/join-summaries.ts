// Joins the summaries of consecutive parts section by section, where no model merges them: nothing that a part says is lost.
import type { SummaryAnswer } from "./summary-answer.ts";
import type { SummaryTemplate } from "./summary-template.ts";

/** Text that a section has when there is nothing to say. */
const NOTHING = /^[\s\-*•"'()[\]]*none[\s.\-"'()[\]]*$/i;

/** Joins answers, oldest part first; lines that stand in a section already are not repeated. */
export function joinSummaries(parts: readonly SummaryAnswer[], template: SummaryTemplate): SummaryAnswer {
  if (template.names.length === 0) return joinTexts(parts);
  const joined = template.names.map((name) => [name, joinSection(parts, name)] as const);
  const sections = new Map(
    joined.flatMap(([name, text]): [string, string][] =>
      text !== "" ? [[name, text]] : template.required.includes(name) ? [[name, "none"]] : [],
    ),
  );
  return {
    summary: [...sections].map(([name, text]) => `## ${name}\n${text}`).join("\n\n"),
    sections,
    files: [...new Set(parts.flatMap(({ files }) => files))],
    open_tasks: [...new Set(parts.flatMap(({ open_tasks }) => open_tasks))],
  };
}

/** Answers without sections stand one behind the other. */
function joinTexts(parts: readonly SummaryAnswer[]): SummaryAnswer {
  return {
    summary: parts.map(({ summary }) => summary).join("\n\n"),
    sections: new Map(),
    files: [...new Set(parts.flatMap(({ files }) => files))],
    open_tasks: [...new Set(parts.flatMap(({ open_tasks }) => open_tasks))],
  };
}

function joinSection(parts: readonly SummaryAnswer[], name: string): string {
  const texts = parts.map(({ sections }) => sections.get(name) ?? "").filter((text) => !NOTHING.test(text));
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.trim() !== "");
  return [...new Set(lines)].join("\n");
}
