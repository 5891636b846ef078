// The compactions of a conversation as a stack, newest first, like the commits of a pull request: what each does to which turns,
// what it costs, its summary, and the command that takes it back.
import type { PageCompaction } from "../../app/look/conversation-page.ts";
import type { LossReceipt } from "../../core/conversation/compaction.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { actionAddress, compactionAddress, lookAddress } from "./addresses.ts";
import { commandHtml } from "./command.ts";
import { type CompactionLooks, tintClass } from "./compaction-looks.ts";
import type { Place } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";
import { markdownHtml } from "./markdown.ts";
import { compactionAnchor } from "./names.ts";
import type { PageLinks } from "./page-links.ts";
import { renderReceipt } from "./render-lost.ts";

/** What a stack is drawn for. */
export interface StackContext {
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
  /** No newer commit takes this one's word back, or gives it again. */
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
<p class="facts">${standing(row)} · ${compaction} · ${row.timestamp.slice(0, 10)}${row.author === undefined ? "" : ` · ${row.author}`}${range}</p>
${inside}${renderWays(stackRow, context)}</li>
`;
}

/** What can be done about it: here, where the page is served, else at a prompt. A row whose word no longer holds only leads on. */
function renderWays({ row, isNewest }: StackRow, { branch, place }: StackContext): Html {
  const { compaction: id, commit, live, kind } = row;
  const command = commandHtml("jpg", "revert", kind === "revert" ? abbreviateCommit(commit) : id);
  if (place.kind === "file") return live ? html`<p class="facts">Undo it: ${command}</p>` : nothing;
  const look = html`<a href="${compactionAddress(branch, id)}">What the model saw and sees</a>`;
  const off = live ? html` · <a href="${lookAddress(branch, id)}">Without it</a>` : nothing;
  if (place.readOnly || !isNewest) return html`<p>${look}${off}</p>`;
  return html`<form method="post" action="${actionAddress(branch, "revert")}"><input type="hidden" name="id" value="${commit}">${look}${off} <button>${live ? "Undo it" : "Bring it back"}</button> ${command}</form>`;
}

function standing({ kind, live, not_applied: reason }: PageCompaction["row"]): string {
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

/** What it takes from the model's sight, and what later turns still mention of it. */
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
