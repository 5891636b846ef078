// What the model sees before and after: hunks as a diff has them, with the words that differ marked.

import type { ViewDiff } from "../../app/diff/diff.ts";
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";
import { type Html, html, nothing } from "./html.ts";

/** Lines of a run that are drawn: of more, the first and the last. */
const MOST_LINES = 200;

/** Draws the hunks of a diff of two views. */
export function renderHunks({ hunks }: ViewDiff): Html {
  return hunks.length === 0 ? html`<p class="note">The model sees the same.</p>` : html`${hunks.map(renderHunk)}`;
}

function renderHunk({ turn, title, runs }: DiffHunk): Html {
  return html`<section class="hunk"><h3>${turn}${title === undefined ? "" : `, ${title}`}</h3><pre class="diff">${runs.map(renderRun)}</pre></section>
`;
}

const MARKS = { same: " ", removed: "-", added: "+" } as const;

function renderRun(run: HunkRun): Html {
  return renderLines(run, `${MARKS[run.kind]} `);
}

/** Draws the lines of a run, each behind a mark; of many the first and the last. */
export function renderLines({ kind, lines, words = [] }: HunkRun, mark = ""): Html {
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
