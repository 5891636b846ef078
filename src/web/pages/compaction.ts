// The compactions of a conversation as a stack, and the page of one: what it did, what it hid, its summary next to its
// sources.
import type { CompactionPage, LostFact, SummaryWithSources } from "../../app/look/compaction-page.ts";
import type { ConversationPage, PageCompaction } from "../../app/look/conversation-page.ts";
import { byUse } from "../../core/compact/lost-facts.ts";
import { FACT_KINDS, type FactKind, type LossReceipt } from "../../core/conversation/compaction.ts";
import { groupRange } from "../../core/conversation/group.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { commandHtml } from "./actions.ts";
import { renderHunks } from "./compare.ts";
import { markdownHtml } from "./content.ts";
import {
  actionAddress,
  branchAddress,
  compactionAddress,
  compactionAnchor,
  eventAddress,
  factAnchor,
  lookAddress,
  lostAnchor,
  type PageLinks,
  type Place,
  renderDocument,
  turnAddress,
} from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

/** Colours that the style sheet has; after these they come again. */
const TINTS = 8;

interface CompactionLook {
  /** The compaction whose row in the stack tells of it: of several that were made as one, the first. */
  readonly row: string;
  /** Number of its colour, 0-based. */
  readonly tint: number;
}

export type CompactionLooks = ReadonlyMap<string, CompactionLook>;

/** Gives the looks of the compactions in force, by id; the oldest has the first colour. */
export function compactionLooks({ compactions }: Pick<ConversationPage, "compactions">): CompactionLooks {
  const looks = new Map<string, CompactionLook>();
  const live = compactions.filter(({ row }) => row.live).reverse();
  for (const [at, { row }] of live.entries())
    for (const id of row.compactions ?? [row.compaction]) looks.set(id, { row: row.compaction, tint: at % TINTS });
  return looks;
}

/** The class of what a compaction hides or changes. */
export function tintClass(looks: CompactionLooks, id: string): string {
  return `tint-${looks.get(id)?.tint ?? 0}`;
}

/** The name of a compaction as a link to it. */
export function namedCompaction(looks: CompactionLooks, id: string): Html {
  const anchor = encodeURIComponent(compactionAnchor(looks.get(id)?.row ?? id));
  return html`<a class="compaction" href="#${anchor}">compaction ${id.slice(0, 8)}</a>`;
}

/** What a stack is drawn for. */
interface StackContext {
  readonly branch: string;
  readonly links: PageLinks;
  readonly looks: CompactionLooks;
  readonly place: Place;
}

/** Draws the stack. */
export function renderCompactions(compactions: readonly PageCompaction[], context: StackContext): Html {
  if (compactions.length === 0) return html`<p class="note">Nothing is compacted: the model sees everything.</p>`;
  const seen = new Set<string>();
  const rows = compactions.map(({ row, records }): StackRow => {
    const isNewest = !seen.has(row.compaction);
    seen.add(row.compaction);
    return { row, records, isNewest };
  });
  return html`<ol class="stack">${rows.map((row) => renderCompaction(row, context))}</ol>`;
}

interface StackRow extends PageCompaction {
  /** Whether no newer commit reverts this one or brings it back. */
  readonly isNewest: boolean;
}

function renderCompaction(stackRow: StackRow, context: StackContext): Html {
  const { row, records } = stackRow;
  const { compaction, subject, from_turn: from, to_turn: to } = row;
  const range =
    from === null || to === null ? nothing : html` · <a href="${context.links.turn(from)}">turn ${from}</a>`;
  const inside = row.live ? records.map((record) => renderRecord(record, context)) : nothing;
  // What is in force has one row, of the newest commit that brought it: links lead there.
  const id = row.live ? html` id="${compactionAnchor(compaction)}"` : nothing;
  return html`<li${id} class="${row.live ? `live ${tintClass(context.looks, compaction)}` : "gone"}"><p><strong>${subject}</strong></p>
<p class="facts">${stateOf(row)} · ${compaction} · ${row.timestamp.slice(0, 10)}${row.author === undefined ? "" : ` · ${row.author}`}${range}</p>
${inside}${renderRowActions(stackRow, context)}</li>
`;
}

