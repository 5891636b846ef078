// The table of `jpg ls`, which fits on 80 columns: the title gets what the other columns leave.

import { type ListRow, NEARLY_FULL } from "../../app/look/list.ts";
import { shortNames } from "../../app/names/short-names.ts";
import type { MachineRow } from "../../app/overview/machine.ts";
import { shortAgentName } from "../../app/sessions/session-registry.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderUsd } from "../../core/model/money.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, type Column, renderTableText } from "../frame/table.ts";
import { displayWidth, type Rendering, type Style } from "../frame/terminal.ts";
import { renderAge, renderBytes, renderElsewhere, renderOverhead } from "./quantity.ts";

/** A row of one store's list, or of the whole machine's. */
type ListedRow = ListRow & Partial<Pick<MachineRow, "project" | "session">>;

interface ListRendering extends Rendering {
  readonly now: Date;
}

/** What a column shows, and how. */
interface ListColumn extends Column {
  readonly head: string;
  /** Empty in every row = the column is left out. */
  readonly cell: (row: ListedRow, style: Style) => Cell;
  /** Left out where the title would get less than `LEAST_TITLE`; those with higher numbers first. Absent = never. */
  readonly spare?: number;
}

/** Columns of the terminal that the title, with the project before it, gets at least, as long as other columns can be left out. */
const LEAST_TITLE = 30;
const TITLE = "TITLE";
const PROJECT = "PROJECT";
/** Columns that the name of a project keeps at least. */
const LEAST_PROJECT = 8;
/** US dollars: half a cent. */
const LEAST_COST = 0.005;

/** Renders conversations in the order given; empty when there are none. */
export function renderList(rows: readonly ListedRow[], { style, width, now }: ListRendering): SafeText {
  if (rows.length === 0) return "";
  const { columns, gap } = fitting(columnsOf(rows, style, now), rows, { style, width });
  const cells = columns.map(({ head }): Cell => ({ text: head, paint: style.faint }));
  for (const row of rows) for (const { cell } of columns) cells.push(cell(row, style));
  return joinLines([renderTableText(cells, { columns, width, gap }), ...listNotes(rows, style)]);
}

/** Says what the marks `+` and `?` in these rows mean. */
export function listNotes(rows: readonly ListedRow[], style: Style): readonly SafeText[] {
  const isShort = rows.some(({ overhead_source }) => overhead_source === "unknown");
  const elsewhere = rows.reduce((turns, row) => turns + (row.turns_elsewhere ?? 0), 0);
  return [
    ...(isShort ? [style.faint(safe`+ ${renderOverhead("unknown") ?? ""}`)] : []),
    ...(elsewhere > 0 ? [style.faint(safe`? ${renderElsewhere(elsewhere) ?? ""}`)] : []),
  ];
}

/** Says what the star before an ID means; empty where no row has one. */
export function activeNote(rows: readonly ListedRow[]): readonly SafeText[] {
  return rows.some(({ active }) => active === true)
    ? [safe`* the active conversation: commands without an ID are about it.`]
    : [];
}

function columnsOf(rows: readonly ListedRow[], style: Style, now: Date): readonly ListColumn[] {
  const right = { align: "right" } as const;
  const idOf = shortNames(rows);
  return [
    { head: "AGE", ...right, paint: style.faint, cell: ({ updated_at }) => renderAge(updated_at, now) },
    { head: "AGENT", cell: ({ agent }) => (agent === undefined ? "jpg" : shortAgentName(agent)) },
    { head: PROJECT, shrinkTo: LEAST_PROJECT, cell: ({ project }) => projectName(project) },
    { head: TITLE, shrinkTo: 8, cell: titleText },
    { head: "TURNS", ...right, cell: ({ turns, session }) => `${turns}${session?.is_beginning === true ? "+" : ""}` },
    { head: "TOKENS", ...right, cell: tokensText },
    { head: "FULL", ...right, cell: shareCell },
    { head: "COMP", ...right, spare: 2, cell: ({ compactions }) => (compactions > 1 ? String(compactions) : "") },
    { head: "FORK", ...right, spare: 1, cell: ({ forks }) => (forks > 0 ? String(forks) : "") },
    {
      head: "COST",
      ...right,
      spare: 0,
      cell: ({ cost_usd }) => costText(cost_usd),
    },
    { head: " ID", paint: style.id, cell: (row) => markedId(row, idOf(row), style) },
  ];
}

