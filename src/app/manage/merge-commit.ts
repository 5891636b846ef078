// Commits the turn that tells of a fork, by compare-and-swap: what others added to the branch meanwhile is built upon, but no turn
// goes in before one that is being talked, and nothing is told twice.

import { mergeTurn } from "../../core/compact/fork-merge.ts";
import type { Summary } from "../../core/conversation/compaction.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import { userError } from "../../core/errors.ts";
import { forkMergeMessage } from "../../store/messages.ts";
import { commitPlan, type PlannedChange } from "../branch/append-record.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { prepareTurn } from "../branch/prepared-turn.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { isBeingTalked } from "../journal/journal-files.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ForkNews, findNews } from "./merge-plan.ts";

/** Characters of an event's id, as of every turn that jpg makes. */
const ID_LENGTH = 12;

/** What is to be committed. */
export interface MergeToCommit {
  readonly into: BranchTree;
  readonly fork: BranchTree;
  readonly news: ForkNews;
  readonly summary: Summary;
}

/** A merge that was committed. */
export interface CommittedMerge {
  readonly commit: string;
  /** Position of the turn, 0-based. */
  readonly turn: number;
  /** The branch as it is now. */
  readonly tree: BranchTree;
}

/** Commits, and brings the worktrees along. Throws `branch_moved`, `turn_open`, `branch_busy`. */
export async function commitMerge(workspace: Workspace, merge: MergeToCommit): Promise<CommittedMerge> {
  const { into, fork, news } = merge;
  const { appended, value: turn } = await commitPlan(workspace, into, async (current) => {
    await refuseOpenTurn(workspace, current.branch);
    const now = current.commit === into.commit ? news : await findNews(workspace.store, current, fork);
    if (JSON.stringify(now?.forks) !== JSON.stringify(news.forks)) throw toldMeanwhile(merge);
    return { change: planCommit(workspace, current, merge), value: current.turnOids.length };
  });
  if (appended === null) throw toldMeanwhile(merge);
  await refreshViews(workspace, into.branch, appended.parent);
  const tree = await loadBranchTree(workspace.store, into.branch, appended.commit);
  return { commit: appended.commit, turn, tree };
}

function planCommit(
  { runtime }: Workspace,
  current: BranchTree,
  { fork, news, summary }: MergeToCommit,
): PlannedChange {
  const { summary: text, inject: _, ...how } = summary;
  const events = mergeTurn(
    { forks: news.forks, summary: how },
    { text, timestamp: runtime.now().toISOString(), newId: () => randomId(runtime, ID_LENGTH) },
  );
  const turn = current.turnOids.length;
  const prepared = prepareTurn(events, current.turnOids.at(-1));
  return {
    message: forkMergeMessage({ told: news.forks[0], branch: current.branch, turn, summary }),
    changes: [{ path: turnPath(turn), bytes: prepared.bytes }, ...prepared.attachments],
    merges: [fork.commit],
    sign: false,
  };
}

/** Refuses a branch on which a turn is being talked: that one was begun first. Throws `turn_open`. */
export async function refuseOpenTurn({ store, runtime }: Workspace, branch: string): Promise<void> {
  if (!(await isBeingTalked(store.journal(), branch, runtime.now()))) return;
  throw userError("turn_open", `A turn of ${branch} is still in progress: nothing was merged.`, {
    hints: ["Merge again when it has ended."],
  });
}

function toldMeanwhile({ into, fork }: MergeToCommit): Error {
  return userError(
    "branch_moved",
    `Somebody else merged ${fork.branch} into ${into.branch} in the meantime; nothing was written.`,
    {
      hints: ["Run `jpg merge` again to summarise what is new since then."],
    },
  );
}
