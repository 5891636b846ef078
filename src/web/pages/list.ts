// Search results as links to events, including events that the view hides.
import { type ListRow, NEARLY_FULL } from "../../app/look/list.ts";
import type { SearchHit, SearchReport } from "../../app/look/search.ts";
import { shortAgentName } from "../../app/sessions/session-registry.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { plainForm } from "../../core/look/search-words.ts";
import { renderUsd } from "../../core/model/money.ts";
import { branchAddress, eventAnchor, type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

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
function renderHits({ hits, cut }: SearchReport): Html {
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

/** What the list shows. */
interface ListPage {
  /** As ordered. */
  readonly rows: readonly ListRow[];
  /** What was searched for; "" = nothing was. */
  readonly words: string;
  /** What was said with these words. */
  readonly found: SearchReport | null;
  readonly now: Date;
}

/** Draws the list. */
export function renderListPage({ rows, words, found, now }: ListPage, place: Place): string {
  const shown = rows.filter((row) => matches(row, words));
  const none =
    rows.length === 0
      ? "There is no conversation here yet: jpg import adds some."
      : "No conversation has these words in its title, name or labels.";
  const body = html`<header class="top"><h1>Conversations</h1></header>
<div class="bar"><form method="get" action="/" role="search"><input type="search" name="words" value="${words}" aria-label="Find conversations, and what was said in them" placeholder="Find a title, or what was said"> <button>Find</button></form></div>
<main>${shown.length === 0 ? html`<p class="note">${none}</p>` : renderTable(shown, now)}${found === null ? nothing : html`<section aria-labelledby="said"><h2 id="said">Said in them</h2>${renderHits(found)}</section>`}</main>
`;
  return renderDocument("Conversations", place, body);
}

function matches({ id, title, labels = [] }: ListRow, words: string): boolean {
  const text = plainForm([id, title, ...labels].join("\n")).toLowerCase();
  return plainForm(words)
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** A column besides the first. */
interface Column {
  readonly name: string;
  /** `number`: to the right; `wide`: left out on a narrow page. */
  readonly className: string;
  /** Empty in every row = the column is left out. */
  readonly cell: (row: ListRow) => string | Html;
}

function columnsOf(rows: readonly ListRow[], now: Date): readonly Column[] {
  const largest = Math.max(1, ...rows.map(({ tokens }) => tokens.raw));
  const all: readonly Column[] = [
    { name: "agent", className: "agent", cell: ({ agent }) => (agent === undefined ? "jpg" : shortAgentName(agent)) },
    { name: "turns", className: "number wide", cell: ({ turns }) => String(turns) },
    {
      name: "tokens",
      className: "number size",
      cell: ({ tokens }) => html`${sizeText(tokens)}${shareHtml(tokens, largest)}`,
    },
    { name: "full", className: "number full", cell: windowHtml },
    { name: "cost", className: "number", cell: costHtml },
    { name: "compactions", className: "number wide", cell: ({ compactions }) => unlessNone(compactions) },
    { name: "forks", className: "number wide", cell: ({ forks }) => unlessNone(forks) },
    {
      name: "age",
      className: "number",
      cell: ({ updated_at: at }) => html`<time datetime="${at}" title="${at}">${age(at, now)}</time>`,
    },
  ];
  return all.filter(({ cell }) => rows.some((row) => cell(row) !== ""));
}

function renderTable(rows: readonly ListRow[], now: Date): Html {
  const columns = columnsOf(rows, now);
  const body = rows.map((row) => {
    const { branch, title, active, archived, labels = [] } = row;
    const marks = [...(active === true ? ["active"] : []), ...(archived === true ? ["archived"] : []), ...labels];
    const cells = columns.map(({ className, cell }) => html`<td class="${className}">${cell(row)}</td>`);
    return html`<tr><th scope="row"><a href="${branchAddress(branch)}">${title}</a>${marks.map((mark) => html` <span class="label">${mark}</span>`)} <span class="facts">${branch}</span></th>${cells}</tr>\n`;
  });
  const head = columns.map(({ name, className }) => html`<th scope="col" class="${className}">${name}</th>`);
  return html`<div class="table" tabindex="0" role="region" aria-label="Conversations"><table class="list"><thead><tr><th scope="col">conversation</th>${head}</tr></thead><tbody>
${body}</tbody></table></div>`;
}

function unlessNone(count: number): string {
  return count === 0 ? "" : String(count);
}

/** The view's share of the window of the model that answered last. */
function windowHtml({ window }: ListRow): string | Html {
  if (window === undefined) return "";
  const { model, share, tokens } = window;
  return html`<span title="of the ${formatTokens(tokens)} tokens of ${model}"${share >= NEARLY_FULL ? html` class="nearly"` : nothing}>${Math.round(share * 100)}%</span>`;
}

/** At list prices; an unknown price is no figure. */
function costHtml({ cost_usd: usd }: ListRow): string | Html {
  if (usd === undefined) return "";
  return usd === null ? html`<span title="no price known">?</span>` : renderUsd(usd);
}

function sizeText({ raw, view }: ListRow["tokens"]): string {
  return raw === view ? formatTokens(raw) : `${formatTokens(raw)} → ${formatTokens(view)}`;
}

/** How much was said, against the largest, and how much of it the model still reads. */
function shareHtml({ raw, view }: ListRow["tokens"], largest: number): Html {
  const width = (tokens: number): string => ((tokens / largest) * 100).toFixed(1);
  return html`<svg class="share" viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true"><rect class="raw" width="${width(raw)}" height="5"></rect><rect class="view" width="${width(view)}" height="5"></rect></svg>`;
}

const UNITS = [
  ["minute", 60],
  ["hour", 60],
  ["day", 24],
  ["month", 30],
  ["year", 12],
] as const;

/** `3 hours ago`, in the largest unit that there is one of. */
function age(time: string, now: Date): string {
  let count = (now.getTime() - Date.parse(time)) / 1000;
  if (!Number.isFinite(count)) return "";
  let unit = "";
  for (const [name, size] of UNITS) {
    if (count < size) break;
    count /= size;
    unit = name;
  }
  const whole = Math.floor(count);
  return unit === "" ? "just now" : `${whole} ${unit}${whole === 1 ? "" : "s"} ago`;
}
