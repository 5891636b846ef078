// A conversation as a page. What is shown of it (everything, what was said, what the model reads) is chosen by buttons that are
// style alone; in a file it needs no script and no network, served it has forms for what can be done.
import type { ConversationPage } from "../../app/page/conversation-page.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { renderActions } from "./render-actions.ts";
import { renderCompactions } from "./render-compaction.ts";
import { timelineHtml } from "./render-timeline.ts";
import { renderTurn, tokensText } from "./render-turn.ts";

/** Draws a conversation. */
export function renderPage(page: ConversationPage, place: Place): string {
  const context = { tools: toolNames(page) };
  const canAct = place.kind === "served" && !place.readOnly;
  const body = html`<header>
${place.kind === "served" ? html`<p class="facts"><a href="/">All conversations</a></p>\n` : nothing}<h1>${page.title}</h1>
<p class="facts">${factsOf(page).join(" · ")}</p>
${timelineHtml(page.turns)}
${SIDES}
</header>
<main>
<section class="compactions" aria-labelledby="compactions"><h2 id="compactions">Compactions</h2>
${canAct ? renderActions(page) : nothing}${renderCompactions(page.compactions, { branch: page.branch, place })}</section>
${page.turns.map((turn) => renderTurn(turn, context))}</main>
`;
  return renderDocument(page.title, place, body);
}

const SIDES: Html = html`<fieldset class="sides"><legend>Show</legend>
<label><input type="radio" name="side" id="side-both" checked> both</label>
<label><input type="radio" name="side" id="side-raw"> what was said</label>
<label><input type="radio" name="side" id="side-view"> what the model sees</label>
<label><input type="checkbox" id="prompts-only"> prompts only</label>
</fieldset>`;

function factsOf({
  branch,
  turns,
  tokens,
  tokens_source: source,
  format,
  created_at: created,
}: ConversationPage): string[] {
  return [
    branch,
    turns.length === 1 ? "1 turn" : `${turns.length} turns`,
    `${tokensText(tokens)}${source === "estimate" ? " (estimate)" : ""}`,
    ...(format === null ? [] : [`from ${format}`]),
    created.slice(0, 10),
  ];
}

function toolNames({ turns }: ConversationPage): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { rows } of turns)
    for (const row of rows)
      if (row.kind === "event" && row.event.type === "tool_call_request") names.set(row.event.call_id, row.event.name);
  return names;
}
