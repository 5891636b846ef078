// One event of a conversation as HTML: who said it and what, folded where it is long, with what the model sees of it.

import { eventText } from "../../app/diff/view-text.ts";
import { type Event, isFields, sayTurns } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import type { BothRow, EventRow, InsertedRow } from "../../core/look/both-views.ts";
import { forLine } from "../../core/safe-text.ts";
import { type CompactionLooks, namedCompaction, tintClass } from "./compaction-looks.ts";
import { type Html, html } from "./html.ts";
import type { PackText } from "./long-text.ts";
import { eventAnchor } from "./names.ts";
import type { PageLinks } from "./page-links.ts";
import { type Beside, renderBesideEvent } from "./render-beside.ts";
import { renderSaid } from "./render-content.ts";

/** Characters of the line that stands for what is folded. */
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
  readonly beside: Beside;
  /** Packs long texts of tools; null = they stand as they are. */
  readonly pack: PackText | null;
  /** Gives an event with the payloads that it refers to. */
  readonly whole: (event: Event) => Event;
}

/** Draws a row of a turn. */
export function renderRow(turn: number, row: BothRow, context: RowContext): Html {
  return row.kind === "event" ? renderEventRow(turn, row, context) : renderInsertedRow(row, context);
}

function renderEventRow(turn: number, row: EventRow, context: RowContext): Html {
  const { event, state, disposition } = row;
  const tint =
    disposition === undefined || state === "shown" ? "" : ` ${tintClass(context.looks, disposition.compaction.id)}`;
  return html`<div class="row ${kindOf(event)} ${state}${tint}" id="${eventAnchor(event.id)}">${renderFate(turn, row, context)}${renderBesideEvent(turn, event.id, context.beside)}</div>\n`;
}

/** Draws what stands for hidden events. */
function renderInsertedRow({ compaction, as, from, to, events }: InsertedRow, { looks, whole }: RowContext): Html {
  const turns = sayTurns(from, to);
  const said = events.filter(({ type }) => type !== "turn_start").map((event) => renderSaid(whole(event)));
  return html`<div class="row inserted ${tintClass(looks, compaction)}"><p class="who">${as === "summary" ? "Summary of" : "In place of"} ${turns} ${namedCompaction(looks, compaction)}</p>${said}</div>\n`;
}

/** What was said, with what became of it for the model. */
function renderFate(turn: number, { event, state, disposition, shown }: EventRow, context: RowContext): Html {
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
  const said = renderSaid(event, { address, pack, ...defined({ language }) });
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
      return html`${event.metadata?.origin ?? event.role ?? "user"}`;
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
