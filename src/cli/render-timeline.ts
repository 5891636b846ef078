// The timeline of `jpg compact` and its dry run: which turns keep their form, which are read differently, what it saves.
import type { CompactReport, CompactSegment } from "../app/compact-report.ts";
import { renderRange, renderShare, renderTokens } from "./render-quantity.ts";
import { plain, plainLine, type Rendering, type Style } from "./style.ts";
import { type Cell, renderTable } from "./table.ts";

/** Columns of the bar that stands for the largest segment. */
const BAR_WIDTH = 8;

/** Renders the outcome of a compaction. Warnings come last, one a line. */
export function renderTimeline(report: CompactReport, rendering: Rendering): string {
  const { style } = rendering;
  const warnings = report.warnings.map((warning) => `${style.caution("note:")} ${plain(warning)}`);
  if (report.compaction === null) {
    const reason = report.reason === undefined ? "" : ` ${asSentence(plain(report.reason))}`;
    return [`${style.heading("Nothing to compact.")}${reason}`, ...warnings].join("\n");
  }
  return [headline(report, style), ...segmentLines(report, rendering), ...warnings].join("\n");
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

function headline(report: CompactReport, style: Style): string {
  const verb = report.dryRun ? "Would compact" : "Compacted";
  const range =
    report.from_turn === null || report.to_turn === null ? "" : ` ${renderRange(report.from_turn, report.to_turn)}`;
  const line = `${style.heading(verb)} ${plainLine(report.branch)}${range}: ${plainLine(report.policies)}`;
  if (report.dryRun || report.commit === null) return line;
  return `${line}\n${style.commit(`commit ${report.commit.slice(0, 7)}`)}  compaction ${style.id(report.compaction?.id ?? "")}`;
}

function segmentLines({ segments, tokens }: CompactReport, { style, width }: Rendering): string[] {
  const largest = Math.max(1, ...segments.map((segment) => Math.max(segment.tokens.before, segment.tokens.after)));
  const rows: Cell[][] = segments.map((segment) => [
    { text: renderRange(segment.from, segment.to), paint: style.heading },
    { text: segment.kind, paint: segment.kind === "kept" ? style.faint : style.good },
    segment.policies ?? "",
    renderTokens(segment.tokens),
    { text: renderShare(segment.tokens), paint: style.faint },
    { text: bar(segment, largest), paint: segment.kind === "kept" ? style.faint : style.good },
  ]);
  const total = ["total", "", "", renderTokens(tokens), { text: renderShare(tokens), paint: style.faint }, ""];
  const columns = [{ align: "right" }, {}, { shrinkTo: 16 }, { align: "right" }, { align: "right" }, {}] as const;
  return renderTable([...rows, total], { columns, width, indent: "  " });
}

/** What is left of a segment as full blocks, what it lost as light ones. */
function bar({ tokens: { before, after } }: CompactSegment, largest: number): string {
  const columns = (count: number): number => (count <= 0 ? 0 : Math.max(1, Math.round((count / largest) * BAR_WIDTH)));
  const left = columns(after);
  return "█".repeat(left) + "░".repeat(Math.max(0, columns(before) - left));
}
