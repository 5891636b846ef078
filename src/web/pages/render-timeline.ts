// Tokens by turn as a picture that needs no script: behind, what was said; in front, what the model reads of it; below, what each
// compaction covers. The page's script draws a finer one from the same numbers, on which a range can be chosen.

import type { ConversationPage, PageCompaction, PageTurn } from "../../app/look/conversation-page.ts";
import { sayTurns } from "../../core/conversation/event.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { type CompactionLooks, tintClass } from "./compaction-looks.ts";
import { type Html, html, nothing } from "./html.ts";
import { compactionAnchor } from "./names.ts";
import type { RowContext } from "./render-row.ts";

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
    const label = `${sayTurns(from, to)}: ${formatTokens(raw)} tokens, the model reads ${formatTokens(view)}`;
    const bar = (of: number, name: "raw" | "view"): Html => {
      const height = (of / largest) * HEIGHT;
      return html`<rect class="${name}" x="${round(at * step)}" width="${round(step * 0.85)}" y="${round(HEIGHT - height)}" height="${round(height)}"></rect>`;
    };
    return html`<a href="${links.turn(from)}"><title>${label}</title>${bar(raw, "raw")}${bar(view, "view")}</a>`;
  });
  return html`<svg class="bars" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label="Tokens by turn: said, and read by the model">${drawn}</svg>`;
}

/** What each compaction in force covers, in lanes: those that overlap stand below each other. */
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
