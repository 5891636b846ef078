// A page that says one thing: why something is not shown, or was not done.
import { type Place, renderDocument } from "./document.ts";
import { html, nothing } from "./html.ts";
import { plainBlock } from "./markdown.ts";

/** What it says. */
export interface Notice {
  readonly title: string;
  readonly lines: readonly string[];
  /** What to do next, one line each. */
  readonly hints?: readonly string[];
  /** What somebody wrote, which was not taken. */
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
