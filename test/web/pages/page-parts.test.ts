import { describe, expect, it } from "vitest";
import type { ConversationPage, PageTurn } from "../../../src/app/look/conversation-page.ts";
import type { EventRow } from "../../../src/core/look/both-views.ts";
import { renderPage } from "../../../src/web/pages/conversation.ts";
import { drawnRows, pageAt, rowsInReach, turnsOf, wholePage } from "../../../src/web/pages/turns.ts";

function row(id: string): EventRow {
  return { kind: "event", event: { type: "chat_request", id, timestamp: "", content: `said ${id}` }, state: "shown" };
}

function turn(at: number, rows: number): PageTurn {
  const tokens = { raw: rows, view: rows };
  return { turn: at, time: "", tokens, cost: null, rows: Array.from({ length: rows }, (_, n) => row(`e${at}-${n}`)) };
}

function pageOf(...rows: readonly number[]): ConversationPage {
  return {
    title: "Tides",
    conversation: "tides-k3f9",
    branch: "tides-k3f9/main",
    commit: "a".repeat(40),
    format: null,
    created_at: "2026-03-04T05:06:07Z",
    tokens: { raw: 1, view: 1 },
    tokens_source: "estimate",
    turns: rows.map((count, at) => turn(at, count)),
    compactions: [],
    comments: [],
  };
}

const SERVED = { kind: "served", readOnly: false } as const;
const draw = (page: ConversationPage, spot: Parameters<typeof pageAt>[1]): string =>
  renderPage(page, SERVED, { parts: pageAt(page, spot), whole: (event) => event });

describe("parts of a page", () => {
  it("are drawn around where it is opened; the others are links there, in order", () => {
    const page = pageOf(...Array.from({ length: 100 }, () => 2));
    const parts = pageAt(page, { turn: 60 });
    expect(parts.map(({ kind }) => kind)).toEqual(["gap", "gap", "turns", "gap"]);
    const drawn = draw(page, { turn: 60 });
    expect(drawn).toContain('id="turn-50"');
    expect(drawn).not.toContain('id="turn-49"');
    expect(drawn).toContain('<a href="/c/tides-k3f9%2Fmain?at=75#turn-75">Turns 75 to 99</a>');
    expect(drawn).toContain(`data-part="/c/tides-k3f9%2Fmain/turns?from=75&amp;to=99&amp;commit=${"a".repeat(40)}"`);
  });

  it("of a turn of 100,000 rows are the first ones, and those around an event", () => {
    const page = pageOf(1, 100_000, 1);
    const first = draw(page, { turn: 1 });
    expect(first.match(/<div class="row /g)).toHaveLength(100);
    expect(first.match(/class="gap"/g)).toHaveLength(999 + 2);
    expect(first.length).toBeLessThan(500_000);
    const around = draw(page, { turn: 1, event: "e1-70050" });
    expect(around.match(/<div class="row /g)).toHaveLength(200);
    expect(around).toContain("said e1-70050");
  });

  it("that are asked for are no more than a piece, whatever is asked for", () => {
    const page = pageOf(...Array.from({ length: 100 }, () => 300));
    const turns = turnsOf(page, { from: 10, to: 99 });
    expect(turns.map(({ turn: { turn: at } }) => at)).toEqual(Array.from({ length: 25 }, (_, n) => n + 10));
    expect(drawnRows(turns)).toHaveLength(25 * 100);
    expect(turnsOf(page, { from: 200, to: 300 })).toEqual([]);
    const [turn] = page.turns;
    if (turn === undefined) throw new Error("no turn");
    expect(rowsInReach(turn, { from: 100, to: 1_000_000 })).toEqual({ from: 100, to: 199 });
    expect(rowsInReach(turn, { from: 290, to: 299 })).toEqual({ from: 290, to: 299 });
  });

  it("in a file are all of it", () => {
    const page = pageOf(3, 250);
    const turns = wholePage(page).flatMap((part) => (part.kind === "turns" ? part.turns : []));
    expect(drawnRows(turns)).toHaveLength(253);
  });

  it("are there for a conversation without turns, and a spot that is past its end", () => {
    expect(pageAt(pageOf(), { turn: 0 })).toEqual([]);
    expect(draw(pageOf(1), { turn: 99 })).toContain("said e0-0");
  });
});
