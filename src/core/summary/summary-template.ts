// The template of a summary: what is asked of the model, and the sections that its answer must have. One file holds both; the
// heading `# Sections` parts them, so that a user's own instructions can replace the first and leave the form of the answer.
import { JpgError } from "../errors.ts";

export interface SummaryTemplate {
  /** What is asked for; may have holes. */
  readonly text: string;
  /** The sections with their headings, as the model is shown them. */
  readonly sections: string;
  /** Names of the sections that an answer must have, in order; those marked `(optional)` are not among them. */
  readonly required: readonly string[];
  /** Names of all sections, in order. */
  readonly names: readonly string[];
}

const PART = /^# Sections$/m;
const HEADING = /^## (.+?)( \(optional\))?$/gm;

/** Parses a template file. Throws `bad_template` (kind `internal`) when it has no sections. */
export function parseSummaryTemplate(file: string, content: string): SummaryTemplate {
  const at = content.search(PART);
  const sections = at < 0 ? "" : content.slice(content.indexOf("\n", at) + 1).trim();
  const headings = [...sections.matchAll(HEADING)];
  const required = headings.filter(([, , optional]) => optional === undefined).map(([, name]) => name ?? "");
  if (required.length === 0) {
    const problem = `The template ${file} names no sections: expected a line "# Sections" and lines "## NAME" after it.`;
    throw new JpgError("internal", "bad_template", problem);
  }
  return {
    text: content.slice(0, at).trim(),
    sections,
    required,
    names: headings.map(([, name]) => name ?? ""),
  };
}

/** A template without sections, as what somebody's own instructions ask for is judged by. */
export function withoutSections(template: SummaryTemplate): SummaryTemplate {
  return { ...template, sections: "", required: [], names: [] };
}
