// A conversation as a page. What is shown of it (everything, what was said, what the model reads) is chosen by buttons that are
// style alone; in a file it needs no network, served it has forms for what can be done.
import type { ConversationPage, Family } from "../../app/look/conversation-page.ts";
import { callFacts } from "../../core/compact/tool-call.ts";
import type { Event } from "../../core/conversation/event.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { BothRow } from "../../core/look/both-views.ts";
import { renderPrice } from "../../core/model/money.ts";
import { commandHtml, renderActions } from "./actions.ts";
import { compactionLooks, renderCompactions } from "./compaction.ts";
import { fileLanguage } from "./content.ts";
import {
  actionAddress,
  anatomyAddress,
  branchAddress,
  compactionAddress,
  type Place,
  pageLinks,
  renderDocument,
} from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { timelineHtml } from "./timeline.ts";
import { renderComments, renderFamily, turnExtras } from "./turn-extras.ts";
import { type CalledTool, drawParts, type RowContext, renderOutline, type TurnsPart } from "./turns.ts";

/** What is drawn of a conversation, and what its events refer to. */
interface DrawnPage {
  readonly parts: readonly TurnsPart[];
  readonly whole: (event: Event) => Event;
  /** Absent in a file: what it links to is not there. */
  readonly family?: Family;
}

/** Draws a conversation. */
export function renderPage(page: ConversationPage, shownAt: Place, { parts, whole, family }: DrawnPage): string {
  const mayAct = shownAt.kind === "served" && !shownAt.readOnly;
  // A hypothetical view has no forms.
  const place = shownAt.kind === "served" && page.without !== undefined ? { ...shownAt, readOnly: true } : shownAt;
  const canAct = mayAct && page.without === undefined;
  const context = rowContext(page, place, {
    turns: drawnTurns(parts),
    whole,
    agents: family?.agents,
  });
  const body = html`<header class="top">
${place.kind === "served" ? html`<p class="facts"><a href="/">All conversations</a></p>\n` : nothing}<div data-live="head"><h1>${page.title}</h1>
${page.without === undefined ? nothing : renderLook(page.branch, page.without, mayAct)}${sizesHtml(page)}</div>
<div data-live="timeline">${timelineHtml(page, context)}</div>
${family === undefined ? nothing : html`<p><a href="${anatomyAddress(page.branch)}">What fills the window</a></p>\n<div data-live="family">${renderFamily(page.branch, family)}</div>`}</header>
${barHtml(page, place)}
<main>
${
  page.turns.length < 2
    ? nothing
    : html`<div class="aside" data-live="outline">${renderOutline(page.turns, context.links)}</div>
`
}<section class="compactions" aria-labelledby="compactions"><h2 id="compactions">Compactions</h2>
${canAct ? renderActions(page) : nothing}<div data-live="compactions">${renderCompactions(page.compactions, { ...context, branch: page.branch, place })}</div></section>
${renderComments(page.comments, { branch: page.branch, last: Math.max(0, page.turns.length - 1), links: context.links, place })}<div id="turns"${turnsData(page, place, context)}>
${drawParts(parts, context)}</div></main>
`;
  return renderDocument(page.title, place, body);
}

/** Data for the page's script: the tip when the page was drawn, and the address to load turns from. */
function turnsData({ branch, commit, turns }: ConversationPage, place: Place, { links }: RowContext): Html {
  const parts = links.part({ from: 0, to: 0 });
  if (place.kind === "file" || parts === null) return nothing;
  return html` data-address="${branchAddress(branch)}" data-branch="${branch}" data-commit="${commit}" data-count="${turns.length}" data-parts="${parts}"`;
}

