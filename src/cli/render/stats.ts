// `jpg stats`: sizes, and where the tokens are: raw against what the view still shows.

import type { StatsReport } from "../../app/look/stats.ts";
import { splitName } from "../../app/models/models.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice, renderUsd } from "../../core/model/money.ts";
import { partName } from "../../core/model/part-name.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import type { Rendering } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";
import {
  groupDigits,
  renderBytes,
  renderCommit,
  renderCount,
  renderElsewhere,
  renderFields,
  renderOverhead,
  renderShare,
  renderSource,
} from "./quantity.ts";

/** Renders sizes and token counts; kinds are sorted by their raw tokens. */
export function renderStats(report: StatsReport, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const fields = renderFields(
    [
      ["In the window", describeFill(report)],
      ["Next call", describeNextCall(report.next_call)],
      ["Paid so far", describePaid(report.paid)],
      ["Saved so far", describeSavings(report)],
      ["Conversation", report.id],
      ["Branch", report.branch],
      ["Commit", report.revision === undefined ? null : renderCommit(report)],
      ["Turns", groupDigits(report.turns)],
      ["Events", groupDigits(report.events)],
      ["Messages", report.messages === undefined ? null : groupDigits(report.messages)],
      ["Compactions", report.compactions],
      ["Size", renderBytes(report.bytes)],
    ],
    rendering,
  );
  const isWhole = report.turns_elsewhere === undefined;
  const row = (name: string, raw: number, view: number): Cell[] => [
    partName(name),
    isWhole ? formatTokens(raw) : "?",
    formatTokens(view),
    { text: isWhole && raw > 0 ? renderShare({ before: raw, after: view }) : "", paint: style.faint },
  ];
  const kinds = Object.entries(report.tokens.by_kind).sort(([, a], [, b]) => b.raw - a.raw);
  const header = [safe`TOKENS${renderSource(report.tokens_source)}`, "RAW", "VIEW", ""].map((text) => ({
    text,
    paint: style.faint,
  }));
  const rows = [
    header,
    ...kinds.map(([kind, { raw, view }]) => row(kind, raw, view)),
    row("total", report.tokens.raw, report.tokens.view),
  ];
  const columns = [{ shrinkTo: 8 }, { align: "right" }, { align: "right" }, { align: "right" }] as const;
  const notes = [
    renderLastRequest(report.last_request),
    renderOverhead(report.overhead_source),
    renderCosts(report.cost),
    renderElsewhere(report.turns_elsewhere),
  ].flatMap((note) => (note === null ? [] : wrapProse(note, width).map(style.faint)));
  const lines: readonly SafeText[] = [...fields, "", ...renderTable(rows, { columns, width })];
  return joinLines(notes.length === 0 ? lines : [...lines, "", ...notes]);
}

/** Says what the newest request held that the view does not; null if the difference is small. */
function renderLastRequest(request: StatsReport["last_request"]): SafeText | null {
  if (request === undefined || request.not_in_view < LEAST_UNSEEN * request.tokens) return null;
  const { tokens, not_in_view: unseen } = request;
  return safe`The last request had ${formatTokens(tokens)} tokens, as the provider counted; ${formatTokens(unseen)} of them are not in the view now.`;
}

/** Says how much of the model's window the view takes. */
function describeFill({ tokens: { view }, window }: StatsReport): SafeText {
  if (window === undefined) return safe`${formatTokens(view)} tokens; how many the model takes is not known`;
  const share = Math.round((100 * view) / window.tokens);
  const model = forTerminalLine(splitName(window.model).model);
  return safe`${formatTokens(view)} of ${formatTokens(window.tokens)} tokens, ${share} % (${model})`;
}

const CACHE_WORDS: Readonly<Record<NonNullable<StatsReport["next_call"]>["cache"], SafeText>> = {
  cached: safe`read from the cache`,
  expired: safe`written to the cache anew: it has expired`,
  shortened: safe`written to the cache anew: the view has changed`,
};

function describeNextCall(call: StatsReport["next_call"]): SafeText | null {
  return call === undefined ? null : safe`${renderUsd(call.usd)} at list price, ${CACHE_WORDS[call.cache]}`;
}

function describePaid(paid: StatsReport["paid"]): SafeText | null {
  return paid === undefined
    ? null
    : safe`${renderUsd(paid.usd)} for ${renderCount(paid.requests, "request")} at list prices`;
}

/** Says what compactions saved so far; in a loss, what they cost. */
function describeSavings({ saved, compactions = 0 }: StatsReport): SafeText | null {
  if (saved === undefined)
    return compactions === 0 ? null : safe`nothing yet: no recorded request ran on a view that jpg shortened`;
  const { usd, tokens, requests } = saved;
  const sum =
    usd === null ? "" : usd < 0 ? safe`not yet paid back: ${renderPrice(-usd)}, ` : safe`${renderPrice(usd)}, `;
  return safe`${sum}${formatTokens(tokens)} tokens not sent, in ${renderCount(requests, "request")}`;
}

/** Says what the agent counted, if jpg's sum is another. */
function renderCosts(cost: StatsReport["cost"]): SafeText | null {
  if (cost === undefined || cost.list_usd === null) return null;
  const { agent_usd: agent, list_usd: list } = cost;
  if (Math.abs(agent - list) <= LEAST_DIFFERENCE * Math.max(agent, list)) return null;
  return safe`The agent counted ${renderPrice(agent)} for its session; the recorded requests come to ${renderPrice(list)} at today's list prices.`;
}

/** Smallest share by which two sums differ that is reported; less is rounding. */
const LEAST_DIFFERENCE = 0.01;

/** Smallest share of a request that is reported as missing; less may be an error of the estimate. */
const LEAST_UNSEEN = 0.1;
