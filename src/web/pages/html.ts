// HTML by construction: a template whose values are escaped unless they are HTML that this module made. What a stranger said can
// never become markup.
import { forMarkdown } from "../../core/safe-text.ts";

/** HTML that only this module makes. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Joins words of jpg's own source with escaped values. */
  static of(words: readonly string[], values: readonly Value[]): Html {
    let text = words[0] ?? "";
    for (let at = 0; at < values.length; at += 1) text += `${written(values[at] ?? "")}${words[at + 1]}`;
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

export type Value = string | number | Html | readonly (string | Html)[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const LONE_SURROGATE = /\p{Cs}/gu;

/** Writes HTML: html`<b>${anything}</b>`. Strings are escaped, lists joined. A value is between tags or in a quoted attribute. */
export function html(words: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.of(words, values);
}

export const nothing: Html = html``;

function written(value: Value): string {
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "number" || value instanceof Html) return String(value);
  return value.map(written).join("");
}

/** Terminal colours go; control characters, marks that turn text around and halves of characters become visible. */
function escapeText(text: string): string {
  return forMarkdown(text)
    .replace(LONE_SURROGATE, "\ufffd")
    .replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
}
