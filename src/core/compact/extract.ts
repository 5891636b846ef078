// The extract: what replaces turns when no model writes a summary. Taken from the events by fixed rules, in the sections of a summary,
// every passage quoted. Invariant: every request and every changed file is in it, whatever the budget; the same events always give the same
// text.
import { proseChars } from "../conversation/text-tokens.ts";
import { estimateEvents } from "../conversation/token-estimate.ts";
import { findQuestion, type Reply } from "./decisions.ts";
import type { PlacedEvent } from "./event-ledger.ts";
import { changeNotes, type FailedCall } from "./failures.ts";
import { type Gathered, gather, type Unfinished } from "./gather.ts";
import { textsOf } from "./hidden-content.ts";
import {
  cleanBlock,
  cutBlock,
  cutBlockEnd,
  cutEnd,
  indented,
  indentedTo,
  listPassages,
  oneLine,
  type Passage,
  pickPassages,
  type Utterance,
} from "./passages.ts";

/** A summary made without a model. */
interface ExtractedSummary {
  readonly summary: string;
  /** Changed files, then files that were only read, as written. */
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
}

interface ExtractOptions {
  /** Target size, estimated tokens, which requests and changed files may exceed. Absent = by the size of the events. */
  readonly budgetTokens?: number;
}

/** Most files listed that were only read. */
const MOST_READ = 200;

/** Extracts a summary from raw events, in order. Linear in their texts. */
export function extractSummary(events: readonly PlacedEvent[], options: ExtractOptions = {}): ExtractedSummary {
  const found = gather(events);
  const budget = options.budgetTokens ?? extractBudget(estimateEvents(events.map(({ event }) => event)));
  const sections = writeSections(found, budget * charsPerToken(events));
  const texts = sections.map(([name, lines]) => `## ${name}\n${lines.length === 0 ? "none" : lines.join("\n")}`);
  return {
    summary: [labelOf(events), ...texts].join("\n\n"),
    files: [...found.modified, ...found.notModified, ...found.read.slice(0, MOST_READ)],
    open_tasks: found.openTasks,
  };
}

/** Characters per token of what was said: fewer in most scripts than in English. */
function charsPerToken(events: readonly PlacedEvent[]): number {
  let [chars, asProse] = [0, 0];
  const said = events.filter(({ event: { type } }) => type === "chat_request" || type === "chat_response");
  for (const text of said.flatMap(({ event }) => textsOf(event))) {
    chars += text.length;
    asProse += proseChars(text);
  }
  return asProse === 0 ? CHARS_PER_TOKEN : (CHARS_PER_TOKEN * chars) / asProse;
}

/** Turns are named `t12`: the extract's own numbers must not pass for facts of the conversation. */
function labelOf(events: readonly PlacedEvent[]): string {
  const [first, last] = [events[0]?.turn ?? 0, events.at(-1)?.turn ?? 0];
  const turns = first === last ? `turn t${first}` : `turns t${first} to t${last}`;
  return `[Extract of ${turns}: passages and facts taken from the conversation by fixed rules, not a summary written by a model. … marks what was cut.]`;
}

/** Share of the raw tokens for an extract, up to FULL_SHARE_TOKENS, and of those beyond. */
const SHARE = 0.08;
const FULL_SHARE_TOKENS = 50_000;
const SHARE_BEYOND = 0.02;
/** Most tokens, however long the range: repeated extracts must not grow with the conversation. */
const MOST_TOKENS = 6000;
/** Tokens that the sections of a small range need. */
const LEAST_TOKENS = 250;

/** Characters per token of English prose, as `estimateEvent` counts. */
const CHARS_PER_TOKEN = 4;

/** Returns the usual budget of an extract, tokens, from the tokens of the raw events. */
export function extractBudget(rawTokens: number): number {
  const full = Math.min(rawTokens, FULL_SHARE_TOKENS);
  const tokens = Math.round(SHARE * full + SHARE_BEYOND * (rawTokens - full));
  return Math.min(MOST_TOKENS, Math.max(LEAST_TOKENS, tokens));
}

