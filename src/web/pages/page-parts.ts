// Which parts of a conversation a page draws at once: in a file all of it; served, what it was opened at. The rest are gaps that
// the page's script fills as they come into sight, and that are links without it.
import type { ConversationPage, PageTurn } from "../../app/look/conversation-page.ts";
import { type BothRow, type CutLimits, cutPage, type Piece, rowSize } from "../../core/look/both-views.ts";

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
export interface RowsPart extends Piece {
  readonly isDrawn: boolean;
}

export interface DrawnTurn {
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

/** Gives a page of which only what stands around a spot is drawn. */
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

/** Gives rows of a turn, positions inclusive, no more than stand in one part. */
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
