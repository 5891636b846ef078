// One event of a conversation as HTML: who said it and what, folded where it is long, with what the model sees of it.
import { eventText, eventTitle } from "../../app/diff/view-text.ts";
import { type Event, traitsOf } from "../../core/event/event.ts";
import type { EventRow, InsertedRow } from "../../core/page/both-views.ts";
import { forLine } from "../../core/safe-text.ts";
import { type Html, html, nothing } from "./html.ts";
import { eventAnchor, namedCompaction } from "./names.ts";
import { renderSaid } from "./render-content.ts";

/** Characters of the line that stands for what is folded. */
const HEAD = 120;

/** What a row is drawn with. */
export interface RowContext {
  /** Names of tools by call id. */
  readonly tools: ReadonlyMap<string, string>;
}

/** Draws an event; nothing for what no model is sent. */
export function renderEventRow(row: EventRow, context: RowContext): Html {
  const { event, state } = row;
  if (!traitsOf(event).providerVisible) return nothing;
  return html`<div class="row ${kindOf(event)} ${state}" id="${eventAnchor(event.id)}">${renderFate(row, renderEvent(event, context))}</div>\n`;
}

/** Draws what stands for hidden events. */
export function renderInsertedRow({ compaction, as, from, to, events }: InsertedRow): Html {
  const turns = from === to ? `turn ${from}` : `turns ${from}..${to}`;
  const said = events.filter(({ type }) => type !== "turn_start").map(renderSaid);
  return html`<div class="row inserted"><p class="who">${as === "summary" ? "Summary of" : "In place of"} ${turns} ${namedCompaction(compaction)}</p>${said}</div>\n`;
}

function renderEvent(event: Event, { tools }: RowContext): Html {
  const title = eventTitle(event, tools);
  if (!isFolded(event)) return html`<p class="who">${title}</p>${renderSaid(event)}`;
  return html`<details><summary><span class="who">${title}</span> ${headOf(event)}</summary>${renderSaid(event)}</details>`;
}

/** Requests and answers are read; what an agent thinks, calls and gets is there for who opens it. */
function isFolded(event: Event): boolean {
  if (event.type === "chat_request") return event.metadata?.origin === "harness";
  return event.type !== "chat_response" || event.message === undefined;
}

/** The first words of what is folded. */
function headOf(event: Event): string {
  return forLine(eventText(event) ?? "", HEAD);
}

/** What was said, with what became of it for the model. */
function renderFate({ state, disposition, shown }: EventRow, said: Html): Html {
  if (disposition === undefined || state === "shown") return said;
  const by = namedCompaction(disposition.compaction.id);
  if (shown === undefined) return html`${said}<p class="fate">hidden by ${by}</p>`;
  return html`<div class="said">${said}</div><div class="sees"><p class="who">the model sees, by ${by}</p>${renderSaid(shown)}</div>`;
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