/** What rows of some turns are drawn with. */
export function rowContext(
  page: ConversationPage,
  place: Place,
  {
    turns,
    whole,
    agents,
  }: {
    readonly turns: Iterable<{ readonly rows: readonly BothRow[] }>;
    readonly whole: (event: Event) => Event;
    readonly agents?: NonNullable<Family["agents"]>;
  },
): RowContext {
  return {
    tools: calledTools(turns),
    looks: compactionLooks(page),
    links: pageLinks(place, page),
    extras: turnExtras(page, place, agents),
    pack: place.kind === "file" ? place.pack : null,
    whole,
  };
}

function drawnTurns(parts: readonly TurnsPart[]): readonly { readonly rows: readonly BothRow[] }[] {
  return parts.flatMap((part) => (part.kind === "turns" ? part.turns.map(({ turn }) => turn) : []));
}

function calledTools(turns: Iterable<{ readonly rows: readonly BothRow[] }>): ReadonlyMap<string, CalledTool> {
  const tools = new Map<string, CalledTool>();
  for (const { rows } of turns)
    for (const row of rows) {
      if (row.kind !== "event" || row.event.type !== "tool_call_request") continue;
      const { path } = callFacts(row.event);
      const language = path === undefined ? null : fileLanguage(path);
      tools.set(row.event.call_id, { name: row.event.name, ...(language === null ? {} : { language }) });
    }
  return tools;
}

function sizesHtml({
  branch,
  turns,
  tokens,
  tokens_source: source,
  format,
  created_at: created,
  compactions,
}: ConversationPage): Html {
  const live = compactions.filter(({ row }) => row.live && row.kind !== "revert").length;
  const costs = turns.flatMap(({ cost }) => cost ?? []);
  const size =
    tokens.raw === tokens.view
      ? html`<b>${formatTokens(tokens.raw)}</b>`
      : html`<b>${formatTokens(tokens.raw)}</b> → <b class="view">${formatTokens(tokens.view)}</b>`;
  const facts = [
    html`${size} tokens${source === "estimate" ? " (estimate)" : ""}`,
    html`<b>${turns.length}</b> ${turns.length === 1 ? "turn" : "turns"}`,
    html`<b>${live}</b> ${live === 1 ? "compaction" : "compactions"}`,
    ...(costs.length === 0
      ? []
      : [html`<b>${renderPrice(costs.reduce((sum, cost) => sum + cost, 0))}</b> at list prices`]),
    html`${branch}`,
    ...(format === null ? [] : [html`from ${format}`]),
    html`${created.slice(0, 10)}`,
  ];
  return html`<ul class="sizes">${facts.map((fact) => html`<li>${fact}</li>`)}</ul>`;
}

/** What stays in sight: what is shown, and what to find. */
function barHtml({ branch }: ConversationPage, place: Place): Html {
  const find = html`<input type="search" name="words" aria-label="Find in this conversation" placeholder="Find, hidden text too" required> <button>Find</button>`;
  return html`<div class="bar"><fieldset class="sides"><legend>Show</legend>
<label><input type="radio" name="side" id="side-both" checked><span>both</span></label>
<label><input type="radio" name="side" id="side-raw"><span>what was said</span></label>
<label><input type="radio" name="side" id="side-view"><span>what the model sees</span></label></fieldset>
<label class="prompts"><input type="checkbox" id="prompts-only"> prompts only</label>
${place.kind === "file" ? html`<form role="search" id="find" hidden>${find}</form>` : html`<form role="search" id="find" method="get" action="${branchAddress(branch)}/find">${find}</form>`}</div>`;
}

/** Draws it. */
function renderLook(branch: string, compaction: string, canAct: boolean): Html {
  const revert = canAct
    ? html`<form method="post" action="${actionAddress(branch, "revert")}"><button name="id" value="${compaction}">Undo it</button> ${commandHtml("jpg", "revert", compaction)}</form>`
    : nothing;
  return html`<div class="look" role="note"><p>This is how it would read without <a href="${compactionAddress(branch, compaction)}">compaction ${compaction}</a>. Nothing was changed. <a href="${branchAddress(branch)}">Show it as it is</a></p>
${revert}</div>
`;
}
