// What the model sees before and after, as a page: hunks as a diff has them, with the words that differ marked.
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";
import type { DiffReport } from "../../app/diff/view-diff.ts";
import { branchAddress } from "./addresses.ts";
import { type Place, renderDocument } from "./document.ts";
import { type Html, html, nothing } from "./html.ts";

/** Lines of a run that are drawn: of more, the first and the last. */
const MOST_LINES = 200;

/** Draws a diff of the views of a branch. */
export function renderDiffPage(branch: string, report: DiffReport, place: Place): string {
  const body = html`<header><p class="facts"><a href="${branchAddress(branch)}">${branch}</a></p>
<h1>What the model saw and sees</h1>
<p class="facts">${report.from} → ${report.to}</p></header>
<main>${report.hunks.length === 0 ? html`<p class="note">The model sees the same.</p>` : nothing}${report.hunks.map(renderHunk)}</main>
`;
  return renderDocument(`${report.from} → ${report.to}`, place, body);
}

function renderHunk({ turn, title, runs }: DiffHunk): Html {
  return html`<section class="hunk"><h2>${turn}${title === undefined ? "" : `, ${title}`}</h2><pre class="diff">${runs.map(renderRun)}</pre></section>
`;
}

const MARKS = { same: " ", removed: "-", added: "+" } as const;

function renderRun({ kind, lines, words = [] }: HunkRun): Html {
  const hidden = lines.length - MOST_LINES;
  const drawn = lines.map((line, at) => {
    if (hidden > 0 && at === MOST_LINES / 2)
      return html`<span class="note">  ${hidden} lines are left out here\n</span>`;
    if (hidden > 0 && at > MOST_LINES / 2 && at < lines.length - MOST_LINES / 2) return nothing;
    return html`${MARKS[kind]} ${markWords(line, words[at] ?? [])}\n`;
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
