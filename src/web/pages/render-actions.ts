// What can be done with a conversation, as forms: each is a command of jpg, named beside it. They work without scripts.
import type { ConversationPage } from "../../app/look/conversation-page.ts";
import { shellWord } from "../../core/safe-text.ts";
import { type Action, actionAddress } from "./addresses.ts";
import { commandHtml, type FieldWord } from "./command.ts";
import { type Html, html } from "./html.ts";

/** How a page compacts. Only a summary asks a model, after a second yes. */
export const MANNERS = ["default", "light", "auto", "extract", "summary"] as const;

/** What a command says for it. */
const MANNER_WORDS: Readonly<Record<(typeof MANNERS)[number], string>> = {
  default: "--profile default",
  light: "--profile light",
  auto: "--strategy auto",
  extract: "--profile heavy --model extractive",
  summary: "--profile heavy",
};

/** Draws the forms of a conversation. */
export function renderActions({ branch, title, turns }: ConversationPage): Html {
  const last = Math.max(0, turns.length - 1);
  const to = Math.max(0, last - 3);
  const what: FieldWord = { field: "what", value: "", empty: "TURN" };
  const form = (action: Action, inside: Html, ...commands: readonly Html[]): Html =>
    html`<form method="post" action="${actionAddress(branch, action)}">${inside} ${commands}</form>\n`;
  const compact = form(
    "compact",
    html`<label>Compact turns <input name="from" type="number" min="0" max="${last}" value="0" required></label> <label>to <input name="to" type="number" min="0" max="${last}" value="${to}" required></label> <label>with <select name="profile">${MANNERS.map((name) => html`<option data-words="${MANNER_WORDS[name]}">${name}</option>`)}</select></label> <button name="how" value="dry-run">What would it do?</button> <button name="how" value="do">Compact</button>`,
    commandHtml(
      ...["jpg", "compact", branch, "--from", { field: "from", value: "0" }],
      ...["--to", { field: "to", value: String(to) }, { field: "profile", value: MANNER_WORDS.default }],
    ),
  );
  const pin = form(
    "pin",
    html`<label>Turn <input name="what" required pattern="-?[0-9]+(:.+)?" size="8"></label> <button>Pin</button> <button formaction="${actionAddress(branch, "unpin")}">Unpin</button>`,
    commandHtml("jpg", "pin", branch, what),
    html` `,
    commandHtml("jpg", "pin", branch, what, "--remove"),
  );
  const fork = form(
    "fork",
    html`<label>Fork that ends with turn <input name="turn" type="number" min="0" max="${last}" value="${last}" required></label> <label>named <input name="name" size="12"></label> <button>Fork</button>`,
    commandHtml(
      ...["jpg", "fork", "--no-activate", "--until", { field: "turn", value: String(last) }],
      ...[branch, { field: "name", value: "" }],
    ),
  );
  const retitle = form(
    "title",
    html`<label>Title <input name="title" required maxlength="200" value="${title}"></label> <button>Set</button>`,
    commandHtml("jpg", "title", branch, { field: "title", value: shellWord(title), empty: "TITLE" }),
  );
  const label = form(
    "label",
    html`<label>Label <input name="label" required size="12"></label> <button>Add</button>`,
    commandHtml("jpg", "label", branch, { field: "label", value: "", empty: "LABEL" }),
  );
  return html`<details class="actions"><summary>Change it</summary>
${[compact, pin, fork, retitle, label]}</details>
`;
}
