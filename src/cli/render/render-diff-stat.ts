// `jpg diff --stat`: one row per turn that differs, and the total over the whole view.

import { type DiffCounts, type DiffStat, joinGone } from "../../app/diff/diff-stat.ts";
import { joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { groupDigits, renderShare, renderTokens } from "./render-quantity.ts";

/** Renders the counts of a diff; empty when nothing differs. */
export function renderDiffStat(stat: DiffStat, { style, width }: Rendering): SafeText {
  if (stat.turns.length === 0) return "";
  const row = (label: string, counts: DiffCounts): Cell[] => [
    label,
    {
      text: eventSigns(counts),
      paint: counts.events.added > 0 && counts.events.removed === 0 ? style.added : style.removed,
    },
    renderTokens(counts.tokens),
    { text: renderShare(counts.tokens), paint: style.faint },
    { text: charactersText(counts), paint: style.faint },
  ];
  const header = ["TURN", "EVENTS", "TOKENS", "", "CHARACTERS"].map((text) => ({ text, paint: style.faint }));
  const { overhead } = stat;
  const rows = [
    header,
    ...joinGone(stat.turns).map((turn) => row(turn.turn, turn)),
    ...(overhead === undefined ? [] : [["system prompt, tools", "", renderTokens(overhead), "", ""]]),
    row("total", stat.total),
  ];
  const columns = [{ shrinkTo: 12 }, {}, { align: "right" }, { align: "right" }, { align: "right" }] as const;
  return joinLines(renderTable(rows, { columns, width }));
}

/** Removed, changed and added events as signs, e.g. `-12 ~3 +2`. */
function eventSigns({ events: { removed, changed, added } }: DiffCounts): SafeText {
  const signs = [
    removed && safe`-${groupDigits(removed)}`,
    changed && safe`~${groupDigits(changed)}`,
    added && safe`+${groupDigits(added)}`,
  ];
  return joinSafe(
    signs.filter((sign) => sign !== 0),
    " ",
  );
}

function charactersText({ characters: { before, after } }: DiffCounts): SafeText {
  return before === after ? groupDigits(before) : safe`${groupDigits(before)} → ${groupDigits(after)}`;
}
