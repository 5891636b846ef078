// Makes a planned compaction whole: id, time, digest and token counts, the loss receipt, and what its summary says that the events
// do not bear out.

import { checkGrounding, type Ungrounded } from "../../core/compact/grounding.ts";
import type { CompactionDraft } from "../../core/compact/plan.ts";
import { withoutLedger } from "../../core/compact/transcript.ts";
import type { Compaction, Injection } from "../../core/conversation/compaction.ts";
import { isMessage } from "../../core/conversation/event.ts";
import { withKeptTurnsOf } from "../../core/conversation/group.ts";
import { userError } from "../../core/errors.ts";
import { timestampAfter } from "../branch/append-record.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { readCovered } from "../branch/covered-events.ts";
import { coversDigest } from "../branch/covers.ts";
import type { PlannedCompaction } from "../plan/compact-plan.ts";
import { eventsRemoved } from "../plan/events-removed.ts";
import { lossOf } from "../plan/loss.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Gives a draft its id, time, digest and token counts. Throws `range_changed` when it must cover what it no longer does. */
export async function complete(
  workspace: Workspace,
  tree: BranchTree,
  planned: PlannedCompaction,
  expected?: string,
): Promise<Compaction> {
  const draft = planned.plan.compaction;
  const covers = await coversDigest(draft, coverFacts(workspace.store, tree));
  if (expected !== undefined && covers !== expected) {
    throw userError(
      "range_changed",
      `The summary was not written for turns ${draft.from_turn}..${draft.to_turn} of ${tree.branch} as they are now.`,
      {
        hints: [
          "`jpg compact --emit FILE` writes a new bundle; have the summary written again from that.",
          "Nothing was committed.",
        ],
      },
    );
  }
  const { before, after } = planned.tokens;
  const inject = planned.config.conversation.compaction.inject ?? usualInjection(draft);
  const summary = draft.summary === undefined || inject === "pair" ? {} : { summary: { inject, ...draft.summary } };
  return withKeptTurnsOf(draft, {
    ...draft,
    ...summary,
    id: randomId(workspace.runtime),
    timestamp: timestampAfter(
      workspace.runtime.now(),
      planned.live.all.map((compaction) => compaction.timestamp),
    ),
    ...(covers === null ? {} : { covers }),
    stats: {
      ...draft.stats,
      keep_recent: countsBehind(planned.turns)(draft),
      kept_turns: tree.turnOids.length - 1 - draft.to_turn,
      ...(before === 0 ? {} : { compression_ratio: Math.round((1 - after / before) * 1000) / 1000 }),
      tokens: { before, after },
      ...(planned.plan.summarize === undefined ? { events_removed: Math.max(0, eventsRemoved(planned)) } : {}),
    },
  });
}

/** One System message where jpg or a model decided (Compaction v2), a request and its answer where the user did (RFD 064). */
function usualInjection({ source }: CompactionDraft): Injection {
  return source === "auto" || source === "agent" ? "system" : "pair";
}

/**
 * Gives a function that counts the messages behind a range, those of its last turn behind its end too. Turns that a summary hides
 * have none to show.
 */
export function countsBehind(turns: PlannedCompaction["turns"]): (range: CompactionDraft) => number {
  const positions = [...turns.keys()].sort((a, b) => a - b);
  const behind = new Map<number, number>();
  let messages = 0;
  for (const position of positions.toReversed()) {
    behind.set(position, messages);
    messages += turns.get(position)?.events.filter(isMessage).length ?? 0;
  }
  return ({ to_turn, to_event }) => {
    const events = turns.get(to_turn)?.events ?? [];
    const own = to_event === undefined ? [] : events.slice(events.findIndex(({ id }) => id === to_event) + 1);
    return (behind.get(to_turn) ?? 0) + own.filter(isMessage).length;
  };
}

/** Adds the loss receipt; a summary that is not written yet has none. */
export function withReceipt(
  compaction: Compaction,
  { plan, turns, before, after, pinned }: PlannedCompaction,
): Compaction {
  if (plan.summarize !== undefined) return compaction;
  const receipt = lossOf(compaction, { turns, before, after, pins: pinned });
  return withKeptTurnsOf(compaction, { ...compaction, receipt });
}

/** What a summary is checked against. */
interface SummaryCheck {
  readonly compaction: Compaction;
  /** The turns that it covers, at least. */
  readonly turns: PlannedCompaction["turns"];
  /** Refuse what is not borne out. */
  readonly strict: boolean;
}

/**
 * Lists what a summary says and its events do not bear out; payloads that stand outside their events are read for it from the
 * tree of `commit`. Throws `ungrounded` when asked to be strict, and `attachment_missing`.
 */
export async function checkSummary(
  { store }: Pick<Workspace, "store">,
  { commit }: Pick<BranchTree, "commit">,
  { compaction, turns, strict }: SummaryCheck,
): Promise<readonly Ungrounded[]> {
  if (compaction.summary === undefined) return [];
  const raw = (await readCovered(store, commit, { compaction, turns })).map(({ event }) => event);
  const found = checkGrounding(withoutLedger(compaction.summary.summary), raw);
  if (found.length === 0 || !strict) return found;
  const named = found.slice(0, MOST_NAMED).map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  throw userError(
    "ungrounded",
    `The summary says ${found.length} things that turns ${compaction.from_turn}..${compaction.to_turn} do not say: ${named.join(", ")}${found.length > MOST_NAMED ? ", …" : ""}.`,
    {
      hints: ["Correct the summary, or leave out --strict to store it as it is.", "Nothing was committed."],
      data: { ungrounded: found },
    },
  );
}

/** Findings named in an error before the rest is only counted. */
const MOST_NAMED = 5;
