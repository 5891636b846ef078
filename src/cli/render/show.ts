// `jpg show`: a conversation, an event or a compaction in detail.
import { eventLines } from "../../app/diff/view-text.ts";
import type { ShowCompaction, ShowConversation, ShowEvent, ShowReport } from "../../app/look/show.ts";
import { agentName } from "../../app/sessions/session-registry.ts";
import type { HiddenContent } from "../../core/compact/hidden-content.ts";
import { type Compaction, describeReading, tokensSent } from "../../core/conversation/compaction.ts";
import type { TurnRange } from "../../core/conversation/event.ts";
import { groupRange } from "../../core/conversation/group.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/money.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { renderTable } from "../frame/table.ts";
import { fitWidth, type Rendering, type Style } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";
import { renderLogLine, renderMaker, renderMessage } from "./list.ts";
import { renderAllLost, renderLoss, renderLost } from "./loss.ts";
import {
  type BeforeAfter,
  type Field,
  groupDigits,
  indentText,
  renderBytes,
  renderCommit,
  renderCount,
  renderElsewhere,
  renderFields,
  renderId,
  renderRange,
  renderRawAndView,
  renderShare,
  renderSource,
  renderTime,
  renderTokens,
} from "./quantity.ts";

export function renderShow(
  report: ShowReport,
  rendering: Rendering,
  { isFull }: { readonly isFull: boolean } = { isFull: true },
): SafeText {
  switch (report.kind) {
    case "conversation":
      return renderConversation(report, rendering);
    case "event":
      return renderEvent(report, rendering);
    case "compaction":
      return isFull ? renderShowCompaction(report, rendering) : renderShortCompaction(report, rendering);
  }
}

function renderConversation(report: ShowConversation, rendering: Rendering): SafeText {
  const { style } = rendering;
  const marks = [...(report.pinned === true ? ["pinned"] : []), ...(report.archived === true ? ["archived"] : [])];
  const lines = renderFields(
    [
      ["Title", report.title],
      ["Branch", report.branch],
      ["Commit", renderCommit(report)],
      ["Source", report.source],
      ["Parent", renderParent(report.parent)],
      ["Created", renderTime(report.created_at)],
      ["Updated", renderTime(report.updated_at)],
      ["Turns", groupDigits(report.turns)],
      ["Events", groupDigits(report.events)],
      ["Tokens", safe`${renderRawAndView(report.tokens, report.turns_elsewhere)}${renderSource(report.tokens_source)}`],
      ["Elsewhere", renderElsewhere(report.turns_elsewhere)],
      ["Labels", report.labels?.join(", ")],
      ["State", marks.join(", ")],
    ],
    rendering,
  );
  const branches = report.branches.map(({ name, turns, active }) => {
    const line = safe`${active ? "*" : " "} ${forTerminalLine(name)}`;
    return safe`  ${active ? style.good(line) : line} ${style.faint(renderCount(turns, "turn"))}`;
  });
  const logged = { ...rendering, agent: agentOf(report.source) };
  const compactions = report.compactions.map((row) => renderLogLine(row, logged, safe`  `));
  return joinLines([
    safe`${style.heading(safe`conversation`)} ${style.id(forTerminalLine(report.id))}`,
    ...lines,
    ...section(style.heading(safe`Branches:`), branches),
    ...section(style.heading(safe`Compactions in force, newest first:`), compactions),
    ...section(
      style.heading(safe`Sub-agents:`),
      (report.agents ?? []).map((agent) => renderAgent(agent, rendering)),
    ),
  ]);
}

/** The shown name of the agent in `FORMAT SESSION`. */
function agentOf(source: string | null): string | undefined {
  return source === null ? undefined : agentName(source.split(" ", 1)[0] ?? source);
}

function renderParent(parent: ShowConversation["parent"]): SafeText | null {
  if (parent === undefined) return null;
  const what = parent.kind === "agent" ? safe`sub-agent of` : safe`fork of`;
  if (parent.id === undefined) return safe`${what} session ${forTerminalLine(parent.session)}, which is not here`;
  return safe`${what} ${forTerminalLine(parent.id)}${parent.turn === undefined ? "" : safe`, turn ${parent.turn}`}`;
}

