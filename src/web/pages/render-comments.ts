// What people say about a conversation: each comment with a link to what it is about, and the forms to say something and to take it
// back.
import type { CommentRow } from "../../app/conversation/marks.ts";
import { actionAddress } from "./addresses.ts";
import { commandHtml } from "./command.ts";
import type { Place } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { commentAnchor } from "./names.ts";
import type { PageLinks } from "./page-links.ts";

/** Where comments are drawn. */
export interface CommentContext {
  readonly branch: string;
  /** Position of the newest turn, 0-based. */
  readonly last: number;
  readonly links: PageLinks;
  readonly place: Place;
}

/** Draws the comments of a conversation, and where something can be changed the forms; nothing where there is neither. */
export function renderComments(comments: readonly CommentRow[], context: CommentContext): Html {
  const canAct = context.place.kind === "served" && !context.place.readOnly;
  if (comments.length === 0 && !canAct) return nothing;
  const list =
    comments.length === 0
      ? nothing
      : html`<ol class="comments">${comments.map((comment) => renderComment(comment, context, canAct))}</ol>`;
  return html`<section aria-labelledby="comments"><h2 id="comments">Comments</h2>
<div data-live="comments">${list}</div>${canAct ? renderForm(context) : nothing}</section>
`;
}

function renderComment(
  { id, turn, event, text, author, timestamp }: CommentRow,
  { branch, links }: CommentContext,
  canAct: boolean,
): Html {
  const address = event === undefined ? links.turn(turn) : links.event(turn, event);
  const about = html`<a href="${address}">turn ${turn}${event === undefined ? "" : ", an event"}</a>`;
  const remove = canAct
    ? html`<form method="post" action="${actionAddress(branch, "uncomment")}"><button name="id" value="${id}">Remove it</button> ${commandHtml("jpg", "comment", branch, "--remove", id)}</form>`
    : nothing;
  return html`<li id="${commentAnchor(id)}"><p class="facts">${author === undefined ? nothing : `${author} on `}${about} · ${timestamp.slice(0, 10)}</p>
<p class="said">${text}</p>${remove}</li>
`;
}

function renderForm({ branch, last }: CommentContext): Html {
  return html`<form id="say" method="post" action="${actionAddress(branch, "comment")}"><label>Say something about turn <input name="about" required pattern="-?[0-9]+(:.+)?" size="8" value="${last}"></label> <label>Words <textarea name="text" required maxlength="10000" rows="2"></textarea></label> <button>Comment</button> ${commandHtml("jpg", "comment", branch, { field: "about", value: String(last), empty: "TURN" }, { field: "text", value: "", empty: "WORDS" })}</form>
`;
}
