// A review as the description of a pull request. All that is not jpg's own word stands in fences or code, where no host renders
// it or acts on it, and at most 60,000 bytes: hosts take 65,536 characters.

import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { type FencedLine, fence, hostLine } from "../../core/safe-text.ts";
import { compactionBody, cutLine, groupBody, takeBackCommand } from "../../store/compaction-body.ts";
import type { ReviewedTurn, ReviewReport } from "./review.ts";
import type { ReviewedCompaction } from "./reviewed-compactions.ts";

const MOST_BYTES = 60_000;
/** What a compaction has room for at least; one with less is only named. */
const LEAST_BYTES = 2000;
/** Turns, reverts and settings listed, before the rest is only counted. */
const MOST_LISTED = 20;
/** Longest line of a list, bytes. */
const LINE_BYTES = 160;

/** Renders a review as Markdown, ended by a line feed. */
export function reviewMarkdown(report: ReviewReport): string {
  const { turns, compactions, reverted, settings, marks, title } = report;
  const parts = [
    headPart(report),
    ...listPart(`Turns added (${turns.length})`, turns.map(turnLine)),
    ...listPart(
      "Compactions reverted",
      reverted.map(({ id, subject }) => `${id}: ${subject}`),
    ),
    ...(title.before === title.after ? [] : listPart("Title", [`- ${title.before}`, `+ ${title.after}`])),
    ...listPart("Settings", settings),
    ...listPart("Marks", marks),
  ];
  let room = MOST_BYTES - Buffer.byteLength(parts.join("\n\n")) - LEAST_BYTES;
  // The newest decide most: they have room first.
  const newest = [...compactions].reverse().map((one) => {
    const text = compactionPart(one, room);
    room -= Buffer.byteLength(text) + 2;
    return text;
  });
  const all = newest.reverse().filter((text) => text !== "");
  const unsaid = compactions.length - all.length;
  const rest = unsaid === 0 ? [] : [`${unsaid} older compactions are not shown: \`jpg log\` lists them.`];
  return `${[...parts, ...rest, ...all].join("\n\n")}\n`;
}

function headPart(report: ReviewReport): string {
  const { fork, against, meanwhile, tokens, compactions, turns_left_out } = report;
  const moved = [
    ...(meanwhile.turns === 0 ? [] : [counted(meanwhile.turns, "turn")]),
    ...(meanwhile.compactions === 0 ? [] : [counted(meanwhile.compactions, "compaction")]),
  ];
  return [
    `# What ${code(fork)} changes for the model`,
    `Compared with ${code(against)}${partingWords(report)}. What was said in the conversation is only in code blocks.`,
    ...takenOffWarning(report),
    [
      `* tokens that the model reads: ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} (estimate)`,
      `* compactions added: ${compactions.length}`,
      ...(turns_left_out === 0 ? [] : [`* turns left out: ${turns_left_out}`]),
      ...(moved.length === 0 ? [] : [`* added to ${code(against)} since: ${moved.join(", ")}`]),
    ].join("\n"),
  ].join("\n\n");
}

function partingWords({ base, told }: ReviewReport): string {
  if (base === null) return "";
  const commit = code(base.slice(0, 9));
  if (told === null) return ` where they parted (${commit})`;
  return told === "against"
    ? `, which has a summary of it up to ${commit}`
    : `, of which it has a summary up to ${commit}`;
}

function takenOffWarning({ fork, against, told }: ReviewReport): readonly string[] {
  if (told !== "fork") return [];
  return [
    `**Merging this here or by git would remove from ${code(against)} what it did since the two parted**: ${code(fork)} has only a summary of that. ${code(`jpg merge ${fork} --into ${against}`)} keeps it.`,
  ];
}

/** One line of a list for a turn: its request, cut. */
export function turnLine({ turn, continued, request, messages }: ReviewedTurn): string {
  const said = request
    .slice(0, 4 * LINE_BYTES)
    .replace(/\s+/g, " ")
    .trim();
  return `${turn}${continued ? " (grown or replaced)" : ""}: ${said === "" ? "(no request)" : said} [${counted(messages, "message")}]`;
}

function compactionPart(
  { compaction, group, subject, message, changes, not_applied }: ReviewedCompaction,
  room: number,
): string {
  if (room < LEAST_BYTES) return "";
  const head = [
    `## ${code(subject)}`,
    ...(message === undefined
      ? []
      : [`Its commit message says something else: ${code(message)}. This text says what the record does.`]),
    ...((group ?? [compaction]).some(({ summary }) => summary?.source === "imported")
      ? ["Its summary was imported with a session; nobody checked it."]
      : []),
    `To undo it: ${takeBackCommand(compaction)}.`,
    ...(not_applied === undefined ? [] : [`It has no effect here: ${code(not_applied)}`]),
  ].join("\n\n");
  const left = room - Buffer.byteLength(head) - 2;
  const whole =
    group === undefined
      ? compactionBody(compaction, { hidden: null, changes }, left)
      : groupBody(group, { hidden: null, changes, pinned: [], unpinned: [] }, left);
  if (Buffer.byteLength(whole) <= left) return `${head}\n\n${whole}`;
  const brief = `There is no room for more here: see its commit message, or \`jpg show\`.`;
  return `${head}\n\n${brief}`;
}

function listPart(title: string, entries: readonly string[]): readonly string[] {
  if (entries.length === 0) return [];
  const rest = entries.length - MOST_LISTED;
  const lines = entries.slice(0, MOST_LISTED).map((entry): FencedLine => ({ mark: "  ", text: cut(entry) }));
  const more: readonly FencedLine[] = rest > 0 ? [{ mark: "  ", text: `… and ${rest} more` }] : [];
  return [`## ${title}\n\n${fence([...lines, ...more])}`];
}

/** A name in a sentence: a code span that it cannot end. */
function code(text: string): string {
  const name = cut(text) || "(none)";
  const longest = Math.max(0, ...[...name.matchAll(/`+/g)].map(([run]) => run.length));
  const marker = "`".repeat(longest + 1);
  return longest === 0 ? `${marker}${name}${marker}` : `${marker} ${name} ${marker}`;
}

function cut(text: string): string {
  return cutLine(hostLine(text.replace(/\s+/g, " ")), { bytes: LINE_BYTES, width: LINE_BYTES }) ?? "";
}

function counted(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
