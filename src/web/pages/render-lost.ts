// What a compaction takes from the model's sight, as a checklist: each fact with the event that said it first, to jump to, and a
// button that pins it.
import type { LostFact } from "../../app/look/compaction-page.ts";
import { FACT_KINDS, type FactKind, type LossReceipt } from "../../core/conversation/compaction.ts";
import { actionAddress, compactionAddress, eventAddress, turnAddress } from "./addresses.ts";
import { type Html, html, nothing } from "./html.ts";
import { lostAnchor } from "./names.ts";

/** Facts of one kind that are listed before the rest is only counted. */
const MOST = 100;

/** Where a checklist stands. */
export interface ListedOn {
  readonly branch: string;
  readonly compaction: string;
  readonly canAct: boolean;
}

/** Counts by kind: kinds of which nothing is hidden left out. Empty where nothing is. */
export function renderReceipt({ facts }: LossReceipt): Html {
  const rows = FACT_KINDS.flatMap((kind) => {
    const counts = facts[kind];
    if (counts === undefined || counts.hidden === 0) return [];
    return html`<tr><th scope="row">${kind}</th><td>${counts.hidden}</td><td>${counts.total}</td></tr>`;
  });
  if (rows.length === 0) return nothing;
  return html`<table><thead><tr><th scope="col">facts</th><th scope="col">hidden</th><th scope="col">of</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** Draws the checklist; what later turns still mention is said first of each kind. */
export function renderLost(lost: readonly LostFact[], on: ListedOn): Html {
  if (lost.length === 0) return html`<p class="note">The model still sees every fact of these turns.</p>`;
  const lists = FACT_KINDS.map((kind) => renderKind(kind, byUse(lost.filter((fact) => fact.kind === kind)), on));
  if (!on.canAct) return html`${lists}`;
  return html`<form method="post" action="${actionAddress(on.branch, "pin")}"><input type="hidden" name="back" value="${compactionAddress(on.branch, on.compaction)}">
${lists}</form>
`;
}

/** What is missed comes first, then what nothing stands for, then what can be fetched or stands in the summary. */
function byUse(facts: readonly LostFact[]): readonly LostFact[] {
  const rank = ({ mentionedIn, fate }: LostFact): number =>
    mentionedIn !== null ? 0 : ["hidden", "pointer", "summary"].indexOf(fate) + 1;
  return facts.toSorted((a, b) => rank(a) - rank(b));
}

function renderKind(kind: FactKind, facts: readonly LostFact[], on: ListedOn): Html {
  if (facts.length === 0) return nothing;
  const more = facts.length - MOST;
  const rest = more > 0 ? html`<p class="note">${more} more of this kind are not listed.</p>` : nothing;
  return html`<details class="lost" id="${lostAnchor(kind)}"${facts.length > 20 ? nothing : html` open`}><summary>${kind}: ${facts.length}</summary>
<ul class="checklist">${facts.slice(0, MOST).map((fact) => renderFact(fact, on))}</ul>${rest}</details>
`;
}

const FATES = {
  hidden: "seen no more",
  pointer: "a stub names the event",
  summary: "in the summary",
} as const;

function renderFact({ text, turn, fate, mentionedIn, source }: LostFact, on: ListedOn): Html {
  const place =
    source === null
      ? html`<a href="${turnAddress(on.branch, turn)}">turn ${turn}</a>, an older summary`
      : html`<a href="${eventAddress(on.branch, turn, source.event)}">turn ${turn}</a>, ${source.who}`;
  const later =
    mentionedIn === null
      ? nothing
      : html` · <strong><a href="${turnAddress(on.branch, mentionedIn)}">turn ${mentionedIn}</a> still mentions it</strong>`;
  return html`<li><code>${text}</code> <span class="facts">${FATES[fate]} · ${place}${later}</span>${renderPin(turn, source, on)}</li>
`;
}

function renderPin(turn: number, source: LostFact["source"], { canAct }: ListedOn): Html {
  if (source === null) return nothing;
  if (source.isPinned) return html` <span class="facts pinned">pinned</span>`;
  const bound = `${turn}:${source.event}`;
  if (!canAct) return nothing;
  return html` <button name="what" value="${bound}" title="Later compactions leave this event as it is (jpg pin ${bound})">Pin</button>`;
}
