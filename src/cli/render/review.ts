// `jpg review`: what a fork would change for the model, on a terminal.
import type { ReviewedCompaction, ReviewedTurn, ReviewReport } from "../../app/share/review.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { forTerminalLine, joinLines, joinSafe, linesForTerminal, type SafeText, safe } from "../../core/safe-text.ts";
import { displayWidth, fitMiddle, fitWidth, type Rendering, type Style } from "../frame/terminal.ts";
import { renderMessage } from "./list.ts";
import { renderLoss } from "./loss.ts";
import {
  groupDigits,
  indentText,
  renderCount,
  renderFields,
  renderId,
  renderShare,
  renderTokens,
  shortCommit,
} from "./quantity.ts";

/** Most turns or other entries listed; the rest is counted. */
const MOST_LISTED = 20;
/** How many first and last lines of a longer text are shown. */
const HEAD = 6;
const TAIL = 2;

export function renderReview(report: ReviewReport, rendering: Rendering): SafeText {
  const { style } = rendering;
  const { turns, compactions, reverted, settings, marks } = report;
  return joinLines([
    ...headLines(report, rendering),
    ...list(
      "Turns added:",
      turns.map((turn) => turnLine(turn, style)),
      rendering,
    ),
    ...list(
      "Compactions reverted:",
      reverted.map(({ id, subject }) => safe`${style.id(renderId(id))} ${forTerminalLine(subject)}`),
      rendering,
    ),
    ...list("Settings:", settings.map(forTerminalLine), rendering),
    ...list("Marks:", marks.map(forTerminalLine), rendering),
    ...compactions.flatMap((compaction) => ["" as const, ...compactionLines(compaction, rendering)]),
  ]);
}

function headLines(report: ReviewReport, rendering: Rendering): readonly SafeText[] {
  const { style } = rendering;
  const { fork, tokens, turns, turns_left_out, compactions, meanwhile, title } = report;
  const since = [
    ...(meanwhile.turns === 0 ? [] : [renderCount(meanwhile.turns, "turn")]),
    ...(meanwhile.compactions === 0 ? [] : [renderCount(meanwhile.compactions, "compaction")]),
  ];
  return [
    safe`${style.heading(forTerminalLine(fork))}`,
    safe`against ${nameOfOther(report)}${mergeBaseWords(report, style)}`,
    ...gitMergeWarning(report, style),
    ...renderFields(
      [
        ["Tokens", safe`${renderTokens(tokens)} ${renderShare(tokens)}`],
        ["Turns", turnCounts(turns.length, turns_left_out).join(", ")],
        [
          "Compactions",
          safe`${groupDigits(compactions.length)} added, ${groupDigits(report.reverted.length)} reverted`,
        ],
        ["Title", title.before === title.after ? null : `${title.before} → ${title.after}`],
        ["Meanwhile", since.length === 0 ? null : safe`${joinSafe(since, ", ")} added to ${nameOfOther(report)}`],
      ],
      rendering,
    ),
  ];
}

/** Returns the short name of a fork of the same conversation: full names are long. */
function nameOfOther({ conversation, against }: ReviewReport): SafeText {
  const isOwn = conversationOf(against) === conversation;
  return forTerminalLine(isOwn ? forkOf(against) : against);
}

function mergeBaseWords({ base, told }: ReviewReport, style: Style): SafeText {
  if (base === null) return safe``;
  const commit = shortCommit(base);
  if (told === null) return safe` ${style.faint(safe`where they parted, ${commit}`)}`;
  return told === "against"
    ? safe`${style.faint(safe`, which has a summary of it up to ${commit}`)}`
    : safe`${style.faint(safe`, of which it has a summary up to ${commit}`)}`;
}

/** Warns that git counts turns as merged of which the fork has only a summary, and would drop them. */
function gitMergeWarning(report: ReviewReport, style: Style): readonly SafeText[] {
  if (report.told !== "fork") return [];
  const [name, other] = [forTerminalLine(forkOf(report.fork)), nameOfOther(report)];
  return [
    style.caution(safe`It knows only a summary of what ${other} did since they parted.`),
    style.caution(safe`A merge by git or on a host would remove that from ${other}.`),
    style.caution(safe`\`jpg merge ${name} --into ${other}\` keeps it.`),
  ];
}

