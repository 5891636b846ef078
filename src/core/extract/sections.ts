// Writes the sections of an extract within a budget: requests and changed files first, then each kind of line has its share, and
// what one leaves goes to the next.
import { charsOf, createPurse, takeLines } from "./budget.ts";
import { onlyLooks } from "./commands-run.ts";
import { DECISION, GUIDANCE, TROUBLE } from "./cues.ts";
import type { Gathered } from "./gather.ts";
import { MARK_CHARS, newestLines, showAnswers, showPassages, showRequests } from "./lines.ts";
import { listPassages, type Said } from "./passages.ts";
import { cutEnd } from "./short-text.ts";

/** The names of the sections, in order, with their lines. */
export type Sections = readonly (readonly [name: string, lines: readonly string[]])[];

/** The label and the headings, characters. */
const FRAME_CHARS = 330;
/** Share of the budget that requests may fill. */
const REQUESTS_SHARE = 0.3;
/** Shares of what is left when requests and changed files are in. */
const SHARES = {
  ledger: { commands: 0.1, read: 0.08, errors: 0.1 },
  speech: { guidance: 0.05, answers: 0.4, decisions: 0.1, trouble: 0.07, remarks: 0.1 },
} as const;
/** Longest list of tools, characters. */
const TOOLS_CHARS = 600;

/** Writes the sections; `chars` = what they should take, which requests and changed files alone may exceed. */
export function writeSections(found: Gathered, chars: number): Sections {
  const changed = [
    ...found.modified.map((file) => `- ${file}`),
    ...found.notModified.map((file) => `- ${file} (every change failed)`),
  ];
  const steps = [
    ...found.openTasks.map((task) => `- ${task}`),
    ...(found.isUnanswered ? ["- the last request has no answer yet"] : []),
  ];
  const room = chars - FRAME_CHARS - charsOf(changed) - charsOf(steps);
  const requests = showRequests(found.requests, room * REQUESTS_SHARE);
  const take = createPurse(room - charsOfSaid(requests));
  const { commands, read, errors } = writeLedger(found, take);
  const { guidance, answers, decisions, trouble, remarks } = writeSpeech(found, requests, take);
  const tools = found.tools.length === 0 ? [] : [cutEnd(`Calls: ${found.tools.join(", ")}`, TOOLS_CHARS)];
  return [
    ["TASK STATE", [...interleave(requests, answers), ...titled("Said on the way:", remarks)]],
    ["FILES", [...titled("Changed:", changed), ...titled("Read:", read)]],
    ["TOOL HISTORY", [...tools, ...titled("Commands:", commands)]],
    ["ERRORS", [...errors, ...titled("What was said of problems:", trouble)]],
    ["DECISIONS", orElse(decisions, answers.length > 0, "- see the answers above")],
    ["USER GUIDANCE", orElse(guidance, requests.length > 0, "- see the requests above")],
    ["NEXT STEPS", steps],
  ];
}

type Take = ReturnType<typeof createPurse>;
type Lines = readonly string[];

function writeLedger(found: Gathered, take: Take): Record<keyof typeof SHARES.ledger, Lines> {
  const shares = SHARES.ledger;
  const run = found.commands.filter((command) => !onlyLooks(command)).map((command) => `- ${command}`);
  const seen = found.errors.map(({ turn, line }) => `- [t${turn}] ${line}`);
  return {
    commands: take(shares.commands, (most) => newestLines(run, most), charsOf),
    read: take(
      shares.read,
      (most) =>
        takeLines(
          found.read.map((file) => `- ${file}`),
          most,
        ),
      charsOf,
    ),
    errors: take(shares.errors, (most) => newestLines(seen, most), charsOf),
  };
}

interface Speech extends Record<Exclude<keyof typeof SHARES.speech, "answers">, Lines> {
  readonly answers: readonly Said[];
}

function writeSpeech(found: Gathered, requests: readonly Said[], take: Take): Speech {
  const shares = SHARES.speech;
  const wanted = listPassages(found.requests).filter(({ text }) => GUIDANCE.test(text));
  const asked = textOf(requests);
  const guidance = take(shares.guidance, (most) => showPassages(wanted, most, asked), charsOf);
  const answers = take(shares.answers, (most) => showAnswers(found.answers, most), charsOfSaid);
  const passages = listPassages(found.messages);
  const decided = passages.filter(({ text }) => DECISION.test(text));
  const troubled = passages.filter(({ text }) => TROUBLE.test(text) && !DECISION.test(text));
  const others = passages.filter(({ text }) => !TROUBLE.test(text) && !DECISION.test(text));
  const answered = textOf(answers);
  return {
    guidance,
    answers,
    decisions: take(shares.decisions, (most) => showPassages(decided, most, answered), charsOf),
    trouble: take(shares.trouble, (most) => showPassages(troubled, most, answered), charsOf),
    remarks: take(shares.remarks, (most) => showPassages(others, most, answered), charsOf),
  };
}

function textOf(said: readonly Said[]): string {
  return said.map(({ text }) => text).join("\n");
}

function charsOfSaid(said: readonly Said[]): number {
  return charsOf(said.map(({ text }) => text)) + said.length * MARK_CHARS;
}

/** Puts each turn's answer behind its requests. */
function interleave(requests: readonly Said[], answers: readonly Said[]): Lines {
  const lines = [
    ...requests.map(({ turn, text }) => ({ turn, line: `- [t${turn}] Request: ${text}` })),
    ...answers.map(({ turn, text }) => ({ turn, line: `- [t${turn}] Answer: ${text}` })),
  ];
  // Sorting keeps the order of what has the same turn.
  return lines.sort((a, b) => a.turn - b.turn).map(({ line }) => line);
}

function titled(title: string, lines: Lines): Lines {
  return lines.length === 0 ? [] : [title, ...lines];
}

function orElse(lines: Lines, hasOther: boolean, other: string): Lines {
  return lines.length > 0 || !hasOther ? lines : [other];
}
