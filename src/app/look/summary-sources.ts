// Where a summary's facts come from: each path, SHA, number, issue, URL and quotation, with the first raw events that state it, or
// none. Uses the same facts and events as the grounding check.

import { type PlacedEvent, withoutLedger } from "../../core/compact/event-ledger.ts";
import { type SourcedFact, sourceFacts } from "../../core/compact/grounding.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { userError } from "../../core/errors.ts";
import { readCovered } from "../conversation/covers.ts";
import { loadBranchTree } from "../conversation/tree.ts";
import { loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { describeSpeaker } from "./search.ts";
import { show } from "./show.ts";

/** An event that states a fact. */
export interface FactPlace {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly event: string;
  /** `user`, `assistant`, `tool result NAME` … */
  readonly who: string;
}

/** A summary's fact, and the first events that state it; may be none. */
export interface FactSource extends Omit<SourcedFact, "places"> {
  readonly places: readonly FactPlace[];
}

export interface SummarySources {
  readonly compaction: string;
  /** Turn positions, 0-based, inclusive. */
  readonly from_turn: number;
  readonly to_turn: number;
  /** By kind, including those that no event states. */
  readonly facts: readonly FactSource[];
}

export interface SourcesReport {
  readonly conversation: string;
  readonly branch: string;
  /** One for each summary of the group. */
  readonly summaries: readonly SummarySources[];
}

/** Lists the facts of a summary with the events that state them. Throws `not_a_summary`, `unknown_id`, `attachment_missing`. */
export async function readSummarySources(workspace: Workspace, id?: string): Promise<SourcesReport> {
  const shown = await show(workspace, id);
  const records = shown.kind === "compaction" ? (shown.compactions ?? [shown.event]) : [];
  const summaries = records.filter(({ summary }) => summary !== undefined);
  if (shown.kind !== "compaction" || summaries.length === 0) {
    throw userError("not_a_summary", `${id ?? "@"} is not a summary, so it has no sources.`, {
      hints: ["`jpg log` lists compactions; those with a summary say so.", "jpg show SUMMARY --sources"],
    });
  }
  const read: SummarySources[] = [];
  for (const record of summaries) read.push((await readSourcesOf(workspace, shown, record)).sources);
  return { conversation: shown.conversation, branch: shown.branch, summaries: read };
}

/** Reads the sources of one summary in a commit, and the events that it covers. Throws `attachment_missing`. */
export async function readSourcesOf(
  { store }: Workspace,
  { branch, commit }: { readonly branch: string; readonly commit: string },
  record: Compaction,
): Promise<{ readonly sources: SummarySources; readonly covered: readonly PlacedEvent[] }> {
  const tree = await loadBranchTree(store, branch, commit);
  const { id, from_turn, to_turn, summary } = record;
  const turns = await loadTurns(
    store,
    tree,
    tree.turnOids.map((_, turn) => turn).filter((turn) => turn >= from_turn && turn <= to_turn),
  );
  const covered = await readCovered(store, tree.commit, { compaction: record, turns });
  const toolNames = new Map<string, string>();
  const places = covered.map(({ turn, event }): FactPlace => {
    if (event.type === "tool_call_request") toolNames.set(event.call_id, event.name);
    return { turn, event: event.id, who: describeSpeaker(event, toolNames) };
  });
  const facts = sourceFacts(
    withoutLedger(summary?.summary ?? ""),
    covered.map(({ event }) => event),
  );
  const sources = {
    compaction: id,
    from_turn,
    to_turn,
    facts: facts.map((fact) => ({ ...fact, places: fact.places.flatMap((at) => places[at] ?? []) })),
  };
  return { sources, covered };
}
