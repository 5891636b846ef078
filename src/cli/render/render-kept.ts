// `jpg import --list`: what agents keep for this project, one session a line.
import type { KeptRow } from "../../app/sessions/list-kept.ts";
import { type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { type Cell, type Column, renderTableText } from "../frame/table.ts";
import { renderAge, renderBytes } from "./render-quantity.ts";

const HEADER = ["AGENT", "AGE", "TURNS", "SIZE", "TITLE", "FILE"];
const COLUMNS: readonly Column[] = [{}, {}, { align: "right" }, { align: "right" }, { shrinkTo: 16 }, { shrinkTo: 8 }];

/** Renders sessions in the order given. */
export function renderKept(
  rows: readonly KeptRow[],
  { style, width, now }: Rendering & { readonly now: Date },
): SafeText {
  if (rows.length === 0) return safe`No agent on this machine keeps sessions for this project.`;
  const cells = HEADER.map((text): Cell => ({ text, paint: style.faint }));
  for (const { agent, updated_at, turns, bytes, title, problem, path } of rows)
    cells.push(
      agent,
      renderAge(updated_at, now),
      turns === undefined ? "-" : String(turns),
      renderBytes(bytes),
      problem === undefined ? (title ?? "") : { text: problem, paint: style.caution },
      path,
    );
  return renderTableText(cells, { columns: COLUMNS, width });
}
