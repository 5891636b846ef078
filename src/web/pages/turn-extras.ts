// Additions to a turn on a page: comments on it and on its events, the form to add one, and links to the sub-agents that it started.
import type { CommentRow } from "../../app/conversation/marks.ts";
import type { ConversationPage, Family } from "../../app/look/conversation-page.ts";
import { commandHtml } from "./actions.ts";
import { plainBlock } from "./content.ts";
import {
  actionAddress,
  branchAddress,
  commentAnchor,
  compareAddress,
  type PageLinks,
  type Place,
  renderDocument,
  turnAddress,
} from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

type Agents = NonNullable<Family["agents"]>;

export interface TurnExtras {
  readonly branch: string;
  readonly comments: readonly CommentRow[];
  readonly agents: Agents;
  readonly canAct: boolean;
}

/** Collects the additions to the turns of a page. */
export function turnExtras(page: ConversationPage, place: Place, agents: Agents = []): TurnExtras {
  const canAct = place.kind === "served" && !place.readOnly && page.without === undefined;
  return { branch: page.branch, comments: page.comments, agents, canAct };
}

/** Renders the additions at the end of a turn. */
export function renderTurnExtras(turn: number, { branch, comments, agents, canAct }: TurnExtras): Html {
  const began = agents
    .filter((agent) => agent.turn === turn)
    .map(({ id, title }) => html`<p class="began">Began sub-agent <a href="${branchAddress(id)}">${title}</a></p>\n`);
  return html`${began}${renderTurnComments(comments.filter((one) => one.turn === turn && one.event === undefined))}${canAct ? renderCommentForm(branch, turn) : nothing}`;
}

/** Renders the comments on an event. */
export function renderEventExtras(turn: number, event: string, { comments }: TurnExtras): Html {
  return renderTurnComments(comments.filter((one) => one.turn === turn && one.event === event));
}

function renderTurnComments(remarks: readonly CommentRow[]): Html {
  const drawn = remarks.map(({ text, author, timestamp }) => {
    const facts = ["Comment", ...(author === undefined ? [] : [author]), timestamp.slice(0, 10)].join(" · ");
    return html`<div class="remark"><p class="facts">${facts}</p><p class="said">${text}</p></div>\n`;
  });
  return html`${drawn}`;
}

function renderCommentForm(branch: string, turn: number): Html {
  const command = commandHtml("jpg", "comment", branch, String(turn), { field: "text", value: "", empty: "WORDS" });
  return html`<details class="say"><summary>Comment</summary><form method="post" action="${actionAddress(branch, "comment")}"><input type="hidden" name="about" value="${turn}"><label>On turn ${turn} <textarea name="text" required maxlength="10000" rows="2"></textarea></label> <button>Say it</button> ${command}</form></details>
`;
}

interface CommentContext {
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

/** Draws them; nothing where there are none. */
export function renderFamily(branch: string, { forks, parent, agents = [] }: Family): Html {
  const lines = [
    ...(parent === undefined ? [] : [renderParent(parent)]),
    ...forks.map(
      (fork) =>
        html`<li>fork <a href="${branchAddress(fork)}">${fork}</a> · <a href="${compareAddress(branch, fork)}">side by side</a></li>`,
    ),
    ...agents.map(({ id, title, turn }) => {
      const began =
        turn === undefined ? nothing : html`, begun in <a href="${turnAddress(branch, turn)}">turn ${turn}</a>`;
      return html`<li>sub-agent <a href="${branchAddress(id)}">${title}</a>${began}</li>`;
    }),
  ];
  return lines.length === 0 ? nothing : html`<ul class="family">${lines}</ul>\n`;
}

function renderParent({ kind, id, session, turn }: NonNullable<Family["parent"]>): Html {
  const what = kind === "agent" ? "sub-agent of" : "comes from";
  if (id === undefined) return html`<li>${what} session ${session}, which is not here</li>`;
  const began = turn === undefined ? nothing : html`, <a href="${turnAddress(id, turn)}">turn ${turn}</a>`;
  return html`<li>${what} <a href="${branchAddress(id)}">${id}</a>${began}</li>`;
}

/** What it says. */
export interface Notice {
  readonly title: string;
  readonly lines: readonly string[];
  /** What to do next, one line each. */
  readonly hints?: readonly string[];
  /** Text of a form that was refused. */
  readonly written?: string;
}

/** Draws it. */
export function renderNotice({ title, lines, hints = [], written }: Notice, place: Place): string {
  const back = written === undefined ? nothing : html`<p>This is what you wrote:</p>\n${plainBlock(written)}`;
  const body = html`<main><h1>${title}</h1>
${lines.map((line) => html`<p>${line}</p>`)}${hints.map((line) => html`<p class="note">${line}</p>`)}${back}
<p><a href="/">All conversations</a></p></main>
`;
  return renderDocument(title, place, body);
}
