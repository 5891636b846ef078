// The page of one compaction, like a pull request's: what was done, its summary beside its sources, what is lost as a checklist,
// and what the model saw and sees, word by word.
import type { CompactionPage } from "../../app/look/compaction-page.ts";
import { groupRange } from "../../core/conversation/group.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { actionAddress, branchAddress, compactionAddress, lookAddress, turnAddress } from "./addresses.ts";
import { commandHtml } from "./command.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { renderHunks } from "./render-diff.ts";
import { renderLost, renderReceipt } from "./render-lost.ts";
import { renderSummary } from "./render-sources.ts";

/** Draws it. */
export function renderCompactionPage(branch: string, page: CompactionPage, place: Place): string {
  const { shown, diff, lost, summaries } = page;
  const canAct = place.kind === "served" && !place.readOnly;
  const title = `${shown.event.id}: ${shown.policies}`;
  const receipt = renderReceipt(shown.receipt);
  const body = html`<header><p class="facts"><a href="/">All conversations</a> · <a href="${branchAddress(branch)}">${page.title}</a></p>
<h1>${shown.policies}</h1>
<p class="facts">${factsOf(page)} · ${rangeOf(page, branch)}</p>
${shown.live ? html`<p><a href="${lookAddress(branch, shown.event.id)}">The conversation without it</a></p>\n` : nothing}${canAct ? renderWays(branch, page) : nothing}</header>
<main>
${summaries.map((summary) => html`<section aria-label="Summary"><h2>Summary and its sources</h2>${renderSummary(summary, branch)}</section>\n`)}<section aria-labelledby="lost"><h2 id="lost">What is lost</h2>
${receipt}${renderLost(lost, { branch, compaction: shown.event.id, canAct })}</section>
<section aria-labelledby="views"><h2 id="views">What the model saw and sees</h2>
${renderHunks(diff)}</section></main>
`;
  return renderDocument(title, place, body);
}

function factsOf({ shown, newest }: CompactionPage): string {
  const { event, not_applied: reason } = shown;
  const { tokens } = event.stats ?? {};
  return [
    standing(shown.live, reason),
    event.id,
    event.timestamp.slice(0, 10),
    newest?.author,
    event.profile === undefined ? undefined : `profile ${event.profile}`,
    event.source,
    event.summary?.model,
    tokens === undefined ? undefined : `${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens`,
  ]
    .filter((fact) => fact !== undefined && fact !== "")
    .join(" · ");
}

function standing(live: boolean, reason: string | undefined): string {
  if (!live) return "reverted";
  return reason === undefined ? "in force" : `without effect: ${reason}`;
}

function rangeOf({ shown }: CompactionPage, branch: string): Html {
  const { event, compactions = [] } = shown;
  const [first = event, ...others] = compactions;
  const { from, to } = groupRange([first, ...others]);
  const start = html`<a href="${turnAddress(branch, from)}">${from === to ? `turn ${from}` : `turns ${from}`}</a>`;
  return from === to ? start : html`${start} to <a href="${turnAddress(branch, to)}">${to}</a>`;
}

/** It goes, or comes back, by the newest commit that did the other. */
function renderWays(branch: string, { shown, newest }: CompactionPage): Html {
  if (newest === null) return nothing;
  const name = shown.live ? shown.event.id : abbreviateCommit(newest.commit);
  const id = shown.live ? shown.event.id : newest.commit;
  return html`<form method="post" action="${actionAddress(branch, "revert")}"><input type="hidden" name="id" value="${id}"><input type="hidden" name="back" value="${compactionAddress(branch, shown.event.id)}"><button>${shown.live ? "Undo it" : "Bring it back"}</button> ${commandHtml("jpg", "revert", name)}</form>
`;
}
