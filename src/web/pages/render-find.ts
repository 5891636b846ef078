// What was found in conversations, as links to where it stands: events that the view hides are found, too.
import type { SearchHit, SearchReport } from "../../app/look/search.ts";
import { branchAddress } from "./addresses.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { eventAnchor } from "./names.ts";

/** Draws what was found in a conversation. */
export function renderFindPage(
  title: string,
  branch: string,
  { words, report, place }: { readonly words: string; readonly report: SearchReport; readonly place: Place },
): string {
  const body = html`<header class="top"><p class="facts"><a href="${branchAddress(branch)}">${title}</a></p>
<h1>Found: ${words}</h1></header>
<main>${renderHits(report)}</main>
`;
  return renderDocument(`${words} in ${title}`, place, body);
}

/** Draws hits as a list; says when there are none, or more. */
export function renderHits({ hits, cut }: SearchReport): Html {
  if (hits.length === 0) return html`<p class="note hits">No match.</p>`;
  return html`<ol class="hits">${hits.map(renderHit)}</ol>${cut ? html`<p class="note">There are more matches: add more words.</p>` : nothing}`;
}

const KINDS: Readonly<Record<string, string>> = {
  chat_request: "request",
  chat_response: "answer",
  tool_call_request: "call",
  tool_call_response: "result",
};

function renderHit({ branch, turn, event, type, state, line, from, to }: SearchHit): Html {
  const address = `${branchAddress(branch)}?at=${turn}:${encodeURIComponent(event)}#${encodeURIComponent(eventAnchor(event))}`;
  return html`<li><a href="${address}"><span class="facts">turn ${turn} · ${KINDS[type] ?? type}${state === "shown" ? nothing : ` · ${state}`}</span> ${line.slice(0, from)}<mark>${line.slice(from, to)}</mark>${line.slice(to)}</a></li>`;
}
