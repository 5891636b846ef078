// `jpg show`: a conversation, an event or a compaction in detail.
import { eventLines } from "../../app/diff/view-text.ts";
import type { ShowConversation, ShowEvent, ShowReport } from "../../app/look/show.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { indentText } from "./indent-text.ts";
import { renderFields } from "./render-fields.ts";
import { renderLogLine } from "./render-log.ts";
import {
  groupDigits,
  renderCommit,
  renderCount,
  renderElsewhere,
  renderRawAndView,
  renderSource,
  renderTime,
} from "./render-quantity.ts";
import { renderShowCompaction } from "./render-show-compaction.ts";

/** Renders what was asked for. */
export function renderShow(report: ShowReport, rendering: Rendering): SafeText {
  switch (report.kind) {
    case "conversation":
      return renderConversation(report, rendering);
    case "event":
      return renderEvent(report, rendering);
    case "compaction":
      return renderShowCompaction(report, rendering);
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
  const compactions = report.compactions.map((row) => safe`  ${renderLogLine(row, style)}`);
  return joinLines([
    safe`${style.heading(safe`conversation`)} ${style.id(forTerminalLine(report.id))}`,
    ...lines,
    ...section(style.heading(safe`Branches:`), branches),
    ...section(style.heading(safe`Live compactions, newest first:`), compactions),
    ...section(
      style.heading(safe`Sub-agents:`),
      (report.agents ?? []).map((agent) => renderAgent(agent, rendering)),
    ),
  ]);
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
  const projected = report.projected === undefined ? [] : eventLines(report.projected).flatMap(indentText);
  return joinLines([
    safe`${style.heading(safe`event`)} ${style.id(forTerminalLine(event.id))}`,
    ...fields,
    "",
    ...eventLines(event).flatMap(indentText),
    ...section(style.heading(safe`In the view:`), projected),
  ]);
}

function section(heading: SafeText, lines: readonly SafeText[]): SafeText[] {
  return lines.length === 0 ? [] : ["", heading, ...lines];
}
