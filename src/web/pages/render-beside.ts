// What stands at a turn beside what was said in it: what people say about it and about its events, the form to say something there,
// and the conversations of the sub-agents that it began.
import type { CommentRow } from "../../app/conversation/marks.ts";
import type { ConversationPage, Family } from "../../app/look/conversation-page.ts";
import { actionAddress, branchAddress } from "./addresses.ts";
import { commandHtml } from "./command.ts";
import type { Place } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

type Agents = NonNullable<Family["agents"]>;

/** What stands beside the turns of a page. */
export interface Beside {
  readonly branch: string;
  readonly comments: readonly CommentRow[];
  readonly agents: Agents;
  readonly canAct: boolean;
}

/** Gives what stands beside the turns of a page. */
export function besideTurns(page: ConversationPage, place: Place, agents: Agents = []): Beside {
  const canAct = place.kind === "served" && !place.readOnly && page.without === undefined;
  return { branch: page.branch, comments: page.comments, agents, canAct };
}

/** Draws what stands at the end of a turn. */
export function renderBesideTurn(turn: number, { branch, comments, agents, canAct }: Beside): Html {
  const began = agents
    .filter((agent) => agent.turn === turn)
    .map(({ id, title }) => html`<p class="began">Began sub-agent <a href="${branchAddress(id)}">${title}</a></p>\n`);
  return html`${began}${renderRemarks(comments.filter((one) => one.turn === turn && one.event === undefined))}${canAct ? renderSay(branch, turn) : nothing}`;
}

/** Draws what stands at an event. */
export function renderBesideEvent(turn: number, event: string, { comments }: Beside): Html {
  return renderRemarks(comments.filter((one) => one.turn === turn && one.event === event));
}

function renderRemarks(remarks: readonly CommentRow[]): Html {
  const drawn = remarks.map(({ text, author, timestamp }) => {
    const facts = ["Comment", ...(author === undefined ? [] : [author]), timestamp.slice(0, 10)].join(" · ");
    return html`<div class="remark"><p class="facts">${facts}</p><p class="said">${text}</p></div>\n`;
  });
  return html`${drawn}`;
}

function renderSay(branch: string, turn: number): Html {
  const command = commandHtml("jpg", "comment", branch, String(turn), { field: "text", value: "", empty: "WORDS" });
  return html`<details class="say"><summary>Comment</summary><form method="post" action="${actionAddress(branch, "comment")}"><input type="hidden" name="about" value="${turn}"><label>On turn ${turn} <textarea name="text" required maxlength="10000" rows="2"></textarea></label> <button>Say it</button> ${command}</form></details>
`;
}
