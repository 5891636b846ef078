// One turn as HTML: its heading with a link to itself, then everything that was said in it.
import type { PageTurn } from "../../app/page/conversation-page.ts";
import { formatTokens } from "../../core/tokens/token-estimate.ts";
import { type Html, html } from "./html.ts";
import { turnAnchor } from "./names.ts";
import { type RowContext, renderEventRow, renderInsertedRow } from "./render-row.ts";

/** Draws a turn. */
export function renderTurn({ turn, time, tokens, rows }: PageTurn, context: RowContext): Html {
  const drawn = rows.map((row) => (row.kind === "event" ? renderEventRow(row, context) : renderInsertedRow(row)));
  return html`<section class="turn" id="${turnAnchor(turn)}">
<h2><a href="#${turnAnchor(turn)}">Turn ${turn}</a> <span class="facts">${renderTime(time)}${tokensText(tokens)}</span></h2>
${drawn}</section>
`;
}

/** `2026-03-04 05:06 UTC, `; empty when it is not known. */
function renderTime(time: string): string {
  const found = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)/.exec(time);
  return found === null ? "" : `${found[1]} ${found[2]} UTC, `;
}

/** Tokens that were said and that the model reads: `12.3k → 1.1k tokens`, or one number where they are the same. */
export function tokensText({ raw, view }: { readonly raw: number; readonly view: number }): string {
  return raw === view ? `${formatTokens(raw)} tokens` : `${formatTokens(raw)} → ${formatTokens(view)} tokens`;
}
