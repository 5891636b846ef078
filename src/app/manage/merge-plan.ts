// What a merge of a fork would tell of: the turns that the fork has and the branch neither holds itself nor was told of before. All
// is told from the two trees, so that it is the same where history is squashed, cut off, or was never fetched.

import {
  furthest,
  heldOf,
  holdsAll,
  type MergeRecord,
  readMergeRecord,
  type Told,
  type ToldTurns,
} from "../../core/compact/fork-merge.ts";
import type { PlacedEvent } from "../../core/compact/transcript.ts";
import { type Event, type Turn, traitsOf } from "../../core/conversation/event.ts";
import { sharedTurns } from "../../core/conversation/merge-sides.ts";
import { cutTurnFile } from "../../core/conversation/turn-file.ts";
import { defined } from "../../core/json.ts";
import { appendAll } from "../../core/lists.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "../branch/branch-tree.ts";
import { readCovered } from "../branch/covered-events.ts";
import { loadTurns } from "../branch/load-view.ts";
import { readFirstEvent } from "../branch/turn-bytes.ts";
import { blobId } from "../workspace/object-id.ts";

/** What is new on a fork. */
export interface ForkNews {
  /** The fork's turns first, then what its own turns told of other forks. */
  readonly forks: readonly [ToldTurns, ...ToldTurns[]];
  /** The raw events to be told of, in order: at least one of them a model was sent. */
  readonly events: readonly PlacedEvent[];
  /** The fork's turns that they stand in, by position. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** Whether the branch has no turn that the fork has not. */
  readonly isAhead: boolean;
}

/** Finds what is new on a fork; null when nothing is. */
export async function findNews(store: ConversationStore, ours: BranchTree, fork: BranchTree): Promise<ForkNews | null> {
  const common = sharedTurns(ours.turnOids, fork.turnOids);
  const held = await heldHere(store, { ours, fork, common });
  const start = await startBehind(store, fork, furthest([...held, ...(await toldOf(store, { ours, fork, common }))]));
  const last = fork.turnOids.length - 1;
  if (start.turn > last) return null;
  const positions = Array.from({ length: last - start.turn + 1 }, (_, at) => start.turn + at);
  const turns = await loadTurns(store, fork, positions);
  const toEvent = turns.get(last)?.events.at(-1)?.id;
  if (toEvent === undefined) return null;
  const records = await tellersOf(store, ours, turns);
  const bounds = {
    from_turn: start.turn,
    to_turn: last,
    ...defined({ from_event: start.event }),
  };
  const covered = await readCovered(store, fork.commit, { compaction: bounds, turns });
  const events = covered.filter(({ turn }) => !records.own.has(turn));
  if (!events.some(({ event }) => traitsOf(event).providerVisible)) return null;
  const told: ToldTurns = {
    branch: fork.branch,
    from_turn: bounds.from_turn,
    ...defined({ from_event: bounds.from_event }),
    turns: fork.turnOids.slice(start.turn),
    to_event: toEvent,
  };
  return { forks: [told, ...records.others], events, turns, isAhead: common === ours.turnOids.length };
}

/** Two branches, and how many turns they have in common. */
interface Pair {
  readonly ours: BranchTree;
  readonly fork: BranchTree;
  readonly common: number;
}

/** The common turns, and the first that differs where one of the two files is the beginning of the other. */
async function heldHere(store: ConversationStore, { ours, fork, common }: Pair): Promise<readonly Told[]> {
  const shared = common === 0 ? [] : [{ turn: common - 1 }];
  const [own, theirs] = [ours.turnOids[common], fork.turnOids[common]];
  if (own === undefined || theirs === undefined) return shared;
  const [ownBytes, theirBytes] = (await collectBlobs(store, [own, theirs])).map((bytes) => Buffer.from(bytes));
  if (ownBytes === undefined || theirBytes === undefined) return shared;
  if (begins(ownBytes, theirBytes)) return [{ turn: common }];
  if (!begins(theirBytes, ownBytes)) return shared;
  const events = (await loadTurns(store, ours, [common])).get(common)?.events ?? [];
  return [...shared, { turn: common, event: events.at(-1)?.id ?? "" }];
}

function begins(whole: Buffer, start: Buffer): boolean {
  return whole.subarray(0, start.length).equals(start);
}

/** How far our own turns tell of the fork's. */
async function toldOf(store: ConversationStore, { ours, fork, common }: Pair): Promise<readonly (Told | null)[]> {
  const told: ToldTurns[] = [];
  for (let turn = common; turn < ours.turnOids.length; turn++) {
    const [first] = await readFirstEvent(store, ours.turnOids[turn] ?? "", turn);
    appendAll(told, readMergeRecord(first)?.forks ?? []);
  }
  return Promise.all(told.map((one) => heldBy(store, fork, one)));
}

/** How far a branch holds told turns. */
async function heldBy(store: ConversationStore, { turnOids }: BranchTree, told: ToldTurns): Promise<Told | null> {
  const last = told.from_turn + told.turns.length - 1;
  const oid = turnOids[last];
  const differs = oid !== undefined && oid !== told.turns.at(-1);
  const beginning = differs ? await beginningOf(store, oid, told.to_event) : null;
  return heldOf(told, turnOids, () => beginning === told.turns.at(-1));
}

/** The object id of a turn file's bytes up to the line of an event; null where it has none. */
async function beginningOf(store: ConversationStore, oid: string, toEvent: string): Promise<string | null> {
  const [bytes] = await collectBlobs(store, [oid]);
  const text = cutTurnFile(new TextDecoder().decode(bytes), toEvent);
  return text === null ? null : blobId(new TextEncoder().encode(text));
}

/** Where begins what is behind that; `turn` may be one past the last. */
async function startBehind(store: ConversationStore, fork: BranchTree, told: Told | null): Promise<Told> {
  if (told?.event === undefined) return { turn: told === null ? 0 : told.turn + 1 };
  const events = (await loadTurns(store, fork, [told.turn])).get(told.turn)?.events ?? [];
  const next: Event | undefined = events[events.findIndex(({ id }) => id === told.event) + 1];
  return next === undefined ? { turn: told.turn + 1 } : { turn: told.turn, event: next.id };
}

/** The fork's turns that tell of our own turns and of nothing else; and what the others tell of. */
async function tellersOf(
  store: ConversationStore,
  ours: BranchTree,
  turns: ReadonlyMap<number, Turn>,
): Promise<{ readonly own: ReadonlySet<number>; readonly others: readonly ToldTurns[] }> {
  const own = new Set<number>();
  const others: ToldTurns[] = [];
  for (const [position, { events }] of turns) {
    const record: MergeRecord | null = readMergeRecord(events[0]);
    if (record === null) continue;
    const unknown: ToldTurns[] = [];
    for (const told of record.forks) if (!holdsAll(told, await heldBy(store, ours, told))) unknown.push(told);
    // A turn that went on behind what was merged has something of its own.
    if (unknown.length === 0 && events.length === MERGE_EVENTS) own.add(position);
    appendAll(others, unknown);
  }
  return { own, others };
}

/** turn_start, request, response. */
const MERGE_EVENTS = 3;
