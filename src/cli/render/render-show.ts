// `jpg show`: a conversation, an event or a compaction in detail.
import { eventLines } from "../../app/diff/view-text.ts";
import type { ShowConversation, ShowEvent, ShowReport } from "../../app/inspect/show-report.ts";
import { forTerminal, forTerminalLine } from "../../core/safe-text.ts";
import { formatTokens } from "../../core/tokens/token-estimate.ts";
import type { Rendering } from "../frame/style.ts";
import { renderFields } from "./render-fields.ts";
import { renderLogLine } from "./render-log.ts";
import { groupDigits, renderCommit, renderSource, renderTime, renderTokens } from "./render-quantity.ts";
import { renderShowCompaction } from "./render-show-compaction.ts";

/** Renders what was asked for. */
export function renderShow(report: ShowReport, rendering: Rendering): string {
  switch (report.kind) {
    case "conversation":
      return renderConversation(report, rendering);
    case "event":
      return renderEvent(report, rendering);
    case "compaction":
      return renderShowCompaction(report, rendering);
  }
}

function renderConversation(report: ShowConversation, rendering: Rendering): string {
  const { style } = rendering;
  const marks = [...(report.pinned === true ? ["pinned"] : []), ...(report.archived === true ? ["archived"] : [])];
  const lines = renderFields(
    [
      ["Title", report.title],
      ["Branch", report.branch],
      ["Commit", renderCommit(report)],
      ["Source", report.source],
      ["Created", renderTime(report.created_at)],
      ["Updated", renderTime(report.updated_at)],
      ["Turns", groupDigits(report.turns)],
      ["Events", groupDigits(report.events)],
      [
        "Tokens",
        renderTokens({ before: report.tokens.raw, after: report.tokens.view }) + renderSource(report.tokens_source),
      ],
      ["Labels", report.labels?.join(", ")],
      ["State", marks.join(", ")],
    ],
    rendering,
  );
  const branches = report.branches.map(({ name, turns, active }) => {
    const line = `${active ? "*" : " "} ${forTerminalLine(name)}`;
    return `  ${active ? style.good(line) : line} ${style.faint(`${groupDigits(turns)} turns`)}`;
  });
  const compactions = report.compactions.map((row) => `  ${renderLogLine(row, style)}`);
  return [
    `${style.heading("conversation")} ${style.id(forTerminalLine(report.id))}`,
    ...lines,
    ...section(style.heading("Branches:"), branches),
    ...section(style.heading("Live compactions, newest first:"), compactions),
  ].join("\n");
}

const STATES = {
  shown: "shown to the model as it is",
  changed: "changed",
  hidden: "hidden",
  internal: "no model sees this kind of event",
} as const;

function renderEvent(report: ShowEvent, rendering: Rendering): string {
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
      ["Tokens", formatTokens(report.tokens) + renderSource(report.tokens_source)],
      ["View", `${STATES[report.state]}${by}`],
    ],
    rendering,
  );
  const projected = report.projected === undefined ? [] : indented(eventLines(report.projected));
  return [
    `${style.heading("event")} ${style.id(forTerminalLine(event.id))}`,
    ...fields,
    "",
    ...indented(eventLines(event)),
    ...section(style.heading("In the view:"), projected),
  ].join("\n");
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", heading, ...lines];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `    ${forTerminal(line)}`));
}
