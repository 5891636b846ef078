// Reads the answer of a summary model: sections under headings, then a block of JSON with files and tasks. Models wrap, number, embolden
// and comment; whatever can be read without guessing is brought into one form.
import { type Compaction, compareCompactions } from "../conversation/compaction.ts";
import { type Event, type Fields, isFields, rangeContains, type TurnRange } from "../conversation/event.ts";
import { estimateTextTokens } from "../conversation/text-tokens.ts";
import { escapeForPattern } from "../look/search-words.ts";
import { type EventLedger, renderLedger } from "./event-ledger.ts";
import { checkGrounding } from "./grounding.ts";
import type { SummaryTemplate } from "./summary-prompt.ts";

/** An answer in one form. */
export interface SummaryAnswer {
  /** The sections, each under `## NAME`; the whole text if no section was found. */
  readonly summary: string;
  /** Text of each section that was found and is not empty, by the name that was asked for. */
  readonly sections: ReadonlyMap<string, string>;
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
  /** The `plan` of a bundle that the answer returns; undefined when it has none. */
  readonly plan?: unknown;
}

/** Reads an answer; `names` = the sections that it may contain. */
export function readSummaryAnswer(text: string, names: readonly string[]): SummaryAnswer {
  const plain = unwrap(withoutThinking(text));
  const { body, block } = splitBlock(plain);
  const facts = readBlock(block);
  const spoken = facts.summary === undefined ? body : textOfSummary(facts.summary);
  const found = splitSections(spoken, names);
  const { files, open_tasks, plan } = facts;
  const rest = { files, open_tasks, plan };
  if (found.length === 0) return { summary: spoken.trim(), sections: new Map(), ...rest };
  return {
    summary: found.map(({ name, text: own }) => `## ${name}\n${own}`.trimEnd()).join("\n\n"),
    sections: new Map(found.filter(({ text: own }) => own !== "").map(({ name, text: own }) => [name, own])),
    ...rest,
  };
}

/** Removes a model's thinking before its answer, and tags around the answer. */
function withoutThinking(text: string): string {
  const answer = text.replace(/^\s*(?:<(think|thinking|reasoning|analysis)>[\s\S]*?<\/\1>\s*)+/i, "");
  return answer.replace(/^\s*<(summary)>([\s\S]*?)<\/\1>/i, "$2").trim();
}

/** Removes one fence around the whole answer. */
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

/** Splits a text at its headings and drops what precedes the first. A repeated section is joined to its first occurrence. */
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
    const afterHeading = heading.match?.[1]?.trim() ?? "";
    if (afterHeading !== "") lines.push(afterHeading);
  }
  return [...found].map(([name, own]) => ({ name, text: own.join("\n").trim() }));
}

/** Matches a heading line: `## NAME`, `**NAME**`, `1. NAME:`, `NAME:`, `NAME: text`; any case, `_` for blanks. */
function headingOf(name: string): RegExp {
  const words = name.split(/\s+/).map(escapeForPattern);
  const optional = String.raw`(?:\s*\(optional\))?`;
  const marks = String.raw`(?:#{1,6}\s*)?(?:\d{1,2}[.)]\s*)?(?:\*\*|__)?(?:\d{1,2}[.)]\s*)?`;
  return new RegExp(
    String.raw`^\s{0,3}${marks}${words.join("[\\s_]+")}${optional}(?:\*\*|__)?\s*(?:$|:(?:\*\*|__)?\s*(.*)$)`,
    "i",
  );
}

// The block of JSON in an answer: `{"files": […], "open_tasks": […]}` at its end, or the whole answer as one object. A block that cannot be
// parsed is removed from the text too: it was meant for programs.

/** Content of the block; absent lists are empty. */
interface BlockFacts {
  readonly summary?: unknown;
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
  readonly plan?: unknown;
}

/** Longest text after the block that counts as a farewell, characters. */
const FAREWELL_CHARS = 300;
const KEYS: readonly string[] = ["files", "open_tasks", "summary", "plan"];

/** Splits an answer into its text and its block; null = no block. */
export function splitBlock(text: string): { readonly body: string; readonly block: Fields | null } {
  const whole = parseObject(text.replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1"));
  if (whole !== null && KEYS.some((key) => key in whole)) return { body: "", block: whole };
  return splitFenced(text) ?? splitBare(text) ?? { body: text, block: null };
}

/** Reads the block. Drops entries that are no text, empty, or the example's `…`. */
export function readBlock(block: Fields | null): BlockFacts {
  if (block === null) return { files: [], open_tasks: [] };
  const { summary, plan } = block;
  return {
    summary,
    files: textsIn(block["files"]),
    open_tasks: textsIn(block["open_tasks"] ?? block["openTasks"]),
    plan,
  };
}

/** The last fenced block, if little follows it and it is an object of ours or broken JSON. */
function splitFenced(text: string): { readonly body: string; readonly block: Fields | null } | null {
  const open = text.lastIndexOf("\n```json");
  if (open < 0) return null;
  const start = text.indexOf("\n", open + 1) + 1;
  const close = text.indexOf("\n```", start);
  const end = close === -1 ? text.length : close;
  if (text.slice(end + 4).trim().length > FAREWELL_CHARS || start === 0) return null;
  const content = text.slice(start, end);
  const block = parseObject(content);
  const isOurs = block === null ? KEYS.some((key) => content.includes(`"${key}"`)) : KEYS.some((key) => key in block);
  return isOurs ? { body: text.slice(0, open), block } : null;
}

/** An object without a fence at the very end. */
function splitBare(text: string): { readonly body: string; readonly block: Fields } | null {
  const open = Math.max(text.lastIndexOf('\n{"files"'), text.lastIndexOf('\n{"open_tasks"'), text.lastIndexOf("\n{\n"));
  const block = open === -1 ? null : parseObject(text.slice(open));
  return block !== null && KEYS.some((key) => key in block) ? { body: text.slice(0, open), block } : null;
}

function parseObject(text: string): Fields | null {
  const json = text.trim();
  for (const attempt of [json, json.replace(/,(\s*[\]}])/g, "$1")]) {
    try {
      const value: unknown = JSON.parse(attempt);
      return isFields(value) ? value : null;
    } catch {
      // no JSON in this form
    }
  }
  return null;
}

function textsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const texts = value.flatMap((item) => (typeof item === "string" ? [item.trim()] : []));
  return [...new Set(texts)].filter((text) => text !== "" && text !== "…");
}

// Whether an answer may replace turns: only a complete one, with all sections asked for, shorter than what it replaces and, if grounding is
// asked for, saying nothing that the events do not support. A problem is a value, worded for the user and the model.

/** Why an answer is rejected. */
type Rejection =
  | "empty"
  | "truncated"
  | "refused"
  | "called_tools"
  | "unfinished"
  | "sections_missing"
  | "inflated"
  | "ungrounded";

export interface RejectedSummary {
  readonly rejected: Rejection;
  /** What is wrong with it, completing "The answer could not be used: …". */
  readonly detail: string;
}

/** A model's answer, as far as it matters here. */
export interface FinishedAnswer {
  readonly text: string;
  /** Why it ended; only `complete` is a whole answer. */
  readonly reason: "complete" | "tool_calls" | "length" | "refusal" | "aborted" | "unknown";
}

/** What an answer is judged by. */
export interface SummaryFacts {
  readonly template: SummaryTemplate;
  /** Most tokens that the summary may have: those of what it replaces; absent = not checked. */
  readonly mostTokens?: number;
  /** Tokens of a text, counted as those of `mostTokens`. */
  readonly countText: (text: string) => number;
  /** The raw events that must support the summary; absent = not checked. */
  readonly raw?: readonly Event[];
}

/** Reads an answer, or says why it is rejected. */
export function judgeSummary(answer: FinishedAnswer, facts: SummaryFacts): SummaryAnswer | RejectedSummary {
  const ending = judgeEnding(answer);
  if (ending !== null) return ending;
  return judgeAnswer(readSummaryAnswer(answer.text, facts.template.names), facts);
}

/** Returns a parsed answer, or says why it is rejected. */
export function judgeAnswer(read: SummaryAnswer, facts: SummaryFacts): SummaryAnswer | RejectedSummary {
  return judgeContent(read, facts) ?? read;
}

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
      return { rejected: "called_tools", detail: "it calls tools instead of giving the summary" };
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

/** A longer answer with this beginning says more than that it declines. */
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

// Names that a text defines, in the languages that agents mostly work in: recognised by the word before them, not parsed.

const DEFINED =
  /\b(?:function|class|interface|type|const|def|fn|func(?: ?\([^()\n]{1,60}\))?|struct|enum|trait)\s{1,4}([A-Za-z_]\w{3,59})/g;

/** Yields the names of at least four characters that a text defines, in order, with repeats. */
export function* definedNames(text: string): Generator<string> {
  for (const [, name] of text.matchAll(DEFINED)) if (name !== undefined) yield name;
}

// Whether summaries made one after another may continue side by side. Each replaces its own turns, so a model is paid for every turn only
// once; but together they would fill a window in the end.

/** Share of the limit above which a new summary replaces several older ones, too. */
const OLDER_SHARE = 0.25;

/**
 * Whether the summaries in the view leave room for another after them; if not, the next one replaces all turns. `limit` = the size above
 * which is summarised, tokens. A single summary always leaves room: another in its place is no smaller.
 */
export function hasRoomForSummary(live: readonly Compaction[], limit: number): boolean {
  const summaries = live.filter(({ summary }) => summary !== undefined);
  const isReplaced = (one: Compaction): boolean =>
    summaries.some((other) => compareCompactions(one, other) < 0 && rangeContains(rangeOf(other), rangeOf(one)));
  const shown = summaries.filter((one) => !isReplaced(one));
  const tokens = shown.reduce((sum, { summary }) => sum + estimateTextTokens(summary?.summary ?? ""), 0);
  return shown.length < 2 || tokens <= OLDER_SHARE * limit;
}

function rangeOf({ from_turn: from, to_turn: to }: Compaction): TurnRange {
  return { from, to };
}

// Turns an accepted answer into what is stored: the text followed by the ledger, files and tasks. What the events show comes from them and
// comes first; the model only adds to it.

interface FinishedSummary {
  readonly summary: string;
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
}

/** Most files listed in addition to the modified ones. */
const MOST_OTHER_FILES = 200;
/** Longest ledger, characters. */
const LEDGER_CHARS = 8000;
/** Characters of the ledger for each token that the summary saves: it may take about half of them. */
const CHARS_PER_SAVED_TOKEN = 1.5;

/** Completes an answer; `savedTokens` = tokens that its text is shorter than what it replaces, ≥ 0. */
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

/** Text of a section that has nothing to say. */
const NOTHING = /^[\s\-*•"'()[\]]*none[\s.\-"'()[\]]*$/i;

/** Joins answers, oldest part first; drops lines that a section already has. */
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

/** Answers without sections are concatenated. */
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
