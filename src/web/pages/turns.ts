// Turns as HTML: a heading, then what was said, folded where it is long; and which of them are drawn at once.
import { eventText } from "../../app/diff/view-text.ts";
import type { ConversationPage, PageTurn } from "../../app/look/conversation-page.ts";
import { describeTurns, type Event, isFields } from "../../core/conversation/event.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import {
  type BothRow,
  type CutLimits,
  cutPage,
  type EventRow,
  type InsertedRow,
  type Piece,
  rowSize,
} from "../../core/look/both-views.ts";
import { renderPrice } from "../../core/model/money.ts";
import { partName } from "../../core/model/part-name.ts";
import { forLine } from "../../core/safe-text.ts";
import { type CompactionLooks, namedCompaction, tintClass } from "./compaction.ts";
import { type PackText, renderSaid } from "./content.ts";
import { eventAnchor, type PageLinks, turnAnchor } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { renderEventExtras, renderTurnExtras, type TurnExtras } from "./turn-extras.ts";

// Which parts of a conversation a page draws at once: in a file all of it; served, what it was opened at. The rest are gaps that
// the page's script fills as they come into sight, and that are links without it.

/** Turns that are drawn or loaded at once. */
const TURNS: CutLimits = { size: 100_000, count: 25 };
/** Rows of a turn that are. */
const ROWS: CutLimits = { size: 100_000, count: 100 };

/** Where a page is opened: a turn position, 0-based, and one of its events. */
export interface PageSpot {
  readonly turn: number;
  readonly event?: string;
}

/** Some rows of a turn, positions among its rows. */
interface RowsPart extends Piece {
  readonly isDrawn: boolean;
}

interface DrawnTurn {
  readonly turn: PageTurn;
  readonly parts: readonly RowsPart[];
}

/** Turns that are drawn, or that are not. */
export type TurnsPart =
  | { readonly kind: "turns"; readonly turns: readonly DrawnTurn[] }
  | { readonly kind: "gap"; readonly turns: readonly PageTurn[] };

/** Gives all of a page, drawn. */
export function wholePage({ turns }: ConversationPage): readonly TurnsPart[] {
  return [{ kind: "turns", turns: turns.map((turn) => drawTurn(turn, () => true)) }];
}

/** Returns the parts of a page, drawn only around a spot. */
export function pageAt({ turns }: ConversationPage, spot: PageSpot): readonly TurnsPart[] {
  const at = Math.min(Math.max(0, spot.turn), Math.max(0, turns.length - 1));
  return cutPage(turns.map(sizeOf), TURNS).map(({ from, to }) => {
    const own = turns.slice(from, to + 1);
    if (at < from || at > to) return { kind: "gap", turns: own };
    return { kind: "turns", turns: own.map((turn) => firstOf(turn, turn.turn === at ? spot.event : undefined)) };
  });
}

/** Gives turns, positions inclusive, as they are drawn where a gap of them was. */
export function turnsOf({ turns }: ConversationPage, { from, to }: Piece): readonly DrawnTurn[] {
  return turns.slice(from, Math.min(to, from + TURNS.count - 1) + 1).map((turn) => firstOf(turn, undefined));
}

/** Gives rows of a turn, positions inclusive, no more than one part holds. */
export function rowsInReach({ rows }: PageTurn, { from, to }: Piece): Piece {
  const pieces = cutPage(rows.slice(from, Math.min(to, from + ROWS.count - 1) + 1).map(rowSize), ROWS);
  return { from, to: from + (pieces[0]?.to ?? -1) };
}

/** Lists the rows that are drawn. */
export function drawnRows(turns: readonly DrawnTurn[]): readonly BothRow[] {
  return turns.flatMap(({ turn: { rows }, parts }) =>
    parts.flatMap(({ from, to, isDrawn }) => (isDrawn ? rows.slice(from, to + 1) : [])),
  );
}

/** A turn of which the first rows are drawn, and those around an event. */
function firstOf(turn: PageTurn, event: string | undefined): DrawnTurn {
  const at = turn.rows.findIndex((row) => row.kind === "event" && row.event.id === event);
  return drawTurn(turn, ({ from, to }) => from === 0 || (at >= from && at <= to));
}

function drawTurn(turn: PageTurn, isDrawn: (piece: Piece) => boolean): DrawnTurn {
  return {
    turn,
    parts: cutPage(turn.rows.map(rowSize), ROWS).map((piece) => ({ ...piece, isDrawn: isDrawn(piece) })),
  };
}

/** Of a long turn only the first rows are drawn. */
function sizeOf({ rows }: PageTurn): number {
  let size = 0;
  for (const row of rows) {
    size += rowSize(row);
    if (size > TURNS.size) return TURNS.size;
  }
  return size;
}

/** Characters of a folded event's summary line. */
const HEAD = 120;

/** A tool call, as its result needs it. */
export interface CalledTool {
  readonly name: string;
  /** Of the file that it is about, e.g. `ts`; absent = it names none. */
  readonly language?: string;
}

/** What a row is drawn with. */
export interface RowContext {
  /** By call id. */
  readonly tools: ReadonlyMap<string, CalledTool>;
  readonly looks: CompactionLooks;
  readonly links: PageLinks;
  readonly extras: TurnExtras;
  /** Packs long texts of tools; null = not packed. */
  readonly pack: PackText | null;
  /** Gives an event with the payloads that it refers to. */
  readonly whole: (event: Event) => Event;
}

/** Draws a row of a turn. */
function renderRow(turn: number, row: BothRow, context: RowContext): Html {
  return row.kind === "event" ? renderEventRow(turn, row, context) : renderInsertedRow(row, context);
}