/** Renders the actions of a row: a form on a served page, else a command. Rows that a newer commit supersedes only have links. */
function renderRowActions({ row, isNewest }: StackRow, { branch, place }: StackContext): Html {
  const { compaction: id, commit, live, kind } = row;
  const command = commandHtml("jpg", "revert", kind === "revert" ? abbreviateCommit(commit) : id);
  if (place.kind === "file") return live ? html`<p class="facts">Undo it: ${command}</p>` : nothing;
  const look = html`<a href="${compactionAddress(branch, id)}">What the model saw and sees</a>`;
  const off = live ? html` · <a href="${lookAddress(branch, id)}">Without it</a>` : nothing;
  if (place.readOnly || !isNewest) return html`<p>${look}${off}</p>`;
  return html`<form method="post" action="${actionAddress(branch, "revert")}"><input type="hidden" name="id" value="${commit}">${look}${off} <button>${live ? "Undo it" : "Bring it back"}</button> ${command}</form>`;
}

function stateOf({ kind, live, not_applied: reason }: PageCompaction["row"]): string {
  if (kind === "revert") return "undoes it";
  if (live && reason !== undefined) return `without effect: ${reason}`;
  return live ? "in force" : "reverted";
}

function renderRecord({ summary, receipt }: PageCompaction["records"][number], { links }: StackContext): Html {
  const said =
    summary === undefined
      ? nothing
      : html`<details><summary>Summary</summary>${markdownHtml(summary.summary)}</details>`;
  return html`${said}${receipt === undefined ? nothing : renderLoss(receipt, links)}`;
}

/** Renders what it hides from the model, and what later turns still mention of it. */
function renderLoss(receipt: LossReceipt, links: PageLinks): Html {
  const table = renderReceipt(receipt);
  if (table === nothing) return html`<p class="note">No fact is hidden by it.</p>`;
  const still = receipt.mentioned_later.map(
    ({ kind, text, turn }) =>
      html`<li>${kind}: <code>${text}</code> in <a href="${links.turn(turn)}">turn ${turn}</a></li>`,
  );
  const mentions = still.length === 0 ? nothing : html`<p>Later turns still mention:</p><ul>${still}</ul>`;
  return html`<details><summary>What is lost</summary>${table}${mentions}</details>`;
}

/** Facts of one kind that are listed before the rest is only counted. */
const MOST = 100;

interface ListedOn {
  readonly branch: string;
  readonly compaction: string;
  readonly canAct: boolean;
}

