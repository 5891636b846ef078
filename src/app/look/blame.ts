// Shows which compaction decides over an event, since when and by whom, and what the model sees instead: `git blame` for the view.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Disposition } from "../../core/conversation/contents/content-type.ts";
import { type Event, isReasoning, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import { type CompactionGroup, groupOf, isSameGroup } from "../../core/conversation/group.ts";
import { project } from "../../core/conversation/projection.ts";
import { parseTurnBound } from "../../core/conversation/range-bound.ts";
import { findEvent } from "../../core/conversation/range-location.ts";
import { resolveDispositions } from "../../core/conversation/winner.ts";
import { userError } from "../../core/errors.ts";
import { type EventState, stateOf } from "../../core/look/both-views.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import type { LogEntry } from "../../store/store.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { loadCountedMinimal } from "../conversation/counted-view.ts";
import { findSquashed, readRecordLog } from "../conversation/log.ts";
import { turnOf, unknownTurn } from "../conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { type LoadedTurns, loadCompactions, loadShown, loadViewWithTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { eventLines } from "../diff/view-text.ts";
import { resolveId, resolveTree } from "../names/resolve-id.ts";
import { recordSubject } from "./log.ts";

/** The compaction that decides over an event, from history. */
export interface BlameSource {
  readonly compaction: string;
  /** The newest commit that added it. */
  readonly commit: string;
  readonly author: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  /** What the commit did, by the record. */
  readonly subject: string;
}

/** An event, and what decides how it is read. */
export interface BlameRow {
  readonly event: string;
  readonly type: Event["type"];
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly state: EventState;
  /** What was done to it; absent when nothing was. `keep` = shown because a compaction keeps it. */
  readonly action?: string;
  /** Absent when no compaction decides over it. */
  readonly by?: BlameSource;
  /** What replaces it: the stub, the shortened text, the summary; absent when nothing does or the event itself is shown. */
  readonly sees?: string;
  /** The compaction that would decide if that one were reverted; absent when the event would be shown as it is. */
  readonly next?: string;
}

export interface BlameReport {
  readonly branch: string;
  readonly rows: readonly BlameRow[];
}

/**
 * Finds what decides how an event or the events of a turn are read; `what` = `5`, `5:EVENT`, `-3` or an event id, `id` = the
 * conversation, default the active one. Throws `unknown_turn`, `unknown_event`, `unknown_id`.
 */
export async function blame(workspace: Workspace, what: string, id?: string): Promise<BlameReport> {
  const { tree, turn, event } = await locate(workspace, what, id);
  const loaded = await loadViewWithTurns(workspace.store, tree, [turn]);
  const { turns, view, live } = loaded;
  const turnCount = tree.turnOids.length;
  const wanted = selectEvents(turns.get(turn), turn, event);
  const dispositions = resolveDispositions([...turns.values()], live.applied, turnCount);
  const shown = new Map(view.turns.flatMap((projected) => projected.events.map((item) => [item.id, item] as const)));
  const entries = await readRecordLog(workspace.store, tree.commit);
  const squashed = await findSquashed(workspace.store, entries);
  const rows = wanted.map((item): BlameRow => {
    const state = stateOf(item, shown.get(item.id));
    const disposition = dispositions.get(item.id);
    const row = { event: item.id, type: item.type, turn, state };
    if (disposition === undefined) return row;
    const sees = seen(disposition, view, shown.get(item.id));
    const next = wanted.length > 1 ? undefined : nextDecider(loaded, turnCount, disposition.compaction, item);
    return {
      ...row,
      action: actionOf(disposition, item),
      by: sourceOf(entries, squashed, { record: disposition.compaction, all: live.all }),
      ...(sees === undefined || state === "shown" || state === "internal" ? {} : { sees }),
      next,
    };
  });
  return { branch: tree.branch, rows };
}

interface Place {
  readonly tree: BranchTree;
  readonly turn: number;
  readonly event?: string;
}

async function locate(workspace: Workspace, what: string, id: string | undefined): Promise<Place> {
  if (/^-?\d{1,9}(:\S+)?$/.test(what)) {
    const tree = await resolveTree(workspace, id);
    const bound = parseTurnBound(what);
    const turn = turnOf(bound, tree.turnOids.length - 1);
    if (turn < 0 || turn >= tree.turnOids.length) {
      throw unknownTurn(tree.branch, turn, tree.turnOids.length - 1);
    }
    return bound.type === "event" ? { tree, turn, event: bound.event } : { tree, turn };
  }
  const target = await resolveId(workspace, what, ["event"]);
  if (target.kind !== "event") throw userError("unknown_id", `${what} is not an event.`);
  const tip = await workspace.store.readBranch(target.branch);
  if (tip === null) throw userError("unknown_id", `${target.branch} is not a branch in this store.`);
  return {
    tree: await loadBranchTree(workspace.store, target.branch, tip),
    turn: target.turn,
    event: target.event,
  };
}

/** One event of a turn, or all of its events that a model can see. */
function selectEvents(found: Turn | undefined, turn: number, event: string | undefined): readonly Event[] {
  const events = found?.events ?? [];
  if (event === undefined) return events.filter((item) => traitsOf(item).providerVisible);
  const item = events[findEvent(events, event, turn)];
  return item === undefined ? [] : [item];
}

function actionOf({ action, compaction }: Disposition, event: Event): string {
  if (action === "hide") {
    if (compaction.turns === "omit") return "omitted with its turn";
    return compaction.summary === undefined ? "replaced by a list" : "replaced by a summary";
  }
  if (typeof action !== "string") return "drop" in action ? "long texts left out" : "truncated";
  if (action === "omit") return "omitted";
  if (action === "keep") return "kept";
  return isReasoning(event) ? "left out" : "stripped";
}

/** What the model sees instead: the changed event, or the text that replaces the turns. */
function seen({ action, compaction }: Disposition, view: View, shown: Event | undefined): string | undefined {
  if (shown !== undefined) return eventLines(shown).join("\n");
  if (action !== "hide") return undefined;
  const shownTurn = view.turns.find(
    ({ origin }) => (origin.kind === "summary" || origin.kind === "replacement") && origin.compaction === compaction.id,
  );
  const texts = shownTurn?.events
    .filter((event) => traitsOf(event).providerVisible)
    .flatMap((event) => eventLines(event));
  return texts?.join("\n");
}

function nextDecider(
  { turns, live }: LoadedTurns,
  turnCount: number,
  winner: Compaction,
  event: Event,
): string | undefined {
  const others = live.applied.filter((other) => !isSameGroup(other, winner));
  return resolveDispositions([...turns.values()], others, turnCount).get(event.id)?.compaction.id;
}

function sourceOf(
  entries: readonly LogEntry[],
  squashed: ReadonlySet<string>,
  { record, all }: { readonly record: Compaction; readonly all: readonly Compaction[] },
): BlameSource {
  const { id } = record;
  const entry = entries.find(({ added }) => added.some((path) => compactionIdOfPath(path) === id));
  const isOwn = entry !== undefined && !squashed.has(entry.commit);
  return {
    compaction: id,
    commit: entry?.commit ?? "",
    author: isOwn ? entry.author.name : "",
    timestamp: isOwn ? new Date(entry.committer.seconds * 1000).toISOString() : record.timestamp,
    subject: recordSubject({ kind: "compaction", record, group: groupOf(record, all) }),
  };
}

// The views before and after a compaction, as they were at its commit, without newer compactions of the same commit. A group counts
// as one.

/** What a compaction changed. */
export interface CompactionViews {
  readonly group: CompactionGroup;
  /** At least those in either view, and those that the group covers. */
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  readonly after: View;
  /** Counts as `compact` did when the compaction was made. */
  readonly meter: TokenMeter;
}

/** Loads both views of a compaction that a commit of the branch added as a file. */
export async function loadCompactionViews(
  { store }: Workspace,
  tree: Pick<BranchTree, "branch">,
  { commit, path, compaction }: { readonly commit: string; readonly path: string; readonly compaction: Compaction },
): Promise<CompactionViews> {
  const there = await loadBranchTree(store, tree.branch, commit);
  const group = groupOf(compaction, (await loadCompactions(store, there)).all);
  const own = new Set(group.map(({ id }) => id));
  // Names of records begin with the time.
  const isThen = (file: string): boolean => file <= path || own.has(compactionIdOfPath(file) ?? "");
  const then = { ...there, compactions: there.compactions.filter((file) => isThen(file.path)) };
  const { applied: withIt } = await loadCompactions(store, then);
  const without = withIt.filter(({ id }) => !own.has(id));
  const turnCount = then.turnOids.length;
  const positions = group.flatMap((one) => positionsIn(one, turnCount));
  const turns = await loadShown(store, then, { positions, views: [withIt, without] });
  const { meter } = await loadCountedMinimal(store, then);
  return {
    group,
    turns,
    meter,
    before: project({ turnCount, turns, compactions: without }),
    after: project({ turnCount, turns, compactions: withIt }),
  };
}

function positionsIn({ from_turn: from, to_turn: to }: Compaction, turnCount: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(to, turnCount - 1) - from + 1) }, (_, index) => from + index);
}
