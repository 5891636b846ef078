// `jpg ls`: one conversation a line; the active one is marked `*`, as git marks the current branch.
import type { ListReport, ListRow } from "../../app/look/list.ts";
import { joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { type Cell, type Column, renderTableText } from "../frame/table.ts";
import { renderAge, renderElsewhere, renderOverhead, renderRawAndView } from "./render-quantity.ts";

/** What a list needs beside colours and width. */
export interface ListRendering extends Rendering {
  readonly now: Date;
}

/** What most branches are: their name is not made for each. */
const MAIN = "/main";
const HEADER = ["  ID", "BRANCH", "TURNS", "TOKENS", "COMP", "FORK", "AGE", "TITLE"];

/** Renders conversations in the order given; empty when there are none. */
export function renderList(rows: ListReport, { style, width, now }: ListRendering): SafeText {
  if (rows.length === 0) return "";
  const cells = HEADER.map((text): Cell => ({ text, paint: style.faint }));
  for (const row of rows) addCells(cells, row, style, renderAge(row.updated_at, now));
  const text = renderTableText(cells, { columns: columnsIn(style), width });
  const isShort = rows.some(({ overhead_source }) => overhead_source === "unknown");
  const elsewhere = rows.reduce((turns, row) => turns + (row.turns_elsewhere ?? 0), 0);
  return joinLines([
    text,
    ...(isShort ? [style.faint(safe`+ ${renderOverhead("unknown") ?? ""}`)] : []),
    ...(elsewhere > 0 ? [style.faint(safe`? ${renderElsewhere(elsewhere) ?? ""}`)] : []),
  ]);
}

function columnsIn({ id, faint }: Style): readonly Column[] {
  return [
    { shrinkTo: 16, paint: id },
    { shrinkTo: 10 },
    { align: "right" },
    { align: "right" },
    { align: "right" },
    { align: "right" },
    { paint: faint },
    { shrinkTo: 8 },
  ];
}

function addCells(cells: Cell[], row: ListRow, style: Style, age: string): void {
  cells.push(
    row.active === true ? { text: `* ${row.id}`, paint: style.good } : `${isAgent(row) ? "   " : "  "}${row.id}`,
    forkName(row.branch, row.id),
    String(row.turns),
    tokensText(row),
    row.compactions === 0 ? "-" : String(row.compactions),
    row.forks === 0 ? "-" : String(row.forks),
    age,
    titleText(row),
  );
}

function tokensText({ tokens, turns_elsewhere, tokens_source, overhead_source }: ListRow): string {
  const text = renderRawAndView(tokens, turns_elsewhere);
  const isCounted = tokens_source !== "estimate";
  if (overhead_source !== "unknown") return isCounted ? text : `~${text}`;
  return isCounted ? `${text}+` : `~${text}+`;
}

/** The branch without the conversation it begins with. */
function forkName(branch: string, id: string): string {
  if (branch.length === id.length + MAIN.length && branch.endsWith(MAIN) && branch.startsWith(id)) return "main";
  return branch[id.length] === "/" && branch.startsWith(id) ? branch.slice(id.length + 1) : branch;
}

/** Stands behind the conversation that began it. */
function isAgent({ parent }: ListRow): boolean {
  return parent?.kind === "agent" && parent.id !== undefined;
}

function titleText({ title, pinned, archived, labels = [], agents = 0 }: ListRow): string {
  if (pinned !== true && archived !== true && labels.length === 0 && agents === 0) return title;
  const marks = [
    ...(pinned === true ? ["pinned"] : []),
    ...(archived === true ? ["archived"] : []),
    ...labels,
    ...(agents === 0 ? [] : [`+${agents} ${agents === 1 ? "agent" : "agents"}`]),
  ];
  return `[${marks.join(", ")}] ${title}`;
}
