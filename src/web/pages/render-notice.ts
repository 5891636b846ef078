// A page that says one thing: why something is not shown, or was not done.
import { type Place, renderDocument } from "./document.ts";
import { html } from "./html.ts";

/** Draws it; `hints` = what to do next, one line each. */
export function renderNotice(
  title: string,
  lines: readonly string[],
  place: Place,
  hints: readonly string[] = [],
): string {
  const body = html`<main><h1>${title}</h1>
${lines.map((line) => html`<p>${line}</p>`)}${hints.map((line) => html`<p class="note">${line}</p>`)}
<p><a href="/">All conversations</a></p></main>
`;
  return renderDocument(title, place, body);
}
