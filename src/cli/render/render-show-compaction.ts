// A compaction in detail: its commit, its policies, and what it took out of the view.
import type { ShowCompaction } from "../../app/look/show.ts";
import type { HiddenContent } from "../../core/compact/hidden-content.ts";
import { type Compaction, describeReading, tokensSent } from "../../core/conversation/compaction.ts";
import type { TurnRange } from "../../core/conversation/event.ts";
import { groupRange } from "../../core/conversation/group.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/usage.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { renderTable } from "../frame/table.ts";
import { indentText } from "./indent-text.ts";
import { type Field, renderFields } from "./render-fields.ts";
import { renderMessage } from "./render-log.ts";
import { renderLoss } from "./render-loss.ts";
import {
  type BeforeAfter,
  groupDigits,
  renderBytes,
  renderCount,
  renderRange,
  renderShare,
  renderTime,
  renderTokens,
} from "./render-quantity.ts";

/** Files and commands named before the rest is only counted. */
const MOST_NAMED = 20;

/** Renders a compaction. */
export function renderShowCompaction(report: ShowCompaction, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const { event, hidden, receipt } = report;
  return joinLines([
    safe`${style.heading(safe`compaction`)} ${style.id(forTerminalLine(event.id))} (${standing(report, style)})`,
    ...renderFields([...originFields(report), ...hiddenFields(report, hidden)], rendering),
    ...section(safe`Made as one:`, membersOf(report), style),
    ...(report.compactions ?? [event]).flatMap((one) =>
      section(summaryHeading(one), one.summary === undefined ? [] : indentText(one.summary.summary), style),
    ),
    ...section(safe`Tools hidden:`, toolLines(hidden, style, width), style),
    ...section(safe`Tools pruned:`, named(event.tools?.names ?? []), style),
    ...section(safe`Files:`, named(hidden.files), style),
    ...section(safe`Commands:`, named(hidden.commands), style),
    ...section(safe`Loss receipt:`, renderLoss(receipt, rendering), style),
  ]);
}

/** The turns of all that its commit added as one. */
function rangeOf({ event, compactions }: ShowCompaction): TurnRange {
  const [first = event, ...others] = compactions ?? [];
  return groupRange([first, ...others]);
}

/** The compactions that its commit added as one. */
function membersOf({ compactions = [] }: ShowCompaction): readonly SafeText[] {
  const rest = compactions.length - MOST_NAMED;
  const lines = compactions.slice(0, MOST_NAMED).map((one) => {
    const range = renderRange(one.from_turn, one.to_turn);
    return safe`    ${forTerminalLine(one.id)}  ${range}: ${forTerminalLine(describePolicies(one))}`;
  });
  return rest > 0 ? [...lines, safe`    … ${groupDigits(rest)} more`] : lines;
}

function standing({ live, not_applied }: ShowCompaction, style: Style): SafeText {
  if (!live) return style.faint(safe`reverted`);
  return not_applied === undefined ? style.good(safe`live`) : style.caution(safe`live, not applied`);
}

function originFields(report: ShowCompaction): Field[] {
  const { event, commit, branch, policies, not_applied, message } = report;
  const { from, to } = rangeOf(report);
  const bounds = [event.from_event && `from ${event.from_event}`, event.to_event && `up to ${event.to_event}`];
  const cut = bounds.filter(Boolean).join(", ");
  return [
    ["Commit", commit],
    ["Message", message === undefined ? null : renderMessage(message)],
    ["Branch", branch],
    ["Date", renderTime(event.timestamp)],
    ["Range", `turns ${renderRange(from, to)}${cut === "" ? "" : ` (${cut})`}`],
    ["Policies", policies],
    ["Profile", event.profile],
    ["Source", event.source],
    ["Reason", event.reason],
    ["Model", event.summary?.model],
    ["Prompt", event.summary?.prompt_sha256 && `sha256 ${event.summary.prompt_sha256}`],
    ["Read", (event.summary && describeReading(event.summary).join("; ")) || null],
    ["Usage", usageOf(event.summary)],
    [
      "Keeps",
      event.keep?.length === undefined || event.keep.length === 0 ? null : `${event.keep.length} events in range`,
    ],
    ["Not applied", not_applied],
  ];
}

function summaryHeading({ summary }: Compaction): SafeText {
  if (summary?.source === "extractive") return safe`Summary (an extract by fixed rules, not written by a model):`;
  return summary?.source === "imported" ? safe`Summary (as it was imported; jpg did not check it):` : safe`Summary:`;
}

/** What a summary cost; null where no model was asked, or nobody recorded it. */
function usageOf(summary: Compaction["summary"]): string | null {
  if (summary?.source !== "generated") return null;
  const price = renderPrice(summary.price_usd ?? null);
  if (summary.usage === undefined) return price;
  const { calls, output } = summary.usage;
  const sent = formatTokens(tokensSent(summary.usage));
  return safe`${sent} tokens sent, ${formatTokens(output)} answered in ${renderCount(calls, "call")}, ${price}`;
}

/** Tokens of what it covers, raw and as shown then, and of the whole view as `compact` and `log` give them. */
function hiddenFields(report: ShowCompaction, hidden: HiddenContent): Field[] {
  const { stats } = report.event;
  const { from: from_turn, to: to_turn } = rangeOf(report);
  const { tokens, bytes, events_removed, events_changed } = hidden;
  const turns = safe`${from_turn === to_turn ? "turn" : "turns"} ${renderRange(from_turn, to_turn)}`;
  const size =
    bytes.before === bytes.after
      ? renderBytes(bytes.before)
      : safe`${renderBytes(bytes.before)} → ${renderBytes(bytes.after)}`;
  return [
    ["Tokens", `${renderChange(tokens)} (${turns}, raw → shown, estimate)`],
    [
      "View",
      stats?.tokens === undefined ? null : `${renderChange(stats.tokens)} tokens (the whole view, before → after)`,
    ],
    ["Bytes", size],
    ["Events", safe`${groupDigits(events_removed)} removed, ${groupDigits(events_changed)} changed`],
  ];
}

function renderChange(tokens: BeforeAfter): string {
  return `${renderTokens(tokens)} ${renderShare(tokens)}`.trimEnd();
}

function toolLines({ tools }: HiddenContent, style: Style, width: number): SafeText[] {
  if (tools.length === 0) return [];
  const header = ["TOOL", "CALLS", "ERRORS", "SIZE", "TOKENS"].map((text) => ({ text, paint: style.faint }));
  const rows = tools.map((tool) => [
    tool.name,
    groupDigits(tool.calls),
    tool.errors === 0 ? "-" : { text: groupDigits(tool.errors), paint: style.bad },
    renderBytes(tool.bytes),
    formatTokens(tool.tokens),
  ]);
  const right = { align: "right" } as const;
  return renderTable([header, ...rows], {
    columns: [{ shrinkTo: 12 }, right, right, right, right],
    width,
    indent: "    ",
  });
}

function named(names: readonly string[]): SafeText[] {
  const rest = names.length - MOST_NAMED;
  const lines = names.slice(0, rest > 1 ? MOST_NAMED : names.length).map((name) => safe`    ${forTerminalLine(name)}`);
  return rest > 1 ? [...lines, safe`    … ${groupDigits(rest)} more (--json lists all)`] : lines;
}

function section(heading: SafeText, lines: readonly SafeText[], style: Style): SafeText[] {
  return lines.length === 0 ? [] : ["", style.heading(heading), ...lines];
}