/** Returns the largest cap such that the lengths, each cut to it, add up to at most `chars`; infinite when all fit whole. */
export function fairCap(lengths: readonly number[], chars: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = chars;
  for (const [at, length] of sorted.entries()) {
    const share = left / (sorted.length - at);
    if (length > share) return Math.max(0, Math.floor(share));
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

/** Takes lines in order while they fit into `chars`; skips lines that do not fit. */
export function takeLines(lines: readonly string[], chars: number): readonly string[] {
  let left = chars;
  return lines.filter((line) => {
    if (line.length + 1 > left) return false;
    left -= line.length + 1;
    return true;
  });
}

/** Characters of lines, including line ends. */
export function charsOf(lines: readonly string[]): number {
  return lines.reduce((chars, line) => chars + line.length + 1, 0);
}

/** Gives a share of the budget to a writer that takes no more, and adds what it leaves to the next share. */
type TakeShare = <Written>(
  share: number,
  write: (chars: number) => Written,
  measure: (written: Written) => number,
) => Written;

/** Creates a budget of `chars` characters that is spent share by share; never below 0. */
export function createBudget(chars: number): TakeShare {
  const total = Math.max(0, chars);
  let unused = 0;
  return (share, write, measure) => {
    const most = share * total + unused;
    const written = write(most);
    unused = Math.max(0, most - measure(written));
    return written;
  };
}

/** The names of the sections, in order, with their lines. */
type Sections = readonly (readonly [name: string, lines: readonly string[]])[];

/** Characters of the label and the headings. */
const FRAME_CHARS = 330;
/** Share of the budget that requests may fill. */
const REQUESTS_SHARE = 0.3;
/** Shares of what is left after requests, changed files and next steps. */
const SHARES = {
  guidance: 0.12,
  decisions: 0.1,
  failures: 0.1,
  commits: 0.06,
  commands: 0.08,
  changes: 0.06,
  answers: 0.34,
  read: 0.07,
  remarks: 0.1,
} as const;
/** Longest list of tools, characters. */
const TOOLS_CHARS = 600;
/** Longest line of a failure, characters. */
const FAILURE_CHARS = 500;

/** Writes the sections; `chars` = target size, which only requests and changed files may exceed. */
export function writeSections(found: Gathered, chars: number): Sections {
  const files = [
    ...found.modified.map((file) => `- ${file}`),
    ...found.notModified.map((file) => `- ${file} (every change failed)`),
  ];
  const steps = nextSteps(found, chars);
  const room = chars - FRAME_CHARS - charsOf(files) - charsOf(steps);
  const requests = showRequests(found.requests, room * REQUESTS_SHARE);
  const parts = writeParts(found, requests, room - charsOfSaid(requests));
  const changed = files.map((line, at) => `${line}${parts.changes[at] ?? ""}`);
  const tools = found.tools.length === 0 ? [] : [cutEnd(`Calls: ${found.tools.join(", ")}`, TOOLS_CHARS)];
  return [
    ["TASK STATE", [...interleave(requests, parts.answers), ...titled("Said on the way:", parts.remarks)]],
    ["FILES", [...titled("Changed:", changed), ...titled("Read:", parts.read)]],
    ["TOOL HISTORY", [...tools, ...titled("Commits:", parts.commits), ...titled("Commands:", parts.commands)]],
    ["ERRORS", parts.failures],
    ["DECISIONS", parts.decisions],
    ["USER GUIDANCE", parts.guidance],
    ["NEXT STEPS", steps],
  ];
}

type Lines = readonly string[];

interface Parts extends Record<Exclude<keyof typeof SHARES, "answers">, Lines> {
  readonly answers: readonly Utterance[];
}

function writeParts(found: Gathered, requests: readonly Utterance[], chars: number): Parts {
  const take = createBudget(chars);
  const lines = (share: keyof typeof SHARES, write: (most: number) => Lines): Lines =>
    take(SHARES[share], write, charsOf);
  const guidance = lines("guidance", (most) => bothEnds(found.guidance, most));
  const decisions = lines("decisions", (most) => bothEnds(found.decisions, most));
  const failures = lines("failures", (most) => newestLines(found.failures.map(failureLine), most));
  const commits = lines("commits", (most) =>
    newestLines(
      found.commits.map(({ turn, line }) => `- [t${turn}] ${line}`),
      most,
    ),
  );
  const commands = lines("commands", (most) =>
    newestLines(
      found.commands.map(({ command, failed }) => `- ${command}${failed ? " → failed" : ""}`),
      most,
    ),
  );
  const changes = take(
    SHARES.changes,
    (most) => changeNotes(found.modified, found.changes, most),
    (notes) => notes.join("").length,
  );
  const answers = take(SHARES.answers, (most) => showAnswers(found.answers, most), charsOfSaid);
  const read = lines("read", (most) =>
    takeLines(
      found.read.map((file) => `- ${file}`),
      most,
    ),
  );
  const shown = new Set(found.answers);
  const passages = listPassages(found.messages.filter((message) => !shown.has(message)));
  const seen = textOf([...requests, ...answers]);
  // Remarks get nothing that other sections leave: they say the least.
  const remarks = showPassages(passages, Math.max(0, chars) * SHARES.remarks, seen);
  return { guidance, decisions, failures, commits, commands, changes, answers, read, remarks };
}

/** What failed, why, and what fixed it. */
function failureLine({ turn, what, lines, fixed }: FailedCall): string {
  const why = lines.length === 0 ? "" : `: ${lines.join("; ")}`;
  const line = cutEnd(`- [t${turn}] ${what} failed${why}`, FAILURE_CHARS);
  if (fixed === null) return line;
  const changed = fixed.changed.length === 0 ? "" : ` after changes to ${fixed.changed.join(", ")}`;
  return `${line} → worked in t${fixed.turn}${changed}`;
}

function textOf(said: readonly Utterance[]): string {
  return said.map(({ text }) => text).join("\n");
}

function charsOfSaid(said: readonly Utterance[]): number {
  return charsOf(said.map(({ text }) => text)) + said.length * MARK_CHARS;
}

/** Puts each turn's answer after its requests. */
function interleave(requests: readonly Utterance[], answers: readonly Utterance[]): Lines {
  const lines = [
    ...requests.map(({ turn, text }) => ({ turn, line: `- [t${turn}] Request: ${text}` })),
    ...answers.map(({ turn, text }) => ({ turn, line: `- [t${turn}] Answer: ${text}` })),
  ];
  // Sorting is stable, so lines of one turn keep their order.
  return lines.sort((a, b) => a.turn - b.turn).map(({ line }) => line);
}

function titled(title: string, lines: Lines): Lines {
  return lines.length === 0 ? [] : [title, ...lines];
}

/** Fewest characters of a request (80 and a long word), and the most when there is room. */
const LEAST_REQUEST = 130;
const MOST_REQUEST = 3000;
/** Shortest answer worth showing, and the longest, characters. */
const LEAST_ANSWER = 120;
const MOST_ANSWER = 3000;
/** Approximate characters of a line besides its text: `- [t12] Answer: `. */
const MARK_CHARS = 16;

/** Cuts requests so that together they take `chars`, but none to less than 130 characters. */
export function showRequests(requests: readonly Reply[], chars: number): readonly Utterance[] {
  const texts = requests.map(({ turn, text, answerBefore }) => {
    const question = findQuestion(text, answerBefore);
    return { turn, text: cleanBlock(text), to: question === null ? "" : ` (to: ${question})` };
  });
  const cap = Math.max(LEAST_REQUEST, Math.min(MOST_REQUEST, capOf(texts, chars)));
  return texts.map(({ turn, text, to }) => ({ turn, text: `${indentedTo(text, cap, cutBlockEnd)}${to}` }));
}

/** Cuts answers so that together they take `chars`; if not all fit, the newest are kept. */
export function showAnswers(answers: readonly Utterance[], chars: number): readonly Utterance[] {
  const most = Math.floor(chars / (LEAST_ANSWER + MARK_CHARS));
  const newest = most === 0 ? [] : answers.slice(-most);
  const texts = newest.map(({ turn, text }) => ({ turn, text: cleanBlock(text) }));
  const cap = Math.min(MOST_ANSWER, capOf(texts, chars));
  return texts
    .map(({ turn, text }) => ({ turn, text: indentedTo(text, cap, cutBlock) }))
    .filter(({ text }) => text.trim() !== "");
}

function capOf(texts: readonly Utterance[], chars: number): number {
  const lengths = texts.map(({ text }) => indented(text).length + MARK_CHARS);
  return fairCap(lengths, chars) - MARK_CHARS;
}

/** Picks passages that are not in `seen`, as lines that take at most `chars`. */
export function showPassages(passages: readonly Passage[], chars: number, seen: string): readonly string[] {
  const known = oneLine(seen);
  const isKnown = (text: string): boolean => known.includes(text.replace(/ …$/, ""));
  return pickPassages(passages, { chars, lineChars: MARK_CHARS, isKnown }).map(
    ({ turn, text }) => `- [t${turn}] ${text}`,
  );
}

/** Takes the newest lines that fit into `chars`, in their order. */
export function newestLines(lines: readonly string[], chars: number): readonly string[] {
  return [...takeLines([...lines].reverse(), chars)].reverse();
}

/** Lists what was said, by turn; if not all fits, as many of the oldest as of the newest. */
export function bothEnds(said: readonly Utterance[], chars: number): readonly string[] {
  const lines = [...new Set(said.map(({ turn, text }) => `- [t${turn}] ${text}`))];
  if (charsOf(lines) <= chars) return lines;
  const first = takeLines(lines, chars / 2);
  const rest = lines.filter((line) => !first.includes(line));
  const last = new Set(newestLines(rest, chars - charsOf(first)));
  return lines.filter((line) => first.includes(line) || last.has(line));
}

// What is to be done next, as the events show it: nothing if the work is done and no task is open. Otherwise the last request, what was
// said and done last, and why that is not the end.

/** Longest request and longest last words, characters, and the share of the budget that both may take. */
const REQUEST_CHARS = 1200;
const WORDS_CHARS = 700;
const NEXT_STEPS_SHARE = 0.25;
const LEAST_CHARS = 160;

/** Why the work is not done where these turns end. */
const STATES: Readonly<Record<Unfinished, string>> = {
  unanswered: "These turns end with a request that has no answer yet.",
  interrupted: "These turns end where the user interrupted the work.",
  working: "These turns end in the middle of the work, after a call.",
  announced: "These turns end with an announcement, before what it announces.",
  asked: "These turns end with a question to the user.",
  failed: "These turns end with a call that failed.",
};

/** Writes the steps as lines; `chars` = the budget of the whole extract. */
export function nextSteps(found: Gathered, chars: number): readonly string[] {
  const tasks = found.openTasks.map((task) => `- Open: ${task}`);
  const { unfinished, question, actions } = found.ending;
  if (unfinished === null) return tasks;
  const room = (most: number): number => Math.max(LEAST_CHARS, Math.min(most, chars * NEXT_STEPS_SHARE));
  const last = found.requests.at(-1);
  const asked = found.requests.filter(({ turn }, at, all) => turn === last?.turn && all[at - 1]?.turn !== turn);
  const words = found.messages.findLast(({ turn }) => turn >= (last?.turn ?? 0));
  return [
    `- ${STATES[unfinished]}`,
    ...[...new Set([...asked, last])].flatMap((request) => (request === undefined ? [] : [requestLine(request)])),
    ...(question === undefined ? lastWordsLine(words) : [`- Asked last: ${question}`]),
    ...(actions.length === 0 ? [] : ["- Done last:", ...actions.map((action) => `  - ${action}`)]),
    ...tasks,
  ];

  function requestLine({ turn, text, answerBefore }: Reply): string {
    const question = findQuestion(text, answerBefore);
    const to = question === null ? "" : ` (to: ${question})`;
    return `- Request [t${turn}]: ${indented(cutBlockEnd(cleanBlock(text), room(REQUEST_CHARS)))}${to}`;
  }
  function lastWordsLine(said: Utterance | undefined): readonly string[] {
    if (said === undefined || unfinished === "unanswered") return [];
    return [`- Said last: ${indented(cutBlock(cleanBlock(said.text), room(WORDS_CHARS)))}`];
  }
}
