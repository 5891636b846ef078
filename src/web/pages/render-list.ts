// The list of conversations as a page: what `jpg ls` lists.
import type { ListRow } from "../../app/inspect/list-row.ts";
import { branchAddress } from "./addresses.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { tokensText } from "./render-turn.ts";

/** Draws the list, as ordered; `words` = what was searched for, "" = nothing was. */
export function renderListPage(rows: readonly ListRow[], place: Place, words = ""): string {
  const shown = rows.filter((row) => matches(row, words));
  const body = html`<header><h1>Conversations</h1>
<form method="get" action="/" role="search"><label>Find <input type="search" name="words" value="${words}"></label> <button>Find</button></form>
</header>
<main>${shown.length === 0 ? html`<p class="note">${rows.length === 0 ? "There is no conversation here yet: jpg import brings some in." : "None has these words in its title, its name or its labels."}</p>` : renderTable(shown)}</main>
`;
  return renderDocument("Conversations", place, body);
}

function matches({ id, title, labels = [] }: ListRow, words: string): boolean {
  const text = [id, title, ...labels].join("\n").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function renderTable(rows: readonly ListRow[]): Html {
  const body = rows.map(
    ({ id, branch, title, turns, tokens, compactions, forks, updated_at: updated, active, labels = [] }) =>
      html`<tr><td><a href="${branchAddress(branch)}">${title}</a>${active === true ? " (active)" : nothing}<br><span class="facts">${[id, ...labels].join(" · ")}</span></td><td>${turns}</td><td>${tokensText(tokens)}</td><td>${compactions}</td><td>${forks}</td><td>${updated.slice(0, 10)}</td></tr>\n`,
  );
  const names = ["conversation", "turns", "tokens", "compactions", "forks", "changed"];
  return html`<div class="table" tabindex="0"><table class="list"><thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>
${body}</tbody></table></div>`;
}
