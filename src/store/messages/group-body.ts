// The body of a commit with several compactions, or with one and pins: what a reviewer on any git host needs to approve it as the
// one change that it is. Bounded, as that of one compaction.

import { formatLoss } from "../../core/compact/hidden-content.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { CompactionGroup } from "../../core/conversation/group.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import {
  BODY_BYTES,
  type CompactionEffect,
  changesSection,
  hiddenSection,
  lined,
  renderSection,
  roomOf,
  type Section,
  section,
  shownOf,
  summarySections,
  summaryText,
} from "./compaction-body.ts";

/** Summaries whose text is given; of further ones the list names the range. */
const MOST_SUMMARIES = 5;
/** Bytes of the words above a text, and of its fence. */
const HEADING_BYTES = 300;

/** What is known of a group beside its records. */
export interface GroupEffect extends CompactionEffect {
  /** What is pinned and not any more, as one writes it: `3`, `3:EVENT`. */
  readonly pinned: readonly string[];
  readonly unpinned: readonly string[];
}

/** Renders what the records of a group do, in at most `bytes`. */
export function groupBody(
  group: CompactionGroup,
  { hidden, givenBack, changes, pinned, unpinned }: GroupEffect,
  bytes: number = BODY_BYTES,
): string {
  const { receipt } = group.find((compaction) => compaction.receipt !== undefined) ?? {};
  const before: readonly Section[] = [
    {
      words: `Details, ${group.length === 1 ? "1 compaction" : `${group.length} compactions`}:`,
      lines: lined(shownOf(group.map(line))),
    },
    ...section("Pinned:", shownOf(pinned)),
    ...section("Not pinned any more:", shownOf(unpinned)),
    ...(changes === undefined || changes.count === 0 ? [] : [changesSection(changes)]),
  ];
  const summarised = group.filter(({ summary }) => summary !== undefined).slice(0, MOST_SUMMARIES);
  const after: readonly Section[] = [
    ...summarised.flatMap(({ summary }) => (summary === undefined ? [] : summarySections(summary))),
    ...(givenBack === null || givenBack === undefined ? [] : [{ words: `Gives back: ${givenBack}`, lines: [] }]),
    ...(receipt === undefined ? [] : section("Loss receipt:", formatLoss(receipt))),
    ...(hidden === null ? [] : [hiddenSection(hidden)]),
  ];
  const room = Math.floor((bytes - roomOf(before, after)) / Math.max(1, summarised.length)) - HEADING_BYTES;
  const texts = summarised.map((compaction) => {
    const text = summaryText(compaction, room);
    return { ...text, words: `Turns ${turnsOf(compaction)}. ${text.words}` };
  });
  return [...before, ...texts, ...after].map(renderSection).join("\n\n");
}

function line(compaction: Compaction): string {
  return `${turnsOf(compaction)}: ${describePolicies(compaction)}`;
}

function turnsOf({ from_turn, to_turn }: Compaction): string {
  return from_turn === to_turn ? String(from_turn) : `${from_turn}..${to_turn}`;
}