interface Fitted {
  readonly columns: readonly ListColumn[];
  readonly gap: 1 | 2;
}

/** Leaves out empty columns, then those that the title needs; before the cost is left out, the columns move together. */
function fitting(all: readonly ListColumn[], rows: readonly ListedRow[], { style, width }: Rendering): Fitted {
  let columns = all.filter(({ cell }) => rows.some((row) => textOf(cell(row, style)) !== ""));
  if (width === Number.POSITIVE_INFINITY) return { columns, gap: 2 };
  const widths = new Map(columns.map((column) => [column, naturalWidth(column, rows, style)]));
  const widthOf = (head: string): number =>
    columns.reduce((own, one) => (one.head === head ? (widths.get(one) ?? 0) : own), 0);
  const title = widthOf(TITLE);
  const least = Math.min(LEAST_TITLE - Math.min(widthOf(PROJECT), LEAST_PROJECT), title);
  const isWide = (gap: 1 | 2): boolean =>
    width + title - columns.reduce((sum, one) => sum + (widths.get(one) ?? 0) + gap, -gap) >= least;
  const leaveOut = (spare: number): void => {
    columns = columns.filter((column) => column.spare !== spare);
  };
  for (const spare of [2, 1]) if (!isWide(2)) leaveOut(spare);
  if (isWide(2)) return { columns, gap: 2 };
  if (!isWide(1)) leaveOut(0);
  return { columns, gap: 1 };
}

function naturalWidth({ head, cell }: ListColumn, rows: readonly ListedRow[], style: Style): number {
  const most = rows.reduce(
    (width, row) => Math.max(width, displayWidth(forTerminal(textOf(cell(row, style))))),
    head.length,
  );
  return head === PROJECT ? Math.min(most, LEAST_PROJECT + 4) : most;
}

/** The last folder of a path; empty in a list of one store. */
function projectName(project: string | null | undefined): string {
  if (project === undefined) return "";
  return project === null ? "-" : (/[^/\\]+[/\\]?$/.exec(project)?.[0] ?? project);
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

function markedId({ active, session }: ListedRow, id: string, style: Style): Cell {
  if (session !== undefined) return { text: " new", paint: style.caution };
  return active === true ? { text: `*${id}`, paint: style.good } : ` ${id}`;
}

function tokensText({ tokens, turns_elsewhere, tokens_source, overhead_source, session }: ListedRow): string {
  // Not imported: how much a model would see of it is not known yet.
  if (session !== undefined) return renderBytes(session.bytes);
  const { raw, view } = tokens;
  const before = turns_elsewhere === undefined ? roughly(raw) : "?";
  const after = roughly(view);
  const text = before === after ? after : `${before}→${after}`;
  return `${tokens_source === "estimate" ? "~" : ""}${text}${overhead_source === "unknown" ? "+" : ""}`;
}

/** `950`, `1.2k`, `84k`, `1.2M`: in a column of sizes nobody reads tenths of a large one. */
function roughly(tokens: number): string {
  const thousands = Math.round(tokens / 1000);
  if (tokens < 9950) return formatTokens(tokens);
  return thousands < 1000 ? `${thousands}k` : formatTokens(Math.max(tokens, 1_000_000));
}

/** In cents: what is less is nobody's concern in a list. */
function costText(cost: number | null | undefined): string {
  if (typeof cost !== "number") return "";
  return cost > 0 && cost < LEAST_COST ? "<$0.01" : renderUsd(Math.round(cost * 100) / 100);
}

function shareCell({ window }: ListedRow, style: Style): Cell {
  if (window === undefined) return "";
  const text = `${Math.round(window.share * 100)}%`;
  return window.share >= NEARLY_FULL ? { text, paint: style.caution } : text;
}

/** Whether it is a sub-agent's conversation, which is listed after the one that started it. */
function isAgent({ parent }: ListedRow): boolean {
  return parent?.kind === "agent" && parent.id !== undefined;
}

function titleText(row: ListedRow): string {
  const { title, pinned, archived, labels = [], agents = 0 } = row;
  const marks = [
    ...(pinned === true ? ["pinned"] : []),
    ...(archived === true ? ["archived"] : []),
    ...labels,
    ...(agents === 0 ? [] : [`+${agents} ${agents === 1 ? "agent" : "agents"}`]),
  ];
  const marked = marks.length === 0 ? title : `[${marks.join(", ")}] ${title}`;
  return isAgent(row) ? `  ${marked}` : marked;
}
