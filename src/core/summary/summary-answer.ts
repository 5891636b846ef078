// The answer of a summary model: sections under headings, then a block of JSON with files and tasks. Models wrap, number, embolden
// and comment; what can be read without guessing is read, and comes out in one form.
import { defined } from "../defined.ts";
import { escapeForPattern } from "../text-pattern.ts";
import { readBlock, splitBlock } from "./answer-block.ts";

/** What an answer says, in one form. */
export interface SummaryAnswer {
  /** The sections, each under `## NAME`; the whole text where no section was found. */
  readonly summary: string;
  /** Text of each section that was found and is not empty, by the name that was asked for. */
  readonly sections: ReadonlyMap<string, string>;
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
  /** The `plan` of a bundle that the answer gives back; undefined when it has none. */
  readonly plan?: unknown;
}

/** Reads an answer; `names` = the sections that may be in it. */
export function readSummaryAnswer(text: string, names: readonly string[]): SummaryAnswer {
  const plain = unwrap(withoutThinking(text));
  const { body, block } = splitBlock(plain);
  const facts = readBlock(block);
  const spoken = facts.summary === undefined ? body : textOfSummary(facts.summary);
  const found = splitSections(spoken, names);
  const { files, open_tasks, plan } = facts;
  const rest = { files, open_tasks, ...defined({ plan }) };
  if (found.length === 0) return { summary: spoken.trim(), sections: new Map(), ...rest };
  return {
    summary: found.map(({ name, text: own }) => `## ${name}\n${own}`.trimEnd()).join("\n\n"),
    sections: new Map(found.filter(({ text: own }) => own !== "").map(({ name, text: own }) => [name, own])),
    ...rest,
  };
}

/** Takes what a model thinks before its answer away, and the tags that it puts around the answer. */
function withoutThinking(text: string): string {
  const answer = text.replace(/^\s*(?:<(think|thinking|reasoning|analysis)>[\s\S]*?<\/\1>\s*)+/i, "");
  return answer.replace(/^\s*<(summary)>([\s\S]*?)<\/\1>/i, "$2").trim();
}

/** Takes one fence around the whole answer away. */
function unwrap(text: string): string {
  const fences = [...text.matchAll(/^```.*$/gm)];
  const [first, last] = [fences[0], fences.at(-1)];
  if (first?.index !== 0 || last === undefined || first === last) return text;
  const isText = /^```(?:markdown|md|text|txt)\s*$/.test(first[0]);
  const isWhole = last.index + last[0].length === text.length && last[0].trim() === "```";
  if (!isWhole || !(isText || (first[0].trim() === "```" && fences.length % 2 === 0 && fences.length !== 2)))
    return text;
  return text.slice(first[0].length, last.index).trim();
}

/** A summary given as JSON: a text, or texts by section. */
function textOfSummary(summary: unknown): string {
  if (typeof summary === "string") return summary;
  if (Array.isArray(summary)) return summary.map((item) => `- ${textOfSummary(item)}`).join("\n");
  if (typeof summary !== "object" || summary === null) return summary === null ? "" : String(summary);
  return Object.entries(summary)
    .map(([name, value]) => `## ${name}\n${textOfSummary(value)}`)
    .join("\n\n");
}

interface Section {
  readonly name: string;
  readonly text: string;
}

/** Splits a text at its headings; what stands before the first goes. A section that comes twice is joined where it came first. */
function splitSections(text: string, names: readonly string[]): readonly Section[] {
  const headings = names.map((name) => ({ name, pattern: headingOf(name) }));
  const lead: string[] = [];
  const found = new Map<string, string[]>();
  let lines = lead;
  for (const line of text.split("\n")) {
    const heading = headings
      .map(({ name, pattern }) => ({ name, match: pattern.exec(line) }))
      .find(({ match }) => match !== null);
    if (heading === undefined) {
      lines.push(line);
      continue;
    }
    lines = found.get(heading.name) ?? [];
    found.set(heading.name, lines);
    const behind = heading.match?.[1]?.trim() ?? "";
    if (behind !== "") lines.push(behind);
  }
  return [...found].map(([name, own]) => ({ name, text: own.join("\n").trim() }));
}

/** A line that is a heading: `## NAME`, `**NAME**`, `1. NAME:`, `NAME:`, `NAME: text`; letters of either case, `_` for blanks. */
function headingOf(name: string): RegExp {
  const words = name.split(/\s+/).map(escapeForPattern);
  const optional = String.raw`(?:\s*\(optional\))?`;
  const marks = String.raw`(?:#{1,6}\s*)?(?:\d{1,2}[.)]\s*)?(?:\*\*|__)?(?:\d{1,2}[.)]\s*)?`;
  return new RegExp(
    String.raw`^\s{0,3}${marks}${words.join("[\\s_]+")}${optional}(?:\*\*|__)?\s*(?:$|:(?:\*\*|__)?\s*(.*)$)`,
    "i",
  );
}
