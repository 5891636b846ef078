// Turns as HTML: a heading with a link to itself, then what was said, in parts. A part that is not drawn yet is a link to it,
// which the page's script puts the part in place of.
import type { PageTurn } from "../../app/look/conversation-page.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { Piece } from "../../core/look/both-views.ts";
import { renderPrice } from "../../core/model/usage.ts";
import { type Html, html, nothing } from "./html.ts";
import { turnAnchor } from "./names.ts";
import type { DrawnTurn, TurnsPart } from "./page-parts.ts";
import { renderBesideTurn } from "./render-beside.ts";
import { type RowContext, renderRow } from "./render-row.ts";

/** Draws parts of a conversation, in order. */
export function drawParts(parts: readonly TurnsPart[], context: RowContext): Html {
  return html`${parts.map((part) => (part.kind === "turns" ? drawTurns(part.turns, context) : renderGap(part.turns, context)))}`;
}

/** Draws turns. */
export function drawTurns(turns: readonly DrawnTurn[], context: RowContext): Html {
  return html`${turns.map((turn) => renderTurn(turn, context))}`;
}

/** Draws some rows of a turn. */
export function drawRows({ turn, rows }: PageTurn, { from, to }: Piece, context: RowContext): Html {
  return html`<div class="rows">${rows.slice(from, to + 1).map((row) => renderRow(turn, row, context))}</div>`;
}

function renderTurn({ turn, parts }: DrawnTurn, context: RowContext): Html {
  const { turn: at, time, tokens, cost } = turn;
  const facts = [...timeOf(time), tokensText(tokens), ...(cost === null ? [] : [renderPrice(cost)])];
  return html`<section class="turn" id="${turnAnchor(at)}" data-turn="${at}">
<h2><a href="${context.links.turn(at)}">Turn ${at}</a> <span class="facts">${facts.join(" · ")}</span></h2>
${parts.map((part) => (part.isDrawn ? drawRows(turn, part, context) : renderRowsGap(turn, part, context)))}${renderBesideTurn(at, context.beside)}</section>
`;
}

function renderGap(turns: readonly PageTurn[], { links }: RowContext): Html {
  const [first, last] = [turns[0]?.turn ?? 0, turns.at(-1)?.turn ?? 0];
  const address = links.part({ from: first, to: last });
  if (address === null) return nothing;
  const rows = turns.reduce((sum, turn) => sum + turn.rows.length, 0);
  const isChanged = turns.some((turn) => hasChange(turn, { from: 0, to: turn.rows.length - 1 }));
  return html`<p class="gap" data-from="${first}" data-to="${last}" data-rows="${rows}" data-part="${address}"${isChanged ? html` data-changed` : nothing}><a href="${links.turn(first)}">${first === last ? `Turn ${first}` : `Turns ${first} to ${last}`}</a></p>
`;
}

function renderRowsGap(turn: PageTurn, piece: Piece, { links }: RowContext): Html {
  const { from, to } = piece;
  const first = turn.rows.slice(from, to + 1).find((row) => row.kind === "event");
  const address = links.part({ from: turn.turn, to: turn.turn }, piece);
  if (first === undefined || address === null) return nothing;
  return html`<p class="gap" data-rows="${to - from + 1}" data-part="${address}"${hasChange(turn, piece) ? html` data-changed` : nothing}><a href="${links.event(turn.turn, first.event.id)}">${to - from + 1} more events of turn ${turn.turn}</a></p>
`;
}

function hasChange({ rows }: PageTurn, { from, to }: Piece): boolean {
  return rows.slice(from, to + 1).some((row) => row.kind === "inserted" || row.state !== "shown");
}

function timeOf(time: string): readonly string[] {
  const found = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)/.exec(time);
  return found === null ? [] : [`${found[1]} ${found[2]} UTC`];
}

/** Tokens that were said and that the model reads: `12.3k → 1.1k tokens`, or one number where they are the same. */
export function tokensText({ raw, view }: { readonly raw: number; readonly view: number }): string {
  return raw === view ? `${formatTokens(raw)} tokens` : `${formatTokens(raw)} → ${formatTokens(view)} tokens`;
}
