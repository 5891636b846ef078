// What fills the window of a conversation, as a page: by kind, by tool and by turn, and what strategies would still free.

import type { AnatomyReport, AnatomyTurn } from "../../app/look/anatomy.ts";
import type { ConversationPage, PageCompaction, PageTurn } from "../../app/look/conversation-page.ts";
import { describeTurns } from "../../core/conversation/event.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { partName } from "../../core/model/part-name.ts";
import { type CompactionLooks, tintClass } from "./compaction.ts";
import { branchAddress, compactionAnchor, type Place, renderDocument, turnAddress } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import type { RowContext } from "./turns.ts";

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
    kinds.map((part) => ({
      name: partName(part.kind),
      size: part.tokens,
      share: share(part.tokens),
    })),
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
      html`<tr><th scope="row">${name}</th><td class="number">${formatTokens(size)}</td><td class="number">${share}</td><td class="amount"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="${((100 * Math.max(0, size)) / most).toFixed(1)}" height="10"></rect></svg></td></tr>\n`,
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

// Tokens by turn as a picture that needs no script: behind, what was said; in front, what the model reads of it; below, what each
// compaction covers. The page's script draws a finer one from the same numbers, on which a range can be chosen.

const WIDTH = 1000;
const HEIGHT = 120;
const LANE = 10;
/** Bars, at most: of more turns several share one. */
const MOST_BARS = 250;

/** Draws the tokens of turns; empty where there is at most one. */
export function timelineHtml(
  { turns, compactions }: ConversationPage,
  { looks, links }: Pick<RowContext, "looks" | "links">,
): Html {
  if (turns.length < 2) return nothing;
  const numbers = (read: (turn: PageTurn) => string | number): string => turns.map(read).join(",");
  // A page of a view alone has not got all turns.
  const isWhole = turns.every(({ turn }, at) => turn === at);
  return html`<section id="timeline" aria-label="Tokens by turn"${isWhole ? nothing : html` data-turns="${numbers(({ turn }) => turn)}"`} data-raw="${numbers(({ tokens }) => tokens.raw)}" data-view="${numbers(({ tokens }) => tokens.view)}" data-cost="${turns.every(({ cost }) => cost === null) ? "" : numbers(({ cost }) => cost?.toFixed(4) ?? "")}">
<div class="plot">${barsHtml(turns, links)}</div>
${lanesHtml(compactions, turns.length, looks)}<p class="readout facts"><span class="raw">said</span> <span class="view">read by the model</span></p></section>`;
}

function barsHtml(turns: readonly PageTurn[], links: RowContext["links"]): Html {
  const bars = groupTurns(turns);
  const largest = Math.max(1, ...bars.map(({ raw }) => raw), ...bars.map(({ view }) => view));
  const step = WIDTH / bars.length;
  const drawn = bars.map(({ from, to, raw, view }, at) => {
    const label = `${describeTurns(from, to)}: ${formatTokens(raw)} tokens, the model reads ${formatTokens(view)}`;
    const bar = (of: number, name: "raw" | "view"): Html => {
      const height = (of / largest) * HEIGHT;
      return html`<rect class="${name}" x="${round(at * step)}" width="${round(step * 0.85)}" y="${round(HEIGHT - height)}" height="${round(height)}"></rect>`;
    };
    return html`<a href="${links.turn(from)}"><title>${label}</title>${bar(raw, "raw")}${bar(view, "view")}</a>`;
  });
  return html`<svg class="bars" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label="Tokens by turn: said, and read by the model">${drawn}</svg>`;
}

/** What each compaction in force covers, in lanes: overlapping ones below each other. */
function lanesHtml(compactions: readonly PageCompaction[], count: number, looks: CompactionLooks): Html {
  const ends: number[] = [];
  const drawn = [...compactions].reverse().flatMap(({ row, records }) => {
    if (!row.live) return [];
    return records.map(({ from_turn: from, to_turn: to }) => {
      const end = Math.min(to, count - 1);
      const free = ends.findIndex((last) => last < from);
      const lane = free < 0 ? ends.length : free;
      ends[lane] = end;
      const [x, width] = [(from / count) * WIDTH, ((end + 1 - from) / count) * WIDTH];
      return html`<a href="#${encodeURIComponent(compactionAnchor(row.compaction))}"><title>${row.subject}</title><rect class="${tintClass(looks, row.compaction)}" x="${round(x)}" width="${round(Math.max(2, width))}" y="${lane * LANE}" height="${LANE - 2}"></rect></a>`;
    });
  });
  if (drawn.length === 0) return nothing;
  const height = ends.length * LANE;
  return html`<svg class="lanes" viewBox="0 0 ${WIDTH} ${height}" height="${height}" preserveAspectRatio="none" role="group" aria-label="What compactions cover">${drawn}</svg>\n`;
}

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly raw: number;
  readonly view: number;
}

function groupTurns(turns: readonly PageTurn[]): readonly Bar[] {
  const share = Math.ceil(turns.length / MOST_BARS);
  const bars: Bar[] = [];
  for (let at = 0; at < turns.length; at += share) {
    const group = turns.slice(at, at + share);
    bars.push({
      from: group[0]?.turn ?? 0,
      to: group.at(-1)?.turn ?? 0,
      raw: group.reduce((sum, { tokens }) => sum + tokens.raw, 0),
      view: group.reduce((sum, { tokens }) => sum + tokens.view, 0),
    });
  }
  return bars;
}

function round(value: number): string {
  return value.toFixed(1);
}