function renderAgent(
  { id, title, turn }: NonNullable<ShowConversation["agents"]>[number],
  { style }: Rendering,
): SafeText {
  const place = turn === undefined ? safe`` : style.faint(safe` (turn ${turn})`);
  return safe`  ${style.id(forTerminalLine(id))}${place} ${forTerminalLine(title)}`;
}

const STATES = {
  shown: "shown to the model as it is",
  changed: "changed",
  hidden: "hidden",
  internal: "no model sees this kind of event",
} as const;

function renderEvent(report: ShowEvent, rendering: Rendering): SafeText {
  const { style } = rendering;
  const { event } = report;
  const by = report.compaction === undefined ? "" : ` by compaction ${report.compaction}`;
  const fields = renderFields(
    [
      ["Kind", event.type],
      ["Tool", event.type === "tool_call_request" ? event.name : null],
      ["Call", event.type === "tool_call_request" || event.type === "tool_call_response" ? event.call_id : null],
      ["Result", event.type === "tool_call_response" ? (event.is_error ? "error" : "success") : null],
      ["Date", renderTime(event.timestamp)],
      ["Branch", report.branch],
      ["Turn", report.turn],
      ["Model", event.metadata?.model],
      ["Tokens", safe`${formatTokens(report.tokens)}${renderSource(report.tokens_source)}`],
      ["View", `${STATES[report.state]}${by}`],
    ],
    rendering,
  );
  const texts = (lines: readonly string[]): SafeText[] => lines.flatMap((line) => indentWrapped(line, rendering.width));
  const projected = report.projected === undefined ? [] : texts(eventLines(report.projected));
  return joinLines([
    safe`${style.heading(safe`event`)} ${style.id(forTerminalLine(event.id))}`,
    ...fields,
    "",
    ...texts(eventLines(event)),
    ...section(style.heading(safe`In the view:`), projected),
  ]);
}

/** Indents the lines of a text, at the terminal's width. */
function indentWrapped(text: string, width: number): SafeText[] {
  return indentText(text).flatMap((line) => wrapProse(line, width));
}

function section(heading: SafeText, lines: readonly SafeText[]): SafeText[] {
  return lines.length === 0 ? [] : ["", heading, ...lines];
}

/** Most files or commands named; the rest is counted. */
const MOST_NAMED = 20;

function renderShowCompaction(report: ShowCompaction, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const { event, hidden, receipt, lost = [] } = report;
  return joinLines([
    safe`${style.heading(safe`compaction`)} ${style.id(forTerminalLine(event.id))} (${stateOf(report, style)})`,
    ...renderFields([...originFields(report), ...hiddenFields(report, hidden)], rendering),
    ...compactionSection(safe`Group:`, membersOf(report, width), style),
    ...(report.compactions ?? [event]).flatMap((one) =>
      compactionSection(
        summaryHeading(one),
        one.summary === undefined ? [] : indentWrapped(one.summary.summary, width),
        style,
      ),
    ),
    ...compactionSection(safe`Tools hidden:`, toolLines(hidden, style, width), style),
    ...compactionSection(safe`Tools pruned:`, named(event.tools?.names ?? []), style),
    ...compactionSection(safe`Files:`, named(hidden.files), style),
    ...compactionSection(safe`Commands:`, named(hidden.commands), style),
    ...compactionSection(
      safe`Loss receipt:`,
      [...renderLoss(receipt, rendering), ...renderAllLost(lost, rendering)],
      style,
    ),
  ]);
}

/** Lines of a short compaction: less than a terminal has. */
const SHORT_LINES = 25;
/** Lines of a summary, and tools named, in a short one. */
const SHORT_SUMMARY = 5;
const SHORT_TOOLS = 3;
/** Origin fields that only the whole compaction prints. */
const WHOLE_ONLY: ReadonlySet<string> = new Set(["Prompt", "Read", "Usage", "Bytes", "Profile", "Source"]);