/** Counts by kind: kinds of which nothing is hidden left out. Empty where nothing is. */
function renderReceipt({ facts }: LossReceipt): Html {
  const rows = FACT_KINDS.flatMap((kind) => {
    const counts = facts[kind];
    if (counts === undefined || counts.hidden === 0) return [];
    return html`<tr><th scope="row">${kind}</th><td>${counts.hidden}</td><td>${counts.total}</td></tr>`;
  });
  if (rows.length === 0) return nothing;
  return html`<table><thead><tr><th scope="col">facts</th><th scope="col">hidden</th><th scope="col">of</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** Draws the checklist; what later turns still mention is said first of each kind. */
function renderLost(lost: readonly LostFact[], on: ListedOn): Html {
  if (lost.length === 0) return html`<p class="note">The model still sees every fact of these turns.</p>`;
  const lists = FACT_KINDS.map((kind) => renderKind(kind, byUse(lost.filter((fact) => fact.kind === kind)), on));
  if (!on.canAct) return html`${lists}`;
  return html`<form method="post" action="${actionAddress(on.branch, "pin")}"><input type="hidden" name="back" value="${compactionAddress(on.branch, on.compaction)}">
${lists}</form>
`;
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

/** Draws it. */
export function renderCompactionPage(branch: string, page: CompactionPage, place: Place): string {
  const { shown, diff, lost, summaries } = page;
  const canAct = place.kind === "served" && !place.readOnly;
  const title = `${shown.event.id}: ${shown.policies}`;
  const receipt = renderReceipt(shown.receipt);
  const body = html`<header><p class="facts"><a href="/">All conversations</a> · <a href="${branchAddress(branch)}">${page.title}</a></p>
<h1>${shown.policies}</h1>
<p class="facts">${factsOf(page)} · ${rangeOf(page, branch)}</p>
${shown.live ? html`<p><a href="${lookAddress(branch, shown.event.id)}">The conversation without it</a></p>\n` : nothing}${canAct ? renderUndoForm(branch, page) : nothing}</header>
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
    renderState(shown.live, reason),
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

function renderState(live: boolean, reason: string | undefined): string {
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

/** Renders the form that undoes the compaction, or brings it back by reverting its newest revert. */
function renderUndoForm(branch: string, { shown, newest }: CompactionPage): Html {
  if (newest === null) return nothing;
  const name = shown.live ? shown.event.id : abbreviateCommit(newest.commit);
  const id = shown.live ? shown.event.id : newest.commit;
  return html`<form method="post" action="${actionAddress(branch, "revert")}"><input type="hidden" name="id" value="${id}"><input type="hidden" name="back" value="${compactionAddress(branch, shown.event.id)}"><button>${shown.live ? "Undo it" : "Bring it back"}</button> ${commandHtml("jpg", "revert", name)}</form>
`;
}

// A summary next to its sources: its text with each fact marked, and each fact with the events that said it first. Facts that
// nobody said are marked in both.

type Fact = SummaryWithSources["facts"][number];

/** Times that one fact is marked in a text. */
const MOST_MARKS = 50;

/** Draws it. */
function renderSummary({ compaction, text, facts }: SummaryWithSources, branch: string): Html {
  const unsaid = facts.filter(({ places }) => places.length === 0).length;
  const verdict =
    facts.length === 0
      ? "It has no facts to look up."
      : unsaid === 0
        ? `All of its ${facts.length} facts were said.`
        : `${unsaid} of its ${facts.length} facts were never said.`;
  return html`<p class="facts">${verdict}</p>
<div class="beside"><div class="summary-text">${markFacts(text, facts, compaction)}</div>
<ol class="sources">${facts.map((fact, at) => renderSourcedFact(fact, factAnchor(compaction, at), branch))}</ol></div>
`;
}

function renderSourcedFact({ kind, text, places }: Fact, anchor: string, branch: string): Html {
  const what = html`<span class="facts">${kind}</span> <code>${text}</code>`;
  if (places.length === 0)
    return html`<li id="${anchor}" class="unsaid">${what} <strong>nobody said this</strong></li>\n`;
  const said = places.map(
    ({ turn, event, who, around }) =>
      html`<blockquote><p class="facts"><a href="${eventAddress(branch, turn, event)}">turn ${turn}</a>, ${who}</p><p>${around}</p></blockquote>`,
  );
  return html`<li id="${anchor}"><details><summary>${what}</summary>${said}</details></li>\n`;
}

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

/** Renders the text with each fact as a link to its sources. */
function markFacts(text: string, facts: readonly Fact[], compaction: string): Html {
  const pieces: (string | Html)[] = [];
  let from = 0;
  for (const { start, end, at } of findMarks(text, facts)) {
    if (start < from) continue;
    const link = html`<a href="#${factAnchor(compaction, at)}">${text.slice(start, end)}</a>`;
    const isSaid = (facts[at]?.places.length ?? 0) > 0;
    pieces.push(text.slice(from, start), isSaid ? link : html`<mark title="Nobody said this.">${link}</mark>`);
    from = end;
  }
  return pieces.length === 0 && text === "" ? nothing : html`${[...pieces, text.slice(from)]}`;
}

/** In order; of two at one place the longer first. */
function findMarks(text: string, facts: readonly Fact[]): readonly Mark[] {
  const marks = facts.flatMap(({ text: fact }, at): Mark[] => {
    const found: Mark[] = [];
    for (
      let start = text.indexOf(fact);
      start >= 0 && found.length < MOST_MARKS;
      start = text.indexOf(fact, start + 1)
    ) {
      const end = start + fact.length;
      if (isWhole(text, start, end)) found.push({ start, end, at });
    }
    return found;
  });
  return marks.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Whether it is no part of a longer word. */
function isWhole(text: string, start: number, end: number): boolean {
  const joins = (at: number): boolean => /^[\p{L}\p{N}]{2}$/u.test(text.slice(at - 1, at + 1));
  return !joins(start) && !joins(end);
}
