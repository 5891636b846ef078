// Merges a fork: one commit with both as parents, whose tree is the branch's own plus one turn that summarises the fork for the
// model. Turns of two forks are never joined, and nothing else of the fork is taken over.

import type { PlacedEvent } from "../../core/compact/event-ledger.ts";
import {
  findMergedEnd,
  furthestMergedEnd,
  holdsAll,
  type MergedEnd,
  type MergedTurns,
  type MergeRecord,
  mergeTurn,
  readMergeRecord,
} from "../../core/compact/fork-merge.ts";
import type { Summary } from "../../core/conversation/compaction.ts";
import { type Event, type Turn, traitsOf } from "../../core/conversation/event.ts";
import { sharedTurns } from "../../core/conversation/merge-sides.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { cutTurnFile, turnPath } from "../../core/conversation/turn-file.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { forkMergeMessage } from "../../store/messages.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type ForkSummaryJob, forkSummaryWriter, writeForkSummary } from "../compact/fork-summary.ts";
import { commitPlan, type PlannedChange } from "../conversation/append.ts";
import { loadCounted } from "../conversation/counted-view.ts";
import { readCovered } from "../conversation/covers.ts";
import { isTurnOpen } from "../conversation/journal.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { blobId, randomId } from "../conversation/runtime.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../conversation/tree.ts";
import { prepareTurn, readFirstEvent } from "../conversation/turns.ts";
import { loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";

export interface MergeRequest {
  /** The branch that gets the turn. */
  readonly into: BranchTree;
  readonly fork: BranchTree;
  /** The user's own summary; absent = a model's, or an extract. */
  readonly text?: string;
  readonly dryRun: boolean;
  readonly summary: ForkSummaryJob["request"];
}

export interface MergeReport {
  readonly conversation: string;
  readonly branch: string;
  readonly fork: string;
  /** Null in a dry run, and when nothing was new. */
  readonly commit: string | null;
  /** Why nothing was merged; absent otherwise. */
  readonly reason?: string;
  /** Position of the turn that summarises the fork, 0-based; null when nothing was new. */
  readonly turn: number | null;
  /** The fork's turns that it summarises, 0-based, inclusive; null when nothing was new. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** Estimated tokens of the view; `fork` = of the summarised events. `after` is null in a dry run. */
  readonly tokens: { readonly before: number; readonly after: number | null; readonly fork: number };
  /** As it is stored; absent if nothing was. */
  readonly summary?: Summary;
  /** `provider/model`, `extractive`, or null for the user's own. */
  readonly model: string | null;
  readonly dry_run: boolean;
  /** Further lines, made of jpg's own words and names. */
  readonly notes: readonly string[];
}

/**
 * Merges a fork. Throws `merge_itself`, `unrelated_conversation`, `turn_open`, `empty_summary`, `branch_moved`, and the errors of
 * writing the summary; nothing is committed then.
 */
export async function mergeFork(workspace: Workspace, request: MergeRequest): Promise<MergeReport> {
  const { store } = workspace;
  const { into, fork, text } = request;
  await refuseImpossible(workspace, request);
  const news = await findNewTurns(store, into, fork);
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
        "Name another fork, or the branch to merge it into: `jpg merge FORK --into BRANCH`. `jpg ls --branches` lists the forks.",
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
  const isOpen = await isTurnOpen(store.journal(), fork.branch, runtime.now());
  return [
    ...(isOpen ? [`a turn of ${fork.branch} is still in progress: merge again when it has ended`] : []),
    ...(isAhead
      ? [
          `${into.branch} has added no turns since the fork: \`jpg use ${fork.branch}\` continues with the turns themselves`,
        ]
      : []),
  ];
}

/** Characters of an event id, as in every turn that jpg makes. */
const ID_LENGTH = 12;

interface MergeToCommit {
  readonly into: BranchTree;
  readonly fork: BranchTree;
  readonly news: ForkNews;
  readonly summary: Summary;
}

interface CommittedMerge {
  readonly commit: string;
  /** Position of the turn, 0-based. */
  readonly turn: number;
  /** The branch after the merge. */
  readonly tree: BranchTree;
}

/** Commits the merge and updates the worktrees. Throws `branch_moved`, `turn_open`, `branch_busy`. */
async function commitMerge(workspace: Workspace, merge: MergeToCommit): Promise<CommittedMerge> {
  const { into, fork, news } = merge;
  const { appended, value: turn } = await commitPlan(workspace, into, async (current) => {
    await refuseOpenTurn(workspace, current.branch);
    const now = current.commit === into.commit ? news : await findNewTurns(workspace.store, current, fork);
    if (JSON.stringify(now?.forks) !== JSON.stringify(news.forks)) throw mergedMeanwhile(merge);
    return { change: planCommit(workspace, current, merge), value: current.turnOids.length };
  });
  if (appended === null) throw mergedMeanwhile(merge);
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

/** Refuses a branch with a turn in progress, which was begun first. Throws `turn_open`. */
async function refuseOpenTurn({ store, runtime }: Workspace, branch: string): Promise<void> {
  if (!(await isTurnOpen(store.journal(), branch, runtime.now()))) return;
  throw userError("turn_open", `A turn of ${branch} is still in progress: nothing was merged.`, {
    hints: ["Merge again when it has ended."],
  });
}

function mergedMeanwhile({ into, fork }: MergeToCommit): Error {
  return userError(
    "branch_moved",
    `Somebody else merged ${fork.branch} into ${into.branch} in the meantime; nothing was written.`,
    {
      hints: ["Run `jpg merge` again to summarise what is new since then."],
    },
  );
}

// Finds what a merge has to summarise: turns of the fork that the branch neither has nor summarised before. Uses only the two
// trees, so that the result is the same if history is squashed, shallow or was never fetched.

interface ForkNews {
  /** The fork's turns first, then what its own merges summarised of other forks. */
  readonly forks: readonly [MergedTurns, ...MergedTurns[]];
  /** The raw events to summarise, in order; a model was sent at least one of them. */
  readonly events: readonly PlacedEvent[];
  /** The fork's turns with these events, by position. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** Whether the fork has every turn of the branch. */
  readonly isAhead: boolean;
}

/** Finds what is new on a fork; null = nothing. */
async function findNewTurns(store: ConversationStore, ours: BranchTree, fork: BranchTree): Promise<ForkNews | null> {
  const common = sharedTurns(ours.turnOids, fork.turnOids);
  const shared = await sharedEnds(store, { ours, fork, common });
  const start = await startAfter(
    store,
    fork,
    furthestMergedEnd([...shared, ...(await mergedEnds(store, { ours, fork, common }))]),
  );
  const last = fork.turnOids.length - 1;
  if (start.turn > last) return null;
  const positions = Array.from({ length: last - start.turn + 1 }, (_, at) => start.turn + at);
  const turns = await loadTurns(store, fork, positions);
  const toEvent = turns.get(last)?.events.at(-1)?.id;
  if (toEvent === undefined) return null;
  const records = await readMergeTurns(store, ours, turns);
  const bounds = {
    from_turn: start.turn,
    to_turn: last,
    from_event: start.event,
  };
  const covered = await readCovered(store, fork.commit, { compaction: bounds, turns });
  const events = covered.filter(({ turn }) => !records.own.has(turn));
  if (!events.some(({ event }) => traitsOf(event).providerVisible)) return null;
  const told: MergedTurns = {
    branch: fork.branch,
    from_turn: bounds.from_turn,
    from_event: bounds.from_event,
    turns: fork.turnOids.slice(start.turn),
    to_event: toEvent,
  };
  return { forks: [told, ...records.others], events, turns, isAhead: common === ours.turnOids.length };
}

/** Two branches, with the number of turns they have in common. */
interface Pair {
  readonly ours: BranchTree;
  readonly fork: BranchTree;
  readonly common: number;
}

/** Returns the end of the common turns; also a differing turn if one of the two files is the beginning of the other. */
async function sharedEnds(store: ConversationStore, { ours, fork, common }: Pair): Promise<readonly MergedEnd[]> {
  const shared = common === 0 ? [] : [{ turn: common - 1 }];
  const [own, theirs] = [ours.turnOids[common], fork.turnOids[common]];
  if (own === undefined || theirs === undefined) return shared;
  const [ownBytes, theirBytes] = (await collectBlobs(store, [own, theirs])).map((bytes) => Buffer.from(bytes));
  if (ownBytes === undefined || theirBytes === undefined) return shared;
  if (startsWith(ownBytes, theirBytes)) return [{ turn: common }];
  if (!startsWith(theirBytes, ownBytes)) return shared;
  const events = (await loadTurns(store, ours, [common])).get(common)?.events ?? [];
  return [...shared, { turn: common, event: events.at(-1)?.id ?? "" }];
}

function startsWith(whole: Buffer, start: Buffer): boolean {
  return whole.subarray(0, start.length).equals(start);
}

/** Returns how far the branch's earlier merges summarise the fork. */
async function mergedEnds(
  store: ConversationStore,
  { ours, fork, common }: Pair,
): Promise<readonly (MergedEnd | null)[]> {
  const told: MergedTurns[] = [];
  for (let turn = common; turn < ours.turnOids.length; turn++) {
    const [first] = await readFirstEvent(store, ours.turnOids[turn] ?? "", turn);
    appendAll(told, readMergeRecord(first)?.forks ?? []);
  }
  return Promise.all(told.map((one) => endHeldBy(store, fork, one)));
}

/** Returns how far a branch holds the turns that a merge summarised. */
async function endHeldBy(
  store: ConversationStore,
  { turnOids }: BranchTree,
  told: MergedTurns,
): Promise<MergedEnd | null> {
  const last = told.from_turn + told.turns.length - 1;
  const oid = turnOids[last];
  const differs = oid !== undefined && oid !== told.turns.at(-1);
  const beginning = differs ? await beginningOf(store, oid, told.to_event) : null;
  return findMergedEnd(told, turnOids, () => beginning === told.turns.at(-1));
}

/** Returns the object id of a turn file cut after an event; null if it lacks the event. */
async function beginningOf(store: ConversationStore, oid: string, toEvent: string): Promise<string | null> {
  const [bytes] = await collectBlobs(store, [oid]);
  const text = cutTurnFile(new TextDecoder().decode(bytes), toEvent);
  return text === null ? null : blobId(new TextEncoder().encode(text));
}

/** Returns the place after an end; `turn` may be one past the last. */
async function startAfter(store: ConversationStore, fork: BranchTree, told: MergedEnd | null): Promise<MergedEnd> {
  if (told?.event === undefined) return { turn: told === null ? 0 : told.turn + 1 };
  const events = (await loadTurns(store, fork, [told.turn])).get(told.turn)?.events ?? [];
  const next: Event | undefined = events[events.findIndex(({ id }) => id === told.event) + 1];
  return next === undefined ? { turn: told.turn + 1 } : { turn: told.turn, event: next.id };
}

/** Finds the fork's merge turns: `own` summarise only turns of the branch itself; `others` = what the rest summarises. */
async function readMergeTurns(
  store: ConversationStore,
  ours: BranchTree,
  turns: ReadonlyMap<number, Turn>,
): Promise<{ readonly own: ReadonlySet<number>; readonly others: readonly MergedTurns[] }> {
  const own = new Set<number>();
  const others: MergedTurns[] = [];
  for (const [position, { events }] of turns) {
    const record: MergeRecord | null = readMergeRecord(events[0]);
    if (record === null) continue;
    const unknown: MergedTurns[] = [];
    for (const told of record.forks) if (!holdsAll(told, await endHeldBy(store, ours, told))) unknown.push(told);
    // A merge turn that was continued has content of its own.
    if (unknown.length === 0 && events.length === MERGE_EVENTS) own.add(position);
    appendAll(others, unknown);
  }
  return { own, others };
}

/** turn_start, request, response. */
const MERGE_EVENTS = 3;
