// A summary beside its sources: its text with each fact marked, and each fact with the events that said it first. What nobody said
// stands out in both.
import type { SummaryBesideSources } from "../../app/look/compaction-page.ts";
import { eventAddress } from "./addresses.ts";
import { type Html, html, nothing } from "./html.ts";
import { factAnchor } from "./names.ts";

type Fact = SummaryBesideSources["facts"][number];

/** Times that one fact is marked in a text. */
const MOST_MARKS = 50;

/** Draws it. */
export function renderSummary({ compaction, text, facts }: SummaryBesideSources, branch: string): Html {
  const unsaid = facts.filter(({ places }) => places.length === 0).length;
  const verdict =
    facts.length === 0
      ? "It has no facts to look up."
      : unsaid === 0
        ? `All of its ${facts.length} facts were said.`
        : `${unsaid} of its ${facts.length} facts were never said.`;
  return html`<p class="facts">${verdict}</p>
<div class="beside"><div class="summary-text">${markFacts(text, facts, compaction)}</div>
<ol class="sources">${facts.map((fact, at) => renderFact(fact, factAnchor(compaction, at), branch))}</ol></div>
`;
}

function renderFact({ kind, text, places }: Fact, anchor: string, branch: string): Html {
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

/** The text as it is, each fact that stands in it as a link to its sources. */
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
