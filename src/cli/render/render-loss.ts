// The loss receipt of a compaction for people: a table of facts by kind, and the ones that later turns still mention.
import { FACT_KINDS, type FactCounts, type FactKind, type LossReceipt } from "../../core/conversation/compaction.ts";
import { forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { groupDigits } from "./render-quantity.ts";

/** What the kinds are called. */
const NAMES: Readonly<Record<FactKind, string>> = {
  files: "files",
  commands: "commands",
  numbers: "numbers",
  shas: "SHAs",
  issues: "issues",
  errors: "errors",
  identifiers: "identifiers",
  urls: "URLs",
  requests: "requests",
  pins: "pins",
};

const HEADER = ["FACTS", "TOTAL", "VISIBLE", "SUMMARY", "POINTER", "HIDDEN", "MENTIONED LATER"];
const INDENT = "    " as const;

/**
 * Renders a receipt as lines without a heading, indented by four blanks; empty when the covered events hold no facts. Files
 * of which only the end of the path is visible are counted apart.
 */
export function renderLoss(receipt: LossReceipt, { style, width }: Rendering): SafeText[] {
  const kinds = FACT_KINDS.flatMap((kind) => {
    const counts = receipt.facts[kind];
    return counts === undefined ? [] : [{ kind, counts }];
  });
  if (kinds.length === 0) return [];
  const rows = [
    HEADER.map((text) => ({ text, paint: style.faint })),
    ...kinds.map(({ kind, counts }) => renderRow(kind, counts, style)),
  ];
  const right = { align: "right" } as const;
  const columns = [{ shrinkTo: 8 }, right, right, right, right, right, right];
  return [...renderTable(rows, { columns, width, indent: INDENT }), ...mentionLines(receipt, { style, width })];
}

function renderRow(kind: FactKind, counts: FactCounts, style: Style): Cell[] {
  const { total, visible, by_name = 0, summary, pointer, hidden, mentioned_later } = counts;
  return [
    NAMES[kind],
    groupDigits(total),
    by_name === 0 ? amount(visible) : safe`${amount(visible)} (${groupDigits(by_name)} by name)`,
    amount(summary),
    amount(pointer),
    hidden === 0 ? "-" : { text: groupDigits(hidden), paint: kind === "pins" ? style.bad : style.caution },
    amount(mentioned_later),
  ];
}

function amount(count: number): SafeText {
  return count === 0 ? safe`-` : groupDigits(count);
}

function mentionLines({ facts, mentioned_later }: LossReceipt, { style, width }: Rendering): SafeText[] {
  if (mentioned_later.length === 0) return [];
  const all = Object.values(facts).reduce((sum, counts) => sum + counts.mentioned_later, 0);
  const rows = mentioned_later.map(({ kind, text, turn }) => [
    { text: NAMES[kind], paint: style.faint },
    forTerminalLine(text),
    { text: safe`turn ${groupDigits(turn)}`, paint: style.faint },
  ]);
  const rest = all - mentioned_later.length;
  return [
    "",
    safe`${INDENT}Source gone, still mentioned by a later turn:`,
    ...renderTable(rows, { columns: [{}, { shrinkTo: 16 }, {}], width, indent: `${INDENT}  ` }),
    ...(rest > 0 ? [safe`${INDENT}  … ${groupDigits(rest)} more`] : []),
  ];
}
