// `jpg import --list`: what agents keep for this project, one session a line; and the same with numbers to pick by.
import type { KeptRow } from "../../app/import/list-kept.ts";
import { appendAll } from "../../core/lists.ts";
import { type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { type Cell, type Column, renderTableText } from "../frame/table.ts";
import { renderAge, renderBytes } from "./render-quantity.ts";

const HEADER = ["AGENT", "AGE", "TURNS", "SIZE", "TITLE"];
const COLUMNS: readonly Column[] = [{}, {}, { align: "right" }, { align: "right" }, { shrinkTo: 16 }];

interface KeptRendering extends Rendering {
  readonly now: Date;
}

/** Renders sessions in the order given, the file of each last. */
export function renderKept(rows: readonly KeptRow[], { style, width, now }: KeptRendering): SafeText {
  if (rows.length === 0) return safe`No agent on this machine keeps any such sessions for this project.`;
  const cells = [...HEADER, "FILE"].map((text): Cell => ({ text, paint: style.faint }));
  for (const row of rows) appendAll(cells, [...cellsOf(row, style, now), row.path]);
  return renderTableText(cells, { columns: [...COLUMNS, { shrinkTo: 12 }], width });
}

/** Renders sessions in the order given, numbered from 1. */
export function renderPick(rows: readonly KeptRow[], { style, width, now }: KeptRendering): SafeText {
  const cells = ["#", ...HEADER].map((text): Cell => ({ text, paint: style.faint }));
  for (const [at, row] of rows.entries()) appendAll(cells, [String(at + 1), ...cellsOf(row, style, now)]);
  return renderTableText(cells, { columns: [{ align: "right" }, ...COLUMNS], width });
}

function cellsOf({ agent, updated_at, turns, bytes, title, problem, is_beginning }: KeptRow, style: Style, now: Date) {
  return [
    agent,
    renderAge(updated_at, now),
    turns === undefined ? "-" : `${turns}${is_beginning === true ? "+" : ""}`,
    renderBytes(bytes),
    problem === undefined ? (title ?? "") : { text: problem, paint: style.caution },
  ] satisfies Cell[];
}
