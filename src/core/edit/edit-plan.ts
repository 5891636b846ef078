// A plan: what is to become of each part of a view, as people, programs and reviewers write it. Printed and parsed line by line,
// as the list of `git rebase -i`: verb and place count, whatever follows on a line is for people.
import { nearestName } from "../nearest-name.ts";
import { forLine } from "../safe-text.ts";
import { type EditVerb, parseVerb, VERB_WORDS } from "./edit-verb.ts";

/** The branch as it stood when a plan was made of it. */
export interface PlanBase {
  readonly branch: string;
  /** Id of its tip, at least the first 7 characters. */
  readonly commit: string;
  /** Whether calls have lines of their own. */
  readonly calls: boolean;
}

export interface PlanLine {
  readonly verb: EditVerb;
  /** As `EditItem.place`. */
  readonly place: string;
  /** What follows on the line: one line of text. */
  readonly about?: string;
  /** Where it was read, from 1. */
  readonly line?: number;
}

export interface EditPlan {
  readonly base: PlanBase;
  readonly lines: readonly PlanLine[];
}

/** What is wrong with a plan. */
export interface PlanProblem {
  /** Line of the text, from 1. */
  readonly line: number;
  /** A clause. */
  readonly message: string;
}

/** A text that was read; `plan` is null when it says nothing to do, and holds nothing to follow where there are problems. */
export interface ParsedPlan {
  readonly plan: EditPlan | null;
  readonly problems: readonly PlanProblem[];
}

/** Begins lines that are not read. */
const COMMENT = "#";
/** Begins the comments that say what is wrong with the line below. */
const MARK = "# error: ";
const HEAD = "plan";
const CALLS = "calls";
/** Longest word that an error quotes, characters. */
const QUOTED = 30;

/** Prints a plan; `help` = comment lines below it. Parsed again it says the same. */
export function printPlan({ base, lines }: EditPlan, help: readonly string[] = []): string {
  const head = [HEAD, base.branch, base.commit, ...(base.calls ? [CALLS] : [])].join(" ");
  const verbs = widest(lines.map(({ verb }) => verb));
  const places = widest(lines.map(({ place }) => place));
  const body = lines.map(({ verb, place, about = "" }) => {
    return `${verb.padEnd(verbs)} ${base.calls ? place.padEnd(places) : place.padStart(places)}  ${about}`.trimEnd();
  });
  const comments = help.map((line) => `${COMMENT} ${line}`.trimEnd());
  return `${[head, ...body, ...(comments.length === 0 ? [] : ["", ...comments])].join("\n")}\n`;
}

function widest(words: readonly string[]): number {
  return words.reduce((width, word) => Math.max(width, word.length), 0);
}

/** Parses the text of a plan. A text without lines, or with its first one only, says nothing to do. */
export function parsePlan(text: string): ParsedPlan {
  const written = text
    .split(/\r?\n/)
    .map((words, at) => ({ line: at + 1, words: words.trim() }))
    .filter(({ words }) => words !== "" && !words.startsWith(COMMENT));
  const [first] = written;
  if (first === undefined) return { plan: null, problems: [] };
  const base = parseHead(first.words);
  if (base === null) {
    const message = `expected \`plan BRANCH COMMIT\`, the first line of what \`jpg edit --emit-plan\` prints, got ${quote(first.words)}`;
    return { plan: null, problems: [{ line: first.line, message }] };
  }
  const problems: PlanProblem[] = [];
  const lines = written.slice(1).flatMap(({ line, words }): PlanLine[] => {
    const [word = "", place, ...about] = words.split(/\s+/);
    const verb = parseVerb(word);
    if (verb === null) problems.push({ line, message: unknownVerb(word) });
    else if (place === undefined) problems.push({ line, message: `\`${verb}\` needs the number of a turn` });
    // A line of which only the verb is wrong has its place all the same: what else is wrong can be told with it.
    return place === undefined ? [] : [{ verb: verb ?? "keep", place, about: about.join(" "), line }];
  });
  const isEmpty = lines.length === 0 && problems.length === 0;
  return { plan: isEmpty ? null : { base, lines }, problems };
}

function parseHead(words: string): PlanBase | null {
  const [head, branch = "", commit = "", calls, ...more] = words.split(/\s+/);
  if (head !== HEAD || !/^[0-9a-f]{7,64}$/.test(commit) || more.length > 0) return null;
  return calls === undefined || calls === CALLS ? { branch, commit, calls: calls === CALLS } : null;
}

function unknownVerb(word: string): string {
  const nearest = nearestName(word, VERB_WORDS);
  const hint = nearest === undefined ? `expected ${VERB_WORDS.slice(0, -1).join(", ")}` : `did you mean ${nearest}?`;
  return `unknown verb ${quote(word)}: ${hint}`;
}

function quote(text: string): string {
  const line = forLine(text, QUOTED + 1);
  return JSON.stringify([...line].length > QUOTED ? `${[...line].slice(0, QUOTED).join("")}…` : line);
}

/** Takes the marks off a plan's text. */
export function withoutMarks(text: string): string {
  return text
    .split("\n")
    .filter((line) => !line.startsWith(MARK))
    .join("\n");
}

/** Marks lines of a plan's text with what is wrong with them, in comments above; older marks go. */
export function markPlan(text: string, problems: readonly PlanProblem[]): string {
  const lines = text.split("\n");
  const marked = lines.flatMap((words, at) => {
    const wrong = problems.filter(({ line }) => line === at + 1).map(({ message }) => `${MARK}${forLine(message)}`);
    return words.startsWith(MARK) ? wrong : [...wrong, words];
  });
  return marked.join("\n");
}
