// The forks of a conversation, where it comes from, and the sub-agents that it began, each as a link.
import type { Family } from "../../app/look/conversation-page.ts";
import { branchAddress, compareAddress, turnAddress } from "./addresses.ts";
import { type Html, html, nothing } from "./html.ts";

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
