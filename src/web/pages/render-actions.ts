// What can be done with a conversation, as forms: each is a command of jpg, named beside it. They work without scripts.
import type { ConversationPage } from "../../app/page/conversation-page.ts";
import { type Action, actionAddress } from "./addresses.ts";
import { type Html, html } from "./html.ts";

/** How a page compacts. Only a summary asks a model, after a second yes. */
export const MANNERS = ["default", "light", "auto", "extract", "summary"] as const;

/** Draws the forms of a conversation. */
export function renderActions({ branch, title, turns }: ConversationPage): Html {
  const last = Math.max(0, turns.length - 1);
  const form = (action: Action, inside: Html, command: string): Html =>
    html`<form method="post" action="${actionAddress(branch, action)}">${inside} <code>${command}</code></form>\n`;
  return html`<details class="actions"><summary>Change it</summary>
${form(
  "compact",
  html`<label>Compact turns <input name="from" type="number" min="0" max="${last}" value="0" required></label> <label>to <input name="to" type="number" min="0" max="${last}" value="${Math.max(0, last - 3)}" required></label> <label>with <select name="profile">${MANNERS.map((name) => html`<option>${name}</option>`)}</select></label> <button name="how" value="dry-run">What would it do?</button> <button name="how" value="do">Compact</button>`,
  "jpg compact",
)}${form("pin", html`<label>Turn <input name="what" required pattern="-?[0-9]+(:.+)?" size="8"></label> <button>Pin</button> <button formaction="${actionAddress(branch, "unpin")}">Unpin</button>`, "jpg pin")}${form("fork", html`<label>Fork that ends with turn <input name="turn" type="number" min="0" max="${last}" value="${last}" required></label> <label>named <input name="name" size="12"></label> <button>Fork</button>`, "jpg fork")}${form("title", html`<label>Title <input name="title" required maxlength="200" value="${title}"></label> <button>Set</button>`, "jpg title")}${form("label", html`<label>Label <input name="label" required size="12"></label> <button>Add</button>`, "jpg label")}</details>
`;
}
