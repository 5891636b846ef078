// Two branches side by side: what a model sees on each of them where that differs, line beside line, words marked.
import type { ViewDiff } from "../../app/diff/diff.ts";
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";
import type { ComparedFork, ComparePage } from "../../app/look/conversation-page.ts";
import { branchAddress, compareAddress, type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

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

/** Pairs the runs of both sides: the same run twice, or a removed one with the added one that replaces it. */
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

/** Lines of a run that are drawn: of more, the first and the last. */
const MOST_LINES = 200;

/** Draws the hunks of a diff of two views. */
export function renderHunks({ hunks }: ViewDiff): Html {
  return hunks.length === 0 ? html`<p class="note">The model sees the same.</p>` : html`${hunks.map(renderLineHunk)}`;
}

function renderLineHunk({ turn, title, runs }: DiffHunk): Html {
  return html`<section class="hunk"><h3>${turn}${title === undefined ? "" : `, ${title}`}</h3><pre class="diff">${runs.map(renderRun)}</pre></section>
`;
}

const MARKS = { same: " ", removed: "-", added: "+" } as const;

function renderRun(run: HunkRun): Html {
  return renderLines(run, `${MARKS[run.kind]} `);
}

/** Draws the lines of a run, each behind a mark; of many the first and the last. */
function renderLines({ kind, lines, words = [] }: HunkRun, mark = ""): Html {
  const hidden = lines.length - MOST_LINES;
  const drawn = lines.map((line, at) => {
    if (hidden > 0 && at === MOST_LINES / 2)
      return html`<span class="note">  ${hidden} lines are left out here\n</span>`;
    if (hidden > 0 && at > MOST_LINES / 2 && at < lines.length - MOST_LINES / 2) return nothing;
    return html`${mark}${markWords(line, words[at] ?? [])}\n`;
  });
  if (kind === "same") return html`${drawn}`;
  return kind === "removed" ? html`<del>${drawn}</del>` : html`<ins>${drawn}</ins>`;
}

function markWords(line: string, ranges: readonly (readonly [number, number])[]): Html {
  const pieces: (string | Html)[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    pieces.push(line.slice(at, start), html`<mark>${line.slice(start, end)}</mark>`);
    at = end;
  }
  return html`${[...pieces, line.slice(at)]}`;
}
