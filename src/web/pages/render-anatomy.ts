// What fills the window of a conversation, as a page: by kind, by tool and by turn, and what strategies would still free.
import type { AnatomyReport, AnatomyTurn } from "../../app/look/stats.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { branchAddress, turnAddress } from "./addresses.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

/** Tools and turns that are shown: the largest. */
const MOST_ROWS = 30;

/** Draws it. */
export function renderAnatomyPage(report: AnatomyReport, place: Place): string {
  const { branch, tokens, window, model, by_kind: kinds, by_tool: tools, by_turn: turns, headroom } = report;
  const share = (part: number): string => percent(part, tokens);
  const known = report.window_source === "known" ? "" : ", its window is not known, so that of most models is assumed";
  const largest = turns.toSorted((a, b) => b.tokens - a.tokens).slice(0, MOST_ROWS);
  const free = [...headroom.strategies, { strategy: "all of them", frees: headroom.mechanical.frees }];
  const body = html`<header><p class="facts"><a href="/">All conversations</a> · <a href="${branchAddress(branch)}">${branch}</a></p>
<h1>What fills the window</h1>
<p class="facts">${formatTokens(tokens)} of ${formatTokens(window)} tokens, ${percent(tokens, window)} · ${model ?? "no model is named"}${known} · <code>jpg stats --anatomy</code></p></header>
<main>${table(
    "By kind",
    kinds.map((part) => ({ name: part.kind, size: part.tokens, share: share(part.tokens) })),
  )}${table(
    "By tool",
    tools.slice(0, MOST_ROWS).map((tool) => ({
      name: `${tool.tool === "" ? "(results without a call)" : tool.tool}, ${tool.calls} ${tool.calls === 1 ? "call" : "calls"}`,
      size: tool.tokens,
      share: share(tool.tokens),
    })),
  )}${table(
    "The largest turns",
    largest.map((turn) => ({ name: turnName(branch, turn), size: turn.tokens, share: share(turn.tokens) })),
  )}${table(
    "Still to free, share of the window",
    free.map(({ strategy, frees }) => ({ name: strategy, size: frees, share: percent(frees, window) })),
  )}</main>
`;
  return renderDocument(`What fills the window of ${branch}`, place, body);
}

interface Row {
  readonly name: string | Html;
  readonly size: number;
  readonly share: string;
}

function table(title: string, rows: readonly Row[]): Html {
  if (rows.length === 0) return nothing;
  const most = Math.max(1, ...rows.map(({ size }) => size));
  const drawn = rows.map(
    ({ name, size, share }) =>
      html`<tr><th scope="row">${name}</th><td>${formatTokens(size)}</td><td>${share}</td><td><svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="${((100 * Math.max(0, size)) / most).toFixed(1)}" height="10"></rect></svg></td></tr>\n`,
  );
  return html`<section><h2>${title}</h2><div class="table" tabindex="0"><table class="anatomy"><tbody>
${drawn}</tbody></table></div></section>
`;
}

function turnName(branch: string, { from, to, kind }: AnatomyTurn): Html {
  const name = from === to ? `turn ${from}` : `turns ${from} to ${to}`;
  return html`<a href="${turnAddress(branch, from)}">${name}</a>${kind === "kept" ? "" : `, ${kind}`}`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "" : `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %`;
}
