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
${diff.hunks.length === 0 ? html`<p class="note">A model sees the same on both.</p>` : html`<h2>Where they differ</h2>\n${diff.hunks.map(renderHunk)}`}</main>
`;
  return renderDocument(`${left.branch} and ${right.branch}`, place, body);
}

function renderBranch({ branch, title, turns, compactions }: ComparedFork): Html {
  return html`<a href="${branchAddress(branch)}">${branch}</a><br><span class="facts">${title} · ${turns} ${turns === 1 ? "turn" : "turns"} · ${compactions} ${compactions === 1 ? "compaction" : "compactions"}</span>`;
}

/** Draws the hunks of a diff of two views below a heading of the page: before on the left, after on the right. */
export function renderHunks({ hunks }: ViewDiff): Html {
  return hunks.length === 0 ? html`<p class="note">The model sees the same.</p>` : html`${hunks.map(renderHunk)}`;
}

function renderHunk({ turn, event, title, runs }: DiffHunk): Html {
  // Where a hunk begins within an event, its heading is above what is shown.
  const titles = new Map(event === undefined || title === undefined ? [] : [[event, title]]);
  for (const run of runs)
    if (run.heading === true && run.event !== undefined) titles.set(run.event, run.lines[0] ?? "");
  const look = (run: HunkRun): string => lookOf(run, titles);
  const drawn = pairRuns(runs).map((pair) =>
    "kind" in pair
      ? html`<div class="both ${look(pair)}">${renderLines(pair)}</div>\n`
      : html`<div class="two">${renderSide(pair.removed, look)}${renderSide(pair.added, look)}</div>\n`,
  );
  return html`<section class="hunk"><h3>${turn}${title === undefined ? "" : `, ${title}`}</h3>
${drawn}</section>
`;
}

/** Runs that stand beside each other: what was removed, and what was added in its place. */
interface RunPair {
  readonly removed: HunkRun[];
  readonly added: HunkRun[];
}

/** What is the same on both sides stands alone; of the rest, what was removed stands beside what was added next. */
function pairRuns(runs: readonly HunkRun[]): readonly (HunkRun | RunPair)[] {
  const pairs: (HunkRun | RunPair)[] = [];
  for (const run of runs) {
    // The turn is named above already.
    if (run.kind === "same" && run.heading === true && run.event === undefined) continue;
    const last = pairs.at(-1);
    if (run.kind === "same") pairs.push(run);
    else if (last === undefined || "kind" in last || (run.kind === "removed" && last.added.length > 0))
      pairs.push(run.kind === "removed" ? { removed: [run], added: [] } : { removed: [], added: [run] });
    else last[run.kind].push(run);
  }
  return pairs;
}

/** The class of a run: who speaks, what was said, or what tools were given and gave, which keeps its columns. */
function lookOf({ heading, event }: HunkRun, titles: ReadonlyMap<string, string>): string {
  if (heading === true) return "speaker";
  return titles.get(event ?? "")?.startsWith("tool ") === true ? "tool" : "said";
}

function renderSide(runs: readonly HunkRun[], look: (run: HunkRun) => string): Html {
  const drawn = runs.map((run) => {
    const tag = run.kind === "removed" ? html`<del>${renderLines(run)}</del>` : html`<ins>${renderLines(run)}</ins>`;
    return html`<div class="side ${run.kind} ${look(run)}">${tag}</div>`;
  });
  return html`<div>${drawn}</div>`;
}

/** Lines of a run that are drawn: of more, the first and the last. */
const MOST_LINES = 200;

/** Draws the lines of a run; of many the first and the last. */
function renderLines({ lines, words = [] }: HunkRun): Html {
  const hidden = lines.length - MOST_LINES;
  const drawn = lines.map((line, at) => {
    if (hidden > 0 && at === MOST_LINES / 2) return html`<span class="note">${hidden} lines are left out here\n</span>`;
    if (hidden > 0 && at > MOST_LINES / 2 && at < lines.length - MOST_LINES / 2) return nothing;
    return html`${markWords(line, words[at] ?? [])}\n`;
  });
  return html`${drawn}`;
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