function renderEventRow(turn: number, row: EventRow, context: RowContext): Html {
  const { event, state, disposition } = row;
  const tint =
    disposition === undefined || state === "shown" ? "" : ` ${tintClass(context.looks, disposition.compaction.id)}`;
  return html`<div class="row ${kindOf(event)} ${state}${tint}" id="${eventAnchor(event.id)}">${renderEventAndReplacement(turn, row, context)}${renderEventExtras(turn, event.id, context.extras)}</div>\n`;
}

/** Renders what replaces hidden events. */
function renderInsertedRow({ compaction, as, from, to, events }: InsertedRow, { looks, whole }: RowContext): Html {
  const turns = describeTurns(from, to);
  const said = events.filter(({ type }) => type !== "turn_start").map((event) => renderSaid(whole(event)));
  return html`<div class="row inserted ${tintClass(looks, compaction)}"><p class="who">${as === "summary" ? "Summary of" : "In place of"} ${turns} ${namedCompaction(looks, compaction)}</p>${said}</div>\n`;
}

/** Renders an event, and what the model sees instead. */
function renderEventAndReplacement(
  turn: number,
  { event, state, disposition, shown }: EventRow,
  context: RowContext,
): Html {
  const said = renderEvent(turn, event, context);
  if (disposition === undefined || state === "shown") return said;
  const by = namedCompaction(context.looks, disposition.compaction.id);
  if (shown === undefined) return html`${said}<p class="fate">hidden by ${by}</p>`;
  return html`<div class="said">${said}</div><div class="sees"><p class="who">the model sees, by ${by}</p>${renderSaid(context.whole(shown))}</div>`;
}

function renderEvent(turn: number, reference: Event, { tools, links, pack, whole }: RowContext): Html {
  const event = whole(reference);
  const title = titleOf(event, tools);
  const language = event.type === "tool_call_response" ? tools.get(event.call_id)?.language : undefined;
  const address = links.text(turn, event.id);
  const said = renderSaid(event, { address, pack, language });
  if (!isFolded(event)) return html`<p class="who">${title}</p>${said}`;
  return html`<details><summary><span class="who">${title}</span> <span>${headOf(event)}</span></summary>${said}</details>`;
}

/** Requests and answers are read; what an agent thinks, calls and gets is there for who opens it. */
function isFolded(event: Event): boolean {
  if (event.type === "chat_request") return event.metadata?.origin === "harness";
  return event.type !== "chat_response" || event.message === undefined;
}

/** The first words of what is folded; of a call what it is given, without the names of the fields. */
function headOf(event: Event): string {
  const given = event.type === "tool_call_request" && isFields(event.arguments) ? Object.values(event.arguments) : [];
  const words = given.filter((value) => typeof value === "string").map((value) => value.slice(0, 2 * HEAD));
  const text = words.length > 0 ? words.join(" · ") : (eventText(event)?.slice(0, 4 * HEAD) ?? "");
  return forLine(text, HEAD);
}

function titleOf(event: Event, tools: RowContext["tools"]): Html {
  switch (event.type) {
    case "chat_request":
      return html`${event.metadata?.origin === "harness" ? partName("harness") : (event.metadata?.origin ?? event.role ?? "user")}`;
    case "chat_response":
      if (event.reasoning !== undefined) return html`reasoning`;
      return event.message === undefined ? html`data` : html`assistant`;
    case "tool_call_request":
      return html`call <b>${event.name}</b>`;
    case "tool_call_response":
      return html`${event.is_error ? "error" : "result"} <b>${tools.get(event.call_id)?.name ?? event.call_id}</b>`;
    default:
      return html`${event.type}`;
  }
}

function kindOf(event: Event): string {
  switch (event.type) {
    case "chat_request":
      return event.metadata?.origin === "harness" ? "harness" : (event.role ?? "user");
    case "chat_response":
      return event.reasoning === undefined ? "assistant" : "reasoning";
    case "tool_call_request":
      return "call";
    case "tool_call_response":
      return event.is_error ? "result error" : "result";
    default:
      return "other";
  }
}

// Turns as HTML: a heading with a link to itself, then what was said, in parts. A part that is not drawn yet is a link to it,
// which the page's script puts the part in place of.

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
${parts.map((part) => (part.isDrawn ? drawRows(turn, part, context) : renderRowsGap(turn, part, context)))}${renderTurnExtras(at, context.extras)}</section>
`;
}

/** Characters of a request in the outline. */
const OUTLINE = 90;

/** Draws the outline: each turn by the first words of its request, with its size; faint where the model reads none of it. */
export function renderOutline(turns: readonly PageTurn[], links: PageLinks): Html {
  const rows = turns.map(({ turn, rows: said, tokens }) => {
    const request = said.find((row) => row.kind === "event" && kindOf(row.event) === "user");
    const words =
      request?.kind === "event" ? forLine(eventText(request.event)?.slice(0, 4 * OUTLINE) ?? "", OUTLINE) : "";
    const isGone = tokens.view === 0 && tokens.raw > 0;
    return html`<li${isGone ? html` class="gone"` : nothing}><a href="${links.turn(turn)}"><span class="facts">${turn}</span> <span>${words === "" ? "…" : words}</span> <span class="facts">${formatTokens(tokens.raw)}</span></a></li>\n`;
  });
  return html`<details class="outline"><summary>Outline</summary><nav aria-label="Turns"><ol>${rows}</ol></nav></details>`;
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
function tokensText({ raw, view }: { readonly raw: number; readonly view: number }): string {
  return raw === view ? `${formatTokens(raw)} tokens` : `${formatTokens(raw)} → ${formatTokens(view)} tokens`;
}
