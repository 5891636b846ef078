// Reads the page of a conversation: everything that was said with the view next to it, and the compactions between the two. A plain
// value; long texts and images are read for the rows that are rendered.
import { inline } from "../../core/conversation/attachment.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type Event, type Turn, traitsOf } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { resolveDispositions } from "../../core/conversation/winner.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { alignViews, type BothRow } from "../../core/look/both-views.ts";
import type { TokenMeter, TokenSource } from "../../core/model/token-meter.ts";
import { compactionIdOfPath, groupPaths } from "../conversation/append.ts";
import { loadCounted, reportTokens } from "../conversation/counted-view.ts";
import { type CommentRow, listComments } from "../conversation/marks.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { readAttachments } from "../conversation/turns.ts";
import { type KnownTurns, loadCompactions, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { diffViews, type ViewDiff } from "../diff/diff.ts";
import { resolveWholeTree } from "../names/resolve-id.ts";
import { type LogRow, readCompactionLog } from "./log.ts";
import { costByTurn } from "./recorded-cost.ts";
import { type LineageReport, readLineage } from "./show.ts";

/** Tokens: raw, and in the view. */
export interface PageTokens {
  readonly raw: number;
  readonly view: number;
}

export interface PageTurn {
  /** Position, 0-based. */
  readonly turn: number;
  /** When it began, RFC 3339; "" = unknown. */
  readonly time: string;
  /** Of its events, and of what replaces them. */
  readonly tokens: PageTokens;
  /** Cost of its requests with recorded usage, US dollars at today's list prices; null = unknown. */
  readonly cost: number | null;
  /** Without events of kinds that no model sees. */
  readonly rows: readonly BothRow[];
}

export interface PageCompaction {
  /** The commit that added it, reverted it or brought it back. */
  readonly row: LogRow;
  /** All compactions of the group, in order of their ranges; empty when it is not in force. */
  readonly records: readonly Compaction[];
}

export interface ConversationPage {
  readonly title: string;
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string;
  /** Format of the session that it was imported from; null = it was begun here. */
  readonly format: string | null;
  readonly created_at: string;
  readonly tokens: PageTokens;
  readonly tokens_source: TokenSource;
  readonly turns: readonly PageTurn[];
  /** The compaction history, newest first. */
  readonly compactions: readonly PageCompaction[];
  /** The page as if this compaction were reverted; absent = as it is. */
  readonly without?: string;
  /** By turn, then by time. */
  readonly comments: readonly CommentRow[];
}

/** Reads the page of a branch, without long texts and images: see `readPayloads`. */
export async function readConversationPage(workspace: Workspace, tree: BranchTree): Promise<ConversationPage> {
  const { store } = workspace;
  const loaded = await loadCounted(store, tree);
  const { view, live, meter } = loaded;
  const turns = [...loaded.turns.values()].sort((a, b) => a.index - b.index);
  const dispositions = resolveDispositions(turns, live.applied, tree.turnOids.length);
  const log = await readCompactionLog(workspace, tree);
  const records = new Map(live.all.map((record) => [record.id, record]));
  const costs = await costByTurn(workspace, (await workspace.config()).config, loaded.facts);
  return {
    title: await conversationTitle(workspace, tree),
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    commit: tree.commit,
    format: tree.header.source?.format ?? null,
    created_at: tree.header.created_at,
    ...reportTokens(loaded),
    turns: alignViews({ turns, view, dispositions }).map(({ turn, rows }) => ({
      turn,
      time: timeOf(loaded.turns.get(turn)),
      tokens: countRows(rows, meter),
      cost: costs.get(turn)?.price_usd ?? null,
      rows: rows.filter((row) => row.kind === "inserted" || traitsOf(row.event).providerVisible),
    })),
    compactions: log.map((row) => ({
      row,
      records: (row.compactions ?? [row.compaction]).flatMap((id) => records.get(id) ?? []),
    })),
    comments: await listComments(workspace, tree),
  };
}

/** Reads the long texts and images of rows, and returns a function that puts them into an event. Throws `attachment_missing`. */
export async function readPayloads(
  { store }: Workspace,
  { commit }: Pick<ConversationPage, "commit">,
  rows: readonly BothRow[],
): Promise<(event: Event) => Event> {
  const read = await readAttachments(store, commit, rows.flatMap(eventsOf));
  return (event) => inline(event, read);
}

/** The events of a row, as they were said and as in the view. */
function eventsOf(row: BothRow): readonly Event[] {
  if (row.kind === "inserted") return row.events;
  return row.shown === undefined ? [row.event] : [row.event, row.shown];
}

function countRows(rows: readonly BothRow[], meter: TokenMeter): PageTokens {
  const raw: Event[] = [];
  const view: Event[] = [];
  for (const row of rows) {
    if (row.kind === "inserted") appendAll(view, row.events);
    else {
      raw.push(row.event);
      if (row.shown !== undefined) view.push(row.shown);
      else if (row.state !== "hidden") view.push(row.event);
    }
  }
  return { raw: meter.countEvents(raw), view: meter.countEvents(view) };
}

function timeOf(turn: Turn | undefined): string {
  return turn?.events[0]?.timestamp ?? "";
}

// The relatives of a conversation: its other forks, its parent, and the sub-agents that it started.

export interface Family extends LineageReport {
  /** Names of the other branches, in order. */
  readonly forks: readonly string[];
}

export async function readFamily(workspace: Workspace, tree: BranchTree): Promise<Family> {
  const conversation = conversationOf(tree.branch);
  const branches = (await workspace.store.listBranches()).map(({ name }) => name);
  return {
    forks: branches.filter((name) => conversationOf(name) === conversation && name !== tree.branch).sort(),
    ...(await readLineage(workspace, tree)),
  };
}

export interface ComparedFork {
  readonly branch: string;
  readonly title: string;
  readonly turns: number;
  readonly compactions: number;
}

export interface ComparePage {
  readonly left: ComparedFork;
  readonly right: ComparedFork;
  /** Number of first turns that are equal on both. */
  readonly shared: number;
  /** From the left view to the right one. */
  readonly diff: ViewDiff;
}

/** Compares the views of two branches. Throws `unknown_id`, `spliced_turns`. */
export async function readComparePage(workspace: Workspace, left: string, right: string): Promise<ComparePage> {
  const { store } = workspace;
  const known: KnownTurns = new Map();
  const load = async (name: string) => {
    const tree = await resolveWholeTree(workspace, name);
    const { view, live } = await loadView(store, tree, { known });
    const facts: ComparedFork = {
      branch: tree.branch,
      title: await conversationTitle(workspace, tree),
      turns: tree.turnOids.length,
      compactions: live.applied.length,
    };
    return { tree, view, facts };
  };
  const [one, other] = [await load(left), await load(right)];
  const differing = one.tree.turnOids.findIndex((oid, turn) => oid !== other.tree.turnOids[turn]);
  return {
    left: one.facts,
    right: other.facts,
    shared: differing < 0 ? one.tree.turnOids.length : differing,
    diff: diffViews(one.view, other.view),
  };
}

/** Returns the tree without a compaction and the rest of its group. Throws `unknown_compaction`. */
export async function withoutCompaction(workspace: Workspace, tree: BranchTree, id: string): Promise<BranchTree> {
  const file = tree.compactions.find(({ path }) => compactionIdOfPath(path) === id);
  if (file === undefined) {
    throw userError("unknown_compaction", `${id} is not in force on ${tree.branch}: somebody may have reverted it.`, {
      hints: ["`jpg log` shows what is in force."],
    });
  }
  const { all } = await loadCompactions(workspace.store, tree);
  const gone = new Set((await groupPaths(workspace, tree, { all }))(file.path));
  const stays = ({ path }: { readonly path: string }): boolean => !gone.has(path);
  return { ...tree, compactions: tree.compactions.filter(stays), metas: tree.metas.filter(stays) };
}
