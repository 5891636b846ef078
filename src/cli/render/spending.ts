// `jpg stats --all`: a month of the whole machine on one screen.
import { type SpendingReport, type Spent, sumSpent } from "../../app/overview/spending.ts";
import { shortAgentName } from "../../app/sessions/session-registry.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderUsd } from "../../core/model/money.ts";
import { joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import type { Rendering, Style } from "../frame/terminal.ts";
import { groupDigits, renderPath, renderTime } from "./quantity.ts";

interface SpendingRendering extends Rendering {
  readonly home: string;
}

/** Most rows of each part; the others are summed up in one. */
const MOST_ROWS = { projects: 5, agents: 4, models: 6 } as const;
/** Most columns of a name. */
const LONGEST_NAME = 36;

/** Renders sums by project, agent and model in at most 25 lines. */
export function renderSpending(report: SpendingReport, { style, width, home }: SpendingRendering): SafeText {
  const { by_project, by_agent, by_model, total } = report;
  const head = (name: string, ...more: readonly string[]): readonly Cell[] =>
    [name, ...more].map((text) => ({ text, paint: style.faint }));
  const rows: (readonly Cell[])[] = [
    head("PROJECT", "REQUESTS", "TOKENS SENT", "LIST PRICE"),
    ...partOf(by_project, ({ project }) => (project === null ? "in no project" : shortPath(project, home)), {
      most: MOST_ROWS.projects,
      style,
    }),
    head("AGENT"),
    ...partOf(by_agent, ({ agent }) => (agent === null ? "jpg" : shortAgentName(agent)), {
      most: MOST_ROWS.agents,
      style,
    }),
    head("MODEL"),
    ...partOf(by_model, ({ model }) => model ?? "not recorded", { most: MOST_ROWS.models, style }),
    head("ALL"),
    rowOf("", total, style),
  ];
  const columns = [{ shrinkTo: 12 }, { align: "right" }, { align: "right" }, { align: "right" }] as const;
  return joinLines([
    safe`Since ${renderTime(report.since)}, what providers counted, at today's list prices:`,
    ...renderTable(rows, { columns, width }),
  ]);
}

function partOf<One extends Spent>(
  sums: readonly One[],
  nameOf: (sum: One) => string,
  { most, style }: { readonly most: number; readonly style: Style },
): readonly (readonly Cell[])[] {
  const shown = sums.slice(0, sums.length > most ? most - 1 : most);
  const rest = sums.slice(shown.length);
  return [
    ...shown.map((sum) => rowOf(nameOf(sum), sum, style)),
    ...(rest.length === 0 ? [] : [rowOf(`${rest.length} more`, sumSpent(rest), style)]),
  ];
}

function rowOf(name: string, { requests, tokens_sent, ...sum }: Spent, style: Style): readonly Cell[] {
  const price = priceText(sum);
  return [
    name,
    groupDigits(requests),
    formatTokens(tokens_sent),
    sum.price_usd === null ? { text: price, paint: style.faint } : price,
  ];
}

/** A sum with requests whose price is not known is only a least one. */
function priceText({ price_usd: usd, unpriced }: Pick<Spent, "price_usd" | "unpriced">): SafeText {
  if (usd === null) return safe`no price known`;
  return unpriced === undefined ? renderUsd(usd) : safe`at least ${renderUsd(usd)}`;
}

function shortPath(path: string, home: string): string {
  const shown = renderPath(path, home);
  return shown.length <= LONGEST_NAME ? shown : `…${shown.slice(1 - LONGEST_NAME)}`;
}