/** The compaction in less than a screen: where and what, the beginning of its text, the largest of what it hides. */
function renderShortCompaction(report: ShowCompaction, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const { event, hidden, receipt, lost = [] } = report;
  const fields = [...originFields(report), ...hiddenFields(report, hidden)].filter(([name]) => !WHOLE_ONLY.has(name));
  const tools = toolLines(hidden, style, width);
  const texts = (report.compactions ?? [event]).flatMap(({ summary }) =>
    summary === undefined ? [] : indentText(summary.summary),
  );
  const named: readonly SafeText[] = [
    ...(hidden.files.length === 0 ? [] : [renderCount(hidden.files.length, "file")]),
    ...(hidden.commands.length === 0 ? [] : [renderCount(hidden.commands.length, "command")]),
    ...(event.tools === undefined ? [] : [renderCount(event.tools.names.length, "pruned tool")]),
    ...(tools.length <= SHORT_TOOLS + 1 ? [] : [renderCount(tools.length - 1 - SHORT_TOOLS, "more tool")]),
  ];
  const lines = [
    safe`${style.heading(safe`compaction`)} ${style.id(forTerminalLine(event.id))} (${stateOf(report, style)})`,
    ...renderFields(fields, rendering),
    ...membersOf(report, width).slice(0, SHORT_TOOLS),
    ...compactionSection(
      summaryHeading(event),
      texts.slice(0, SHORT_SUMMARY).map((line) => fitWidth(line, width)),
      style,
    ),
    ...(tools.length === 0 ? [] : tools.slice(0, SHORT_TOOLS + 1)),
    ...renderLost(receipt, lost, rendering),
  ];
  const rest = safe`\`jpg show ${renderId(event.id)} --full\` prints all of it${named.length === 0 ? "" : safe`: ${joinSafe(named, ", ")}`}.`;
  const end = wrapProse(rest, width);
  return joinLines([...lines.slice(0, SHORT_LINES - end.length), ...end.map(style.faint)]);
}

/** Returns the turns of the whole group. */
function rangeOf({ event, compactions }: ShowCompaction): TurnRange {
  const [first = event, ...others] = compactions ?? [];
  return groupRange([first, ...others]);
}

/** Renders a line for each compaction of the group. */
function membersOf({ compactions = [] }: ShowCompaction, width: number): readonly SafeText[] {
  const rest = compactions.length - MOST_NAMED;
  const lines = compactions.slice(0, MOST_NAMED).map((one) => {
    const range = renderRange(one.from_turn, one.to_turn);
    return fitWidth(safe`    ${forTerminalLine(one.id)}  ${range}: ${forTerminalLine(describePolicies(one))}`, width);
  });
  return rest > 0 ? [...lines, safe`    … ${groupDigits(rest)} more`] : lines;
}

/** The state, and whose it is if the agent made it. */
function stateOf({ live, not_applied, agent }: ShowCompaction, style: Style): SafeText {
  const by = renderMaker(agent);
  if (!live) return safe`${style.faint(safe`reverted`)}${by}`;
  return safe`${not_applied === undefined ? style.good(safe`in force`) : style.caution(safe`in force, not applied`)}${by}`;
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

/** Renders tokens, calls and price of a generated summary; null = no model wrote it. */
function usageOf(summary: Compaction["summary"]): string | null {
  if (summary?.source !== "generated") return null;
  const price = renderPrice(summary.price_usd ?? null);
  if (summary.usage === undefined) return price;
  const { calls, output } = summary.usage;
  const sent = formatTokens(tokensSent(summary.usage));
  return safe`${sent} tokens sent, ${formatTokens(output)} answered in ${renderCount(calls, "call")}, ${price}`;
}

/** Renders what the compaction hides: the size of its range, raw and as shown at the time, and of the whole view as `log` does. */
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

function compactionSection(heading: SafeText, lines: readonly SafeText[], style: Style): SafeText[] {
  return lines.length === 0 ? [] : ["", style.heading(heading), ...lines];
}
