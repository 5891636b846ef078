// The command of jpg that a form is equivalent to, quoted for a shell. Words from fields carry the field's name: the page's script
// updates them, and adds a button that copies the command.
import { type AskedCost, describeAsked } from "../../app/look/compaction-page.ts";
import type { ConversationPage } from "../../app/look/conversation-page.ts";
import { shellWord } from "../../core/safe-text.ts";
import { type Action, actionAddress, branchAddress, type Place, renderDocument } from "./document.ts";
import { type Html, html } from "./html.ts";

/** A word that a field of the form around it fills. */
interface FieldWord {
  readonly field: string;
  /** The initial text; for a choice, the command's words for it. */
  readonly value: string;
  /** The text for an empty field; absent = nothing. */
  readonly empty?: string;
}

/** Draws a command; words are quoted where a shell asks for it. */
export function commandHtml(...words: readonly (string | FieldWord)[]): Html {
  const drawn = words.map((word, at) => {
    const space = at === 0 ? "" : " ";
    if (typeof word === "string") return `${space}${shellWord(word)}`;
    const { field, value, empty = "" } = word;
    return html`${space}<span data-field="${field}" data-empty="${empty}">${value === "" ? empty : value}</span>`;
  });
  return html`<code class="command">${drawn}</code>`;
}

// What can be done with a conversation, as forms: each is a command of jpg, shown with it. They work without scripts.

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
    html`<form method="post" action="${actionAddress(branch, action)}"><p class="fields">${inside}</p>${commands.map((command) => html`<p class="same">${command}</p>`)}</form>\n`;
  const compact = form(
    "compact",
    html`<label>Turns <input name="from" type="number" min="0" max="${last}" value="0" required></label> <label>to <input name="to" type="number" min="0" max="${last}" value="${to}" required></label> <label>with <select name="profile">${MANNERS.map((name) => html`<option data-words="${MANNER_WORDS[name]}">${name}</option>`)}</select></label> <button name="how" value="dry-run">What would it do?</button> <button name="how" value="do">Compact</button>`,
    commandHtml(
      ...["jpg", "compact", branch, "--from", { field: "from", value: "0" }],
      ...["--to", { field: "to", value: String(to) }, { field: "profile", value: MANNER_WORDS.default }],
    ),
  );
  const pin = form(
    "pin",
    html`<label>Always show turn <input name="what" required pattern="-?[0-9]+(:.+)?" size="8"></label> <button>Pin</button> <button formaction="${actionAddress(branch, "unpin")}">Unpin</button>`,
    commandHtml("jpg", "pin", branch, what),
    commandHtml("jpg", "pin", branch, what, "--remove"),
  );
  const fork = form(
    "fork",
    html`<label>Ends with turn <input name="turn" type="number" min="0" max="${last}" value="${last}" required></label> <label>name <input name="name" size="12"></label> <button>Fork</button>`,
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
${[group("Shorten what the model sees", compact, pin), group("Continue from an earlier turn", fork), group("Name it", retitle, label)]}</details>
`;
}

function group(title: string, ...forms: readonly Html[]): Html {
  return html`<fieldset><legend>${title}</legend>
${forms}</fieldset>
`;
}

/** Draws it; `fields` = the form that was sent, which is sent again with the model in it. */
export function renderConfirmPage(
  branch: string,
  { fields, ...asked }: AskedCost & { readonly fields: URLSearchParams },
  place: Place,
): string {
  const hidden = [...fields].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const body = html`<main><h1>Ask a model?</h1>
<p>${describeAsked(asked)} Nothing has been sent yet.</p>
<form method="post" action="${actionAddress(branch, "compact")}">${hidden}<button>Ask ${asked.model}, and compact</button></form>
<p><a href="${branchAddress(branch)}">Cancel</a></p></main>
`;
  return renderDocument("Ask a model?", place, body);
}
