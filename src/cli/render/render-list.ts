// `jpg ls`: one conversation a line; the active one is marked `*`, as git marks the current branch.

import type { ListReport, ListRow } from "../../app/reports/reports.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { type Cell, type Column, renderTable } from "../frame/table.ts";
import { renderAge, renderTokens } from "./render-quantity.ts";

/** What a list needs beside colours and width. */
export interface ListRendering extends Rendering {
  readonly now: Date;
}

const HEADER = ["  ID", "BRANCH", "TURNS", "TOKENS", "COMP", "FORK", "AGE", "TITLE"];
const COLUMNS: readonly Column[] = [
  { shrinkTo: 16 },
  { shrinkTo: 10 },
  { align: "right" },
  { align: "right" },
  { align: "right" },
  { align: "right" },
  {},
  { shrinkTo: 8 },
];

/** Renders conversations in the order given; empty when there are none. */
export function renderList(rows: ListReport, { style, width, now }: ListRendering): string {
  if (rows.length === 0) return "";
  const header = HEADER.map((text) => ({ text, paint: style.faint }));
  return renderTable([header, ...rows.map((row) => cells(row, style, now))], { columns: COLUMNS, width }).join("\n");
}

function cells(row: ListRow, style: Style, now: Date): Cell[] {
  const { raw, view } = row.tokens;
  return [
    { text: `${row.active === true ? "*" : " "} ${row.id}`, paint: row.active === true ? style.good : style.id },
    forkName(row.branch, row.id),
    String(row.turns),
    `${row.tokens_source === "estimate" ? "~" : ""}${renderTokens({ before: raw, after: view })}`,
    row.compactions === 0 ? "-" : String(row.compactions),
    row.forks === 0 ? "-" : String(row.forks),
    { text: renderAge(row.updated_at, now), paint: style.faint },
    titleText(row),
  ];
}

/** The branch without the conversation it begins with. */
function forkName(branch: string, id: string): string {
  return branch.startsWith(`${id}/`) ? branch.slice(id.length + 1) : branch;
}

function titleText({ title, pinned, archived, labels = [] }: ListRow): string {
  const marks = [...(pinned === true ? ["pinned"] : []), ...(archived === true ? ["archived"] : []), ...labels];
  return marks.length === 0 ? title : `[${marks.join(", ")}] ${title}`;
}
