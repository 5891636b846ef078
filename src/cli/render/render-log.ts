// `jpg log`: the compaction history, one commit a line as `git log --oneline` has it, or in full.
import type { LogReport, LogRow } from "../../app/look/log.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { indentText } from "./indent-text.ts";
import { renderFields } from "./render-fields.ts";
import {
  type BeforeAfter,
  renderRange,
  renderShare,
  renderSource,
  renderTime,
  renderTokens,
  shortCommit,
} from "./render-quantity.ts";

/** How the history is shown. */
export interface LogRendering extends Rendering {
  readonly verbose?: boolean;
}

/** Renders the history, newest first; empty when there is none. */
export function renderLog(rows: LogReport, rendering: LogRendering): SafeText {
  if (rendering.verbose)
    return joinSafe(
      rows.map((row) => renderEntry(row, rendering)),
      "\n\n",
    );
  return joinLines(rows.map((row) => renderLogLine(row, rendering.style)));
}

/** Renders one commit of the history as a line, e.g. `3fa9c1d (k3f9q2, live) compact 0..12: …`. */
export function renderLogLine(row: LogRow, style: Style): SafeText {
  const mark = row.message === undefined ? "" : safe` ${style.caution(safe`[message differs]`)}`;
  return safe`${style.commit(shortCommit(row.commit))} ${decoration(row, style)} ${forTerminalLine(row.subject)}${mark}`;
}

function decoration(row: LogRow, style: Style): SafeText {
  const id = style.id(forTerminalLine(row.compaction));
  const what = row.cut_off === true ? safe`history is cut off here` : safe`squashed`;
  const squashed = row.squashed === true ? safe`, ${style.faint(what)}` : "";
  return safe`(${row.kind === "compaction" ? id : safe`${row.kind} of ${id}`}${standing(row, style)}${squashed})`;
}

/** What the compaction is at the tip; a row that takes it back or brings it back need not say that it did. */
function standing(row: LogRow, style: Style): SafeText {
  if (row.kind === "revert") return "";
  if (row.not_applied !== undefined && row.live) return safe`, ${style.caution(safe`not applied`)}`;
  return row.live ? safe`, ${style.good(safe`live`)}` : safe`, ${style.faint(safe`reverted`)}`;
}

function renderEntry(row: LogRow, rendering: Rendering): SafeText {
  const { style } = rendering;
  const range =
    row.from_turn === null || row.to_turn === null ? null : safe`turns ${renderRange(row.from_turn, row.to_turn)}`;
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
  const head = safe`${style.commit(safe`commit ${forTerminalLine(row.commit)}`)} ${decoration(row, style)}`;
  const heading = row.source === "import" ? ["Summary, as it was imported:", ""] : [];
  const body = [row.subject, ...(row.summary === undefined ? [] : ["", ...heading, row.summary])].join("\n");
  return joinLines([head, ...fields, "", ...indentText(body)]);
}

/** Renders a commit's own subject where it tells something else than the record. */
export function renderMessage(message: string): string {
  return `"${message}" (the commit says so; the record does not)`;
}

function renderChange(tokens: BeforeAfter, source: LogRow["tokens_source"]): string {
  return `${renderTokens(tokens)} ${renderShare(tokens)}`.trimEnd() + renderSource(source);
}
