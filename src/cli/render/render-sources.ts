// `jpg show SUMMARY --sources`: first what nobody said, then every other fact with who said it first.
import type { FactSource, SourcesReport, SummarySources } from "../../app/look/summary-sources.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { renderCount, renderRange } from "./render-quantity.ts";

/** Renders the facts of summaries. */
export function renderSources({ summaries }: SourcesReport, rendering: Rendering): SafeText {
  return joinLines(
    summaries.flatMap((one, at) => [...(at === 0 ? [] : ["" as const]), ...renderSummary(one, rendering)]),
  );
}

function renderSummary({ compaction, from_turn, to_turn, facts }: SummarySources, rendering: Rendering): SafeText[] {
  const { style } = rendering;
  const unsaid = facts.filter(({ places }) => places.length === 0);
  const said = facts.filter(({ places }) => places.length > 0);
  const many = unsaid.length === 0 ? safe`all of them said` : safe`${unsaid.length} that nobody said`;
  const title = safe`summary ${style.id(forTerminalLine(compaction))} of ${renderRange(from_turn, to_turn)}`;
  const counted = facts.length === 0 ? safe`no facts to look up` : safe`${renderCount(facts.length, "fact")}, ${many}`;
  return [
    safe`${title}: ${counted}`,
    ...section(safe`Nobody said:`, unsaid, rendering),
    ...section(safe`First said:`, said, rendering),
  ];
}

function section(heading: SafeText, facts: readonly FactSource[], { style, width }: Rendering): SafeText[] {
  if (facts.length === 0) return [];
  const rows = facts.map(({ kind, text, places: [first] }): Cell[] => [
    { text: kind, paint: style.faint },
    text,
    first === undefined ? "" : `turn ${first.turn}`,
    first === undefined ? "" : first.who,
  ]);
  const columns = [{}, { shrinkTo: 12 }, {}, { shrinkTo: 9 }];
  return ["", style.heading(heading), ...renderTable(rows, { columns, width, indent: "  " })];
}