function turnCounts(added: number, leftOut: number): readonly SafeText[] {
  return [
    ...(added === 0 ? [] : [safe`${groupDigits(added)} added`]),
    ...(leftOut === 0 ? [] : [safe`${groupDigits(leftOut)} left out`]),
  ];
}

function turnLine({ turn, continued, request, messages }: ReviewedTurn, style: Style): SafeText {
  const grown = continued ? style.caution(safe` (grown or replaced)`) : "";
  const count = style.faint(safe`${renderCount(messages, "message")}`);
  return safe`${groupDigits(turn)}${grown}  ${count}  ${forTerminalLine(request.slice(0, 1000))}`;
}

function list(
  heading: "Turns added:" | "Compactions reverted:" | "Settings:" | "Marks:",
  lines: readonly SafeText[],
  { style, width }: Rendering,
): readonly SafeText[] {
  if (lines.length === 0) return [];
  const rest = lines.length - MOST_LISTED;
  const shown = lines.slice(0, MOST_LISTED).map((line) => fitWidth(safe`    ${line}`, width));
  const more: readonly SafeText[] = rest > 0 ? [safe`    … ${groupDigits(rest)} more (--json lists all)`] : [];
  return ["", style.heading(safe`${heading}`), ...shown, ...more];
}

function compactionLines(
  { compaction, group = [compaction], subject, message, changes, not_applied }: ReviewedCompaction,
  rendering: Rendering,
): readonly SafeText[] {
  const { style } = rendering;
  const { id, receipt } = compaction;
  const summaries = group.flatMap(({ summary }) => summary ?? []);
  const loss = receipt === undefined ? [] : renderLoss(receipt, rendering);
  return [
    safe`${style.heading(safe`compaction`)} ${style.id(forTerminalLine(id))} ${forTerminalLine(subject)}`,
    ...(message === undefined ? [] : [style.caution(safe`  ${forTerminalLine(renderMessage(message))}`)]),
    ...(not_applied === undefined ? [] : [style.caution(safe`  not applied: ${forTerminalLine(not_applied)}`)]),
    ...(changes.count === 0 ? [] : changesLines(changes, rendering)),
    ...summaries.flatMap(({ source, summary }) => [style.heading(summaryHeading(source)), ...indentText(summary)]),
    ...(loss.length === 0 ? [] : [style.heading(safe`  Loss receipt:`), ...loss]),
    style.faint(
      safe`  \`jpg show ${forTerminalLine(id)}\` has the rest; \`jpg revert ${forTerminalLine(id)}\` undoes it.`,
    ),
  ];
}

function summaryHeading(source: string | undefined): SafeText {
  return source === "imported" ? safe`  Summary (imported, not checked):` : safe`  Summary:`;
}

function changesLines(
  { largest, count }: ReviewedCompaction["changes"],
  { style, width }: Rendering,
): readonly SafeText[] {
  const lines = largest.flatMap(({ turn, title, tokens, before, after }) => {
    const name = safe`    ${forTerminalLine(turn)}, ${forTerminalLine(title)}`;
    const size = safe`: ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens`;
    return [
      style.hunk(safe`${fitMiddle(name, Math.max(2, width - displayWidth(size)))}${size}`),
      ...side(before, "-", width).map(style.removed),
      ...side(after, "+", width).map(style.added),
    ];
  });
  const some = count === largest.length ? "" : safe`, the ${groupDigits(largest.length)} largest`;
  return [
    style.heading(safe`  What the model saw (-) and would see (+), ${renderCount(count, "change")}${some}:`),
    ...lines,
  ];
}

function side(text: string | null, sign: "-" | "+", width: number): readonly SafeText[] {
  if (text === null) return [];
  const lines = linesForTerminal(text.trimEnd());
  const fold = lines.length > HEAD + TAIL + 1;
  const note = safe`(… ${renderCount(lines.length - HEAD - TAIL, "line")})`;
  const shown = fold ? [...lines.slice(0, HEAD), note, ...lines.slice(-TAIL)] : lines;
  return shown.map((line) => fitWidth(safe`    ${sign} ${line}`, width));
}
