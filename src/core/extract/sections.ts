// Writes the sections of an extract within a budget: requests, changed files and where the work stopped first, then each kind of line
// has its share, and what one leaves goes to the next.
import { charsOf, createPurse, takeLines } from "./budget.ts";
import { changeNotes } from "./changes.ts";
import type { FailedCall } from "./failures.ts";
import type { Gathered } from "./gather.ts";
import { bothEnds, MARK_CHARS, newestLines, showAnswers, showPassages, showRequests } from "./lines.ts";
import { nextSteps } from "./next-steps.ts";
import { listPassages, type Said } from "./passages.ts";
import { cutEnd } from "./short-text.ts";

/** The names of the sections, in order, with their lines. */
export type Sections = readonly (readonly [name: string, lines: readonly string[]])[];

/** The label and the headings, characters. */
const FRAME_CHARS = 330;
/** Share of the budget that requests may fill. */
const REQUESTS_SHARE = 0.3;
/** Shares of what is left when requests, changed files and next steps are in. */
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

/** Writes the sections; `chars` = what they should take, which requests and changed files alone may exceed. */
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
  readonly answers: readonly Said[];
}

function writeParts(found: Gathered, requests: readonly Said[], chars: number): Parts {
  const take = createPurse(chars);
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
  // What the others leave is not for these: they say the least.
  const remarks = showPassages(passages, Math.max(0, chars) * SHARES.remarks, seen);
  return { guidance, decisions, failures, commits, commands, changes, answers, read, remarks };
}

/** What failed, why, and what became of it. */
function failureLine({ turn, what, lines, mend }: FailedCall): string {
  const why = lines.length === 0 ? "" : `: ${lines.join("; ")}`;
  const line = cutEnd(`- [t${turn}] ${what} failed${why}`, FAILURE_CHARS);
  if (mend === null) return line;
  const changed = mend.changed.length === 0 ? "" : ` after changes to ${mend.changed.join(", ")}`;
  return `${line} → worked in t${mend.turn}${changed}`;
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
