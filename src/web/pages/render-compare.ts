// Two branches side by side: what a model sees on each of them where that differs, line beside line, words marked.
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";
import type { ComparedFork, ComparePage } from "../../app/look/conversation-page.ts";
import { branchAddress, compareAddress } from "./addresses.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html } from "./html.ts";
import { renderLines } from "./render-diff.ts";

/** Draws it. */
export function renderComparePage({ left, right, shared, diff }: ComparePage, place: Place): string {
  const body = html`<header><p class="facts"><a href="/">All conversations</a></p>
<h1>Two branches side by side</h1>
<p class="facts">${shared === 1 ? "1 turn is" : `${shared} turns are`} the same on both · <a href="${compareAddress(right.branch, left.branch)}">the other way round</a></p></header>
<main><div class="two"><p>${renderBranch(left)}</p><p>${renderBranch(right)}</p></div>
${diff.hunks.length === 0 ? html`<p class="note">A model sees the same on both.</p>` : diff.hunks.map(renderHunk)}</main>
`;
  return renderDocument(`${left.branch} and ${right.branch}`, place, body);
}

function renderBranch({ branch, title, turns, compactions }: ComparedFork): Html {
  return html`<a href="${branchAddress(branch)}">${branch}</a><br><span class="facts">${title} · ${turns} ${turns === 1 ? "turn" : "turns"} · ${compactions} ${compactions === 1 ? "compaction" : "compactions"}</span>`;
}

function renderHunk({ turn, title, runs }: DiffHunk): Html {
  return html`<section class="hunk"><h2>${turn}${title === undefined ? "" : `, ${title}`}</h2>
${pairRuns(runs).map(([left, right]) => html`<div class="two"><pre class="diff">${left === null ? "" : renderLines(left)}</pre><pre class="diff">${right === null ? "" : renderLines(right)}</pre></div>\n`)}</section>
`;
}

/** What stands beside what: the same on both sides, else what one side has beside what the other has in its place. */
function pairRuns(runs: readonly HunkRun[]): readonly (readonly [HunkRun | null, HunkRun | null])[] {
  const pairs: [HunkRun | null, HunkRun | null][] = [];
  for (const run of runs) {
    const last = pairs.at(-1);
    if (run.kind === "same") pairs.push([run, run]);
    else if (run.kind === "removed") pairs.push([run, null]);
    else if (last !== undefined && last[0]?.kind === "removed" && last[1] === null) last[1] = run;
    else pairs.push([null, run]);
  }
  return pairs;
}
