// The tables of hindsight, as Markdown.
import { aroundCycle, SHOWN_CYCLES } from "./cycles.ts";
import type { Figures } from "./figures.ts";
import type { CycledFigures, Hindsight } from "./hindsight.ts";

const COLUMNS: readonly (readonly [string, (row: Figures) => string])[] = [
  ["", ({ name }) => name],
  ["size", ({ size }) => number(size)],
  ["recall", ({ recall }) => number(recall)],
  ["lift", ({ lift }) => signed(lift)],
  ["9 of 10 draws", ({ liftSpread: [low, high] }) => `${signed(low)} … ${signed(high)}`],
  ["needles", ({ needleRecall }) => number(needleRecall)],
  ["needle lift", ({ needleLift }) => signed(needleLift)],
  ["in context", ({ inContext }) => number(inContext)],
  ["above masking", ({ aboveMasking }) => signed(aboveMasking)],
  ["search", ({ recovery }) => number(recovery)],
  ["ranked", ({ recoveryRanked }) => number(recoveryRanked)],
  ["stale", ({ stale }) => number(stale)],
];

/** Renders the rows, group by group. */
export function renderFigures(rows: readonly Figures[]): string {
  const groups = [...new Set(rows.map(({ group }) => group))];
  const many = groups.length > 2;
  return renderTable(
    COLUMNS.map(([title]) => title),
    groups.flatMap((group) => [
      ...(many ? [[`**${group}**`, ...COLUMNS.slice(1).map(() => "")]] : []),
      ...rows.filter((row) => row.group === group).map((row) => COLUMNS.map(([, cell]) => cell(row))),
    ]),
  );
}

/** Renders the cycles: what is freed, and what is left of the size, after so many. */
export function renderCycles(cycles: readonly CycledFigures[]): string {
  return renderTable(
    ["compacted at", "", ...SHOWN_CYCLES.map((count) => `after ${count}: freed, floor`), "cycles until it stays full"],
    cycles.map(({ name, size, cycles: run }) => [
      `${size / 1000}k`,
      name,
      ...SHOWN_CYCLES.map((count) => {
        const cycle = aroundCycle(run, count);
        return cycle === null ? "–" : `${number(100 * cycle.freed)}, ${number(100 * cycle.floor)}`;
      }),
      run.length === Math.max(...SHOWN_CYCLES) ? `over ${run.length}` : String(run.length),
    ]),
  );
}

/** Renders which sessions were measured, by agent. */
export function renderSessions({ sessions }: Pick<Hindsight, "sessions">): string {
  const agents = [...new Set(sessions.map(({ agent }) => agent))].sort();
  return agents
    .map((agent) => {
      const own = sessions.filter((session) => session.agent === agent);
      const cuts = own.reduce((sum, session) => sum + session.cuts, 0);
      return `${agent}: ${own.length} session${own.length === 1 ? "" : "s"}, ${cuts} cut${cuts === 1 ? "" : "s"}`;
    })
    .join("; ");
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [head, head.map((_, column) => (column === 0 ? "--" : "--:")), ...rows].map(line).join("\n");
}

function number(value: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(1);
}

function signed(value: number): string {
  return Number.isNaN(value) ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
}
