// `jpg log`: the compaction history, one commit a line as `git log --oneline` has it, or in full.
import type { LogReport, LogRow } from "../../app/inspect/log-row.ts";
import { forTerminal, forTerminalLine } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { renderFields } from "./render-fields.ts";
import {
  type BeforeAfter,
  renderRange,
  renderShare,
  renderSource,
  renderTime,
  renderTokens,
} from "./render-quantity.ts";

/** How the history is shown. */
export interface LogRendering extends Rendering {
  readonly verbose?: boolean;
}

/** Renders the history, newest first; empty when there is none. */
export function renderLog(rows: LogReport, rendering: LogRendering): string {
  if (rendering.verbose) return rows.map((row) => renderEntry(row, rendering)).join("\n\n");
  return rows.map((row) => renderLogLine(row, rendering.style)).join("\n");
}

/** Renders one commit of the history as a line, e.g. `3fa9c1d (k3f9q2, live) compact 0..12: …`. */
export function renderLogLine(row: LogRow, style: Style): string {
  const mark = row.message === undefined ? "" : ` ${style.caution("[message differs]")}`;
  return `${style.commit(row.commit.slice(0, 7))} ${decoration(row, style)} ${forTerminalLine(row.subject)}${mark}`;
}

function decoration(row: LogRow, style: Style): string {
  const id = style.id(forTerminalLine(row.compaction));
  const squashed = row.squashed === true ? `, ${style.faint("squashed")}` : "";
  return `(${row.kind === "compaction" ? id : `${row.kind} of ${id}`}${standing(row, style)}${squashed})`;
}

/** What the compaction is at the tip; a row that takes it back or brings it back need not say that it did. */
function standing(row: LogRow, style: Style): string {
  if (row.kind === "revert") return "";
  if (row.not_applied !== undefined && row.live) return `, ${style.caution("not applied")}`;
  return row.live ? `, ${style.good("live")}` : `, ${style.faint("reverted")}`;
}

function renderEntry(row: LogRow, rendering: Rendering): string {
  const { style } = rendering;
  const range =
    row.from_turn === null || row.to_turn === null ? null : `turns ${renderRange(row.from_turn, row.to_turn)}`;
  const fields = renderFields(
    [
      ["Date", renderTime(row.timestamp)],
      ["Author", row.author],
      ["Range", range],
      ["Policies", row.policies],
      ["Tokens", row.tokens === null ? null : renderChange(row.tokens, row.tokens_source)],
      ["Source", row.source],
      ["Profile", row.profile],
      ["Not applied", row.not_applied],
      ["Message", row.message === undefined ? null : renderMessage(row.message)],
    ],
    rendering,
  );
  const head = `${style.commit(`commit ${row.commit}`)} ${decoration(row, style)}`;
  const heading = row.source === "import" ? ["Summary, as it was imported:", ""] : [];
  const body = [row.subject, ...(row.summary === undefined ? [] : ["", ...heading, row.summary])].join("\n");
  return [head, ...fields, "", indentText(body)].join("\n");
}

/** Renders a commit's own subject where it tells something else than the record. */
export function renderMessage(message: string): string {
  return `"${message}" (the commit says so; the record does not)`;
}

function renderChange(tokens: BeforeAfter, source: LogRow["tokens_source"]): string {
  return `${renderTokens(tokens)} ${renderShare(tokens)}`.trimEnd() + renderSource(source);
}

function indentText(text: string): string {
  return forTerminal(text)
    .split("\n")
    .map((line) => (line === "" ? "" : `    ${line}`))
    .join("\n");
}
