// Merges a fork: one commit with both as parents, whose tree is the branch's own and one turn more, which tells the model what was
// said and done on the fork. Turns of two forks are never put together, and nothing else of the fork comes along.
import type { Summary } from "../../core/conversation/compaction.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { isBeingTalked } from "../journal/journal-files.ts";
import { type ForkSummaryJob, forkSummaryWriter, writeForkSummary } from "../summary/fork-summary.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { commitMerge, refuseOpenTurn } from "./merge-commit.ts";
import { type ForkNews, findNews } from "./merge-plan.ts";

/** What is to be merged, and who says what of it. */
export interface MergeRequest {
  /** The branch that gets the turn. */
  readonly into: BranchTree;
  readonly fork: BranchTree;
  /** A person's own text; absent = a model's, or an extract. */
  readonly text?: string;
  readonly dryRun: boolean;
  readonly summary: ForkSummaryJob["request"];
}

/** What a merge did, or would do. */
export interface MergeReport {
  readonly conversation: string;
  readonly branch: string;
  readonly fork: string;
  /** Null for a dry run, and when nothing was new. */
  readonly commit: string | null;
  /** Why nothing was merged; absent when something was or would be. */
  readonly reason?: string;
  /** Position of the turn that tells of the fork, 0-based; null when nothing was new. */
  readonly turn: number | null;
  /** The fork's turns that it tells of, 0-based, inclusive; null when nothing was new. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** Tokens of the view, estimated; `fork` = of the events that were told of. A dry run knows no `after`. */
  readonly tokens: { readonly before: number; readonly after: number | null; readonly fork: number };
  /** As it is stored; absent when nothing was. */
  readonly summary?: Summary;
  /** `provider/model`, `extractive`, or null for a person's own. */
  readonly model: string | null;
  readonly dry_run: boolean;
  /** What else is to be said; lines of jpg's own and of names. */
  readonly notes: readonly string[];
}

/**
 * Merges. Throws `merge_itself`, `unrelated_conversation`, `turn_open`, `empty_summary`, `branch_moved`, and what having the summary
 * written throws; nothing is committed then.
 */
export async function mergeFork(workspace: Workspace, request: MergeRequest): Promise<MergeReport> {
  const { store } = workspace;
  const { into, fork, text } = request;
  await refuseImpossible(workspace, request);
  const news = await findNews(store, into, fork);
  const { view, live, meter } = await loadCounted(store, into);
  const before = meter.countView(view, live.applied).tokens;
  const about = {
    conversation: conversationOf(into.branch),
    branch: into.branch,
    fork: fork.branch,
    dry_run: request.dryRun,
  };
  if (news === null) {
    const reason = `${into.branch} already has every turn of ${fork.branch}, or a summary of it.`;
    const nothing = { commit: null, turn: null, from_turn: null, to_turn: null, model: null, notes: [] };
    return { ...about, ...nothing, reason, tokens: { before, after: before, fork: 0 } };
  }
  const job: ForkSummaryJob = { ours: into, events: news.events, turns: news.turns, request: request.summary };
  const writer = text === undefined ? await forkSummaryWriter(workspace, job) : { model: null, notes: [] };
  const [told] = news.forks;
  const planned = {
    ...about,
    turn: into.turnOids.length,
    from_turn: told.from_turn,
    to_turn: told.from_turn + told.turns.length - 1,
    model: writer.model,
    notes: [...writer.notes, ...(await notesOn(workspace, request, news))],
  };
  const size = meter.countEvents(news.events.map(({ event }) => event));
  if (request.dryRun) return { ...planned, commit: null, tokens: { before, after: null, fork: size } };
  const summary: Summary =
    writer.model === null
      ? { summary: text ?? "", source: "authored" }
      : await writeForkSummary(workspace, job, { model: writer.model, meter });
  const merged = await commitMerge(workspace, { into, fork, news, summary });
  const loaded = await loadCounted(store, merged.tree);
  const after = loaded.meter.countView(loaded.view, loaded.live.applied).tokens;
  return { ...planned, turn: merged.turn, commit: merged.commit, tokens: { before, after, fork: size }, summary };
}

async function refuseImpossible(workspace: Workspace, { into, fork, text }: MergeRequest): Promise<void> {
  if (into.branch === fork.branch)
    throw userError("merge_itself", `${fork.branch} cannot be merged into itself.`, {
      hints: [
        "Name another fork, or the branch to merge it into: `jpg merge FORK --into BRANCH`. `jpg ls --all` lists the forks.",
      ],
    });
  if (into.header.id !== fork.header.id)
    throw userError(
      "unrelated_conversation",
      `${fork.branch} is not a fork of the same conversation as ${into.branch}.`,
      {
        hints: [
          "Only forks of one conversation can be merged; `jpg show` lists them.",
          `\`jpg print ${fork.branch}\` prints the other conversation, so that you can quote it in a request.`,
        ],
      },
    );
  if (text?.trim() === "")
    throw userError("empty_summary", "The summary is empty, so the model would learn nothing about the fork.", {
      hints: ["Leave --summary out to have one written, or give it a text."],
    });
  await refuseOpenTurn(workspace, into.branch);
}

async function notesOn(
  { store, runtime }: Workspace,
  { into, fork }: MergeRequest,
  { isAhead }: ForkNews,
): Promise<readonly string[]> {
  const isOpen = await isBeingTalked(store.journal(), fork.branch, runtime.now());
  return [
    ...(isOpen ? [`a turn of ${fork.branch} is still in progress: merge again when it has ended`] : []),
    ...(isAhead
      ? [`${into.branch} has no turns of its own: \`jpg use ${fork.branch}\` continues with the turns themselves`]
      : []),
  ];
}
