// A command of jpg as a page says it beside the form that does the same: as a shell takes it. Words that the form fills in stand in
// it by the name of their field; the page's script keeps them true, and puts a button beside it that copies.
import { shellWord } from "../../core/safe-text.ts";
import { type Html, html } from "./html.ts";

/** A word that a field of the form around it fills. */
export interface FieldWord {
  readonly field: string;
  /** What stands there when the page comes: of a choice what the command says for it. */
  readonly value: string;
  /** What stands there while the field is empty; absent = nothing. */
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
