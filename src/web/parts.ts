// What is answered of one conversation: its page, parts of it that the page's script asks for, and what is found in it.

import { eventText } from "../app/diff/view-text.ts";
import { type ConversationPage, readPayloads } from "../app/look/conversation-page.ts";
import { searchConversations } from "../app/look/search.ts";
import { userError } from "../core/errors.ts";
import { defined } from "../core/json.ts";
import { forMarkdown } from "../core/safe-text.ts";
import type { PageAnswer, PageRequest, Route } from "./exchange.ts";
import { drawnRows, type PageSpot, pageAt, rowsInReach, turnsOf } from "./pages/page-parts.ts";
import { renderFindPage } from "./pages/render-find.ts";
import { renderPage, rowContext } from "./pages/render-page.ts";
import { drawRows, drawTurns } from "./pages/render-turn.ts";

/** Most that a page shows of what is found. */
const MOST_HITS = 200;

export const PARTS: readonly Route[] = [
  { method: "GET", path: /^\/c\/([^/]+)$/, run: answerPage },
  { method: "GET", path: /^\/c\/([^/]+)\/turns$/, run: answerTurns },
  { method: "GET", path: /^\/c\/([^/]+)\/text$/, run: answerText },
  { method: "GET", path: /^\/c\/([^/]+)\/find$/, run: answerFind },
];

async function answerPage(request: PageRequest): Promise<PageAnswer> {
  const page = await readPage(request);
  const parts = pageAt(page, readSpot(page, request.query.get("at")) ?? { turn: 0 });
  const turns = parts.flatMap((part) => (part.kind === "turns" ? part.turns : []));
  const whole = await readPayloads(request.workspace, page, drawnRows(turns));
  const family = await request.pages.family(request.workspace, page, { isAnew: true });
  return { type: "text/html", body: renderPage(page, request.place, { parts, whole, family }) };
}

/** Turns, or some rows of one, without a document around them. */
async function answerTurns(request: PageRequest): Promise<PageAnswer> {
  const { workspace, place, query } = request;
  const page = await readPage(request);
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(query.get("rows") ?? "") ?? [];
  const range = { from: readNumber(query, "from"), to: readNumber(query, "to") };
  const turn = page.turns[range.from];
  if (turn === undefined) throw notHere(`turn ${range.from}`);
  if (from === undefined || to === undefined) {
    const turns = turnsOf(page, range);
    const whole = await readPayloads(workspace, page, drawnRows(turns));
    const { agents = [] } = await request.pages.family(workspace, page);
    const context = rowContext(page, place, { turns: turns.map((drawn) => drawn.turn), whole, agents });
    return { type: "text/html", body: String(drawTurns(turns, context)) };
  }
  const rows = rowsInReach(turn, { from: Number(from), to: Number(to) });
  const whole = await readPayloads(workspace, page, turn.rows.slice(rows.from, rows.to + 1));
  return { type: "text/html", body: String(drawRows(turn, rows, rowContext(page, place, { turns: [turn], whole }))) };
}

/** The whole text of an event, as text. */
async function answerText(request: PageRequest): Promise<PageAnswer> {
  const page = await readPage(request);
  const spot = readSpot(page, request.query.get("at"));
  const row = page.turns[spot?.turn ?? -1]?.rows.find((one) => one.kind === "event" && one.event.id === spot?.event);
  if (row?.kind !== "event") throw notHere("this event");
  const whole = await readPayloads(request.workspace, page, [row]);
  return { type: "text/plain", body: forMarkdown(eventText(whole(row.event)) ?? "") };
}

async function answerFind(request: PageRequest): Promise<PageAnswer> {
  const { workspace, query, place } = request;
  const { branch, title } = await readPage(request);
  const words = query.get("words")?.trim() ?? "";
  const search = { pattern: words, ignoreCase: true, id: branch, limit: MOST_HITS };
  const report = words === "" ? { hits: [], cut: false, unreadable: [] } : await searchConversations(workspace, search);
  return { type: "text/html", body: renderFindPage(title, branch, { words, report, place }) };
}

function readPage({ workspace, pages, names: [branch = ""], query }: PageRequest): Promise<ConversationPage> {
  const commit = query.get("commit");
  if (commit !== null && !/^[0-9a-f]{40}$/.test(commit)) throw userError("bad_address", "The address names no commit.");
  const without = query.get("without");
  return pages.read(workspace, branch, {
    ...(commit === null ? {} : { commit }),
    ...(without === null ? {} : { without }),
  });
}

/** Reads `12`, `12:EVENT`, or `:EVENT` alone; null when it is none of these, or nothing is there. */
function readSpot({ turns }: ConversationPage, text: string | null): PageSpot | null {
  const [, turn = "", event] = /^(\d{0,9})(?::(.+))?$/s.exec(text ?? "") ?? [];
  if (turn !== "") return { turn: Number(turn), ...defined({ event }) };
  const found = turns.find(({ rows }) => rows.some((row) => row.kind === "event" && row.event.id === event));
  return found === undefined || event === undefined ? null : { turn: found.turn, event };
}

function readNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^\d{1,9}$/.test(text)) throw userError("bad_address", `"${name}" in the address is not a turn.`);
  return Number(text);
}

function notHere(what: string): Error {
  return userError("unknown_place", `The conversation does not have ${what}.`);
}
