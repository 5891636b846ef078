// Tokens by turn as a picture that needs no script: behind, what was said; in front, what the model reads of it.
import type { PageTurn } from "../../app/page/conversation-page.ts";
import { formatTokens } from "../../core/tokens/token-estimate.ts";
import { type Html, html, nothing } from "./html.ts";

const WIDTH = 1000;
const HEIGHT = 120;
/** Bars, at most: of more turns several share one. */
const MOST_BARS = 250;

/** Draws the tokens of turns; empty where there is at most one. */
export function timelineHtml(turns: readonly PageTurn[]): Html {
  if (turns.length < 2) return nothing;
  const bars = groupTurns(turns);
  const largest = Math.max(1, ...bars.map(({ raw }) => raw), ...bars.map(({ view }) => view));
  const step = WIDTH / bars.length;
  const drawn = bars.map(({ from, to, raw, view }, at) => {
    const label = `${from === to ? `turn ${from}` : `turns ${from}..${to}`}: ${formatTokens(raw)} tokens, the model reads ${formatTokens(view)}`;
    const bar = (of: number, name: "raw" | "view"): Html => {
      const height = (of / largest) * HEIGHT;
      return html`<rect class="${name}" x="${round(at * step)}" width="${round(step * 0.85)}" y="${round(HEIGHT - height)}" height="${round(height)}"></rect>`;
    };
    return html`<a href="#turn-${from}"><title>${label}</title>${bar(raw, "raw")}${bar(view, "view")}</a>`;
  });
  return html`<svg class="timeline" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label="Tokens by turn: said, and read by the model">${drawn}</svg>`;
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
