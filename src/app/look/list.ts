// Lists conversations: one row for each, by its active or main branch; or one row for each branch.
import { marksInForce } from "../../core/conversation/marks.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { type CountedView, loadCountedMinimal, reportTokens } from "../conversation/counted-view.ts";
import { countProgress } from "../conversation/progress.ts";
import { isBrokenLink } from "../conversation/spliced-turns.ts";
import { type ConversationFacts, cacheAtTip, cachedAt, readTip } from "../conversation/tip-cache.ts";
import {
  type BranchTree,
  type ConversationHeader,
  loadBranchTree,
  parentSession,
  warnOfDamage,
} from "../conversation/tree.ts";
import { readMetas, titleIn } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { preferredBranch } from "../names/conversations.ts";
import { findSession } from "../names/find-session.ts";

/** The list, and what could not be read: one damaged or newer conversation does not hide the others. */
export interface Listing {
  /** Newest first. */
  readonly rows: ListReport;
  /** Archived conversations that were left out. */
  readonly archived: number;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}

interface ListOptions {
  /** List every fork, archived ones included. */
  readonly all: boolean;
  /** List only archived conversations; default: leave them out. */
  readonly archived?: boolean;
  /** List only conversations with all of these labels. */
  readonly labels?: readonly string[];
}

export async function listConversations(workspace: Workspace, options: ListOptions): Promise<Listing> {
  const { store } = workspace;
  const [tips, active] = await Promise.all([store.listBranches(), preferredBranch(workspace)]);
  const shown = shownOf(tips, { active, all: options.all });
  const known = new Map(shown.map(({ tip }) => [tip, cachedAt(readTip(store, tip.name).facts, tip.commit)]));
  const unknown = shown.filter(({ tip }) => known.get(tip) === undefined);
  const unreadable: { branch: string; error: JpgError }[] = [];
  for (const { tip } of countProgress(workspace, "counting tokens of conversations", unknown)) {
    try {
      known.set(tip, await knownFacts(workspace, tip));
    } catch (error) {
      if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
      unreadable.push({ branch: tip.name, error });
    }
  }
  const listed = await warnAndSort(workspace, collectRows(shown, { known, active, options }));
  return { ...listed, rows: await placeAgents(store, tips, { rows: listed.rows, all: options.all }), unreadable };
}

interface CollectedRows {
  readonly rows: ListRow[];
  readonly archived: number;
  readonly damaged: readonly BranchTip[];
}

/** Collects rows; a conversation that cannot be read has none. */
function collectRows(
  shown: readonly ShownBranch[],
  {
    known,
    active,
    options,
  }: {
    readonly known: ReadonlyMap<BranchTip, ConversationFacts | undefined>;
    readonly active: string | null;
    readonly options: ListOptions;
  },
): CollectedRows {
  const rows: ListRow[] = [];
  const damaged: BranchTip[] = [];
  let archived = 0;
  for (const { tip, id, forks } of shown) {
    const facts = known.get(tip);
    if (facts === undefined) continue;
    if (facts.damaged === true) damaged.push(tip);
    if (!hasLabels(facts, options.labels)) continue;
    if (options.all || (facts.archived ?? false) === (options.archived ?? false))
      rows.push(toRow({ tip, id, forks }, facts, active));
    else if (facts.archived === true) archived++;
  }
  return { rows, archived, damaged };
}

/** `compacted_to` is for the next command, not for a list. */
function toRow({ tip, id, forks }: ShownBranch, facts: ConversationFacts, active: string | null): ListRow {
  const { title, turns, tokens, tokens_source = "estimate", compactions, updated_at, compacted_to: _, ...rest } = facts;
  const [branch, isActive] = [tip.name, tip.name === active];
  const row = { id, title, branch, turns, tokens, tokens_source, compactions, forks, updated_at, active: isActive };
  return { ...row, ...rest };
}

async function warnAndSort(
  workspace: Workspace,
  { rows, archived, damaged }: CollectedRows,
): Promise<Omit<Listing, "unreadable">> {
  for (const { name, commit } of damaged)
    await warnOfDamage(workspace, await loadBranchTree(workspace.store, name, commit));
  return { rows: rows.sort(newestFirst), archived };
}

function newestFirst(a: ListRow, b: ListRow): number {
  return a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0;
}

function hasLabels({ labels = [] }: ConversationFacts, wanted: readonly string[] = []): boolean {
  return wanted.length === 0 || wanted.every((label) => labels.includes(label.normalize("NFC")));
}

/** A branch with a row, its conversation, and the number of the others. */
interface ShownBranch {
  readonly tip: BranchTip;
  readonly id: string;
  readonly forks: number;
}

/** One branch of each conversation, or all of them, grouped by conversation. */
function shownOf(
  tips: readonly BranchTip[],
  { active, all }: { readonly active: string | null; readonly all: boolean },
): readonly ShownBranch[] {
  const families = new Map<string, BranchTip[]>();
  for (const tip of tips) {
    const id = conversationOf(tip.name);
    families.set(id, [...(families.get(id) ?? []), tip]);
  }
  return [...families].flatMap(([id, family]) => {
    const sorted = family.sort((a, b) => rankOf(a.name, active) - rankOf(b.name, active));
    return sorted.slice(0, all ? undefined : 1).map((tip) => ({ tip, id, forks: family.length - 1 }));
  });
}

/** The active branch comes first, then `main`. */
function rankOf(name: string, active: string | null): number {
  return name === active ? 0 : forkOf(name) === "main" ? 1 : 2;
}

/**
 * Returns the facts of a branch for a list, from the cache, or reads and caches them. Throws the errors of a damaged conversation.
 */
export async function knownFacts(workspace: Workspace, tip: BranchTip): Promise<ConversationFacts> {
  const { store } = workspace;
  const { name: branch, commit } = tip;
  const kept = cachedAt(readTip(store, branch).facts, commit);
  if (kept !== undefined) return kept;
  const facts = await readFacts(workspace, tip);
  // A partial clone may have more turns the next time.
  if (facts.turns_elsewhere === undefined) await cacheAtTip(store, { branch, commit }, "facts", facts);
  return facts;
}

async function readFacts(workspace: Workspace, { name, commit }: BranchTip): Promise<ConversationFacts> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const damaged = await warnOfDamage(workspace, tree);
  const [loaded, [seconds = 0]] = await Promise.all([loadCountedMinimal(store, tree), store.readCommitTimes([commit])]);
  const metas = await readMetas(workspace, tree);
  const { archived, labels } = marksInForce(metas);
  return {
    title: titleIn(metas, tree.header),
    turns: tree.turnOids.length,
    ...(loaded.elsewhere === 0 ? {} : { turns_elsewhere: loaded.elsewhere }),
    ...reportTokens(loaded),
    compactions: loaded.live.all.length,
    ...compactedTo(loaded, tree),
    ...parentOf(tree.header),
    ...(isSpliced(loaded, tree) ? { spliced: true as const } : {}),
    ...(damaged > 0 ? { damaged: true as const } : {}),
    updated_at: new Date(seconds * 1000).toISOString(),
    ...(archived ? { archived } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

function parentOf(header: ConversationHeader): Pick<ConversationFacts, "parent"> {
  const parent = parentSession(header);
  return parent === null || header.source === null ? {} : { parent: { format: header.source.format, ...parent } };
}

function compactedTo({ live }: CountedView, { turnOids }: BranchTree): Pick<ConversationFacts, "compacted_to"> {
  if (live.applied.length === 0) return {};
  const last = live.applied.reduce((turn, { to_turn }) => Math.max(turn, to_turn), 0);
  return { compacted_to: Math.min(last, turnOids.length - 1) };
}

/** Like `findBrokenLinks`, from cached facts. */
function isSpliced({ facts }: CountedView, { turnOids }: BranchTree): boolean {
  return turnOids.length > 1 && facts.some(({ previous, index }) => isBrokenLink(previous, turnOids[index - 1]));
}

/** A row of `ls`: one conversation by one branch. */
export interface ListRow extends ConversationFacts {
  readonly id: string;
  readonly branch: string;
  /** Number of other branches. */
  readonly forks: number;
  /** Whether it is the active conversation (`@`). */
  readonly active?: boolean;
  /** Conversations of sub-agents that are left out; absent = none. */
  readonly agents?: number;
}

export type ListReport = readonly ListRow[];

/** Puts sub-agents with their parents. One whose parent is not in the store has a row of its own. */
async function placeAgents(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { rows, all }: { readonly rows: ListReport; readonly all: boolean },
): Promise<ListReport> {
  const agents = new Map<string, ListRow[]>();
  const own: ListRow[] = [];
  const parents = new Map<string, string | null>();
  for (const row of rows) {
    const id = await parentBranchOf(store, tips, { row, parents });
    const named = row.parent === undefined || id === null ? row : { ...row, parent: { ...row.parent, id } };
    if (id === null || row.parent?.kind !== "agent") own.push(named);
    else agents.set(id, [...(agents.get(id) ?? []), named]);
  }
  if (agents.size === 0) return own;
  return all ? [...nestUnderParents(own, agents)] : own.map((row) => withCount(row, agents.get(row.id)?.length ?? 0));
}

/** The conversation with the session that a row's comes from; null if there is none. */
async function parentBranchOf(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { row, parents }: { readonly row: ListRow; readonly parents: Map<string, string | null> },
): Promise<string | null> {
  if (row.parent === undefined) return null;
  const { format, session } = row.parent;
  const key = `${format} ${session}`;
  let id = parents.get(key);
  if (id === undefined) {
    const tip = await findSession(store, tips, { format, session });
    id = tip === null ? null : conversationOf(tip.name);
    parents.set(key, id);
  }
  // A conversation that names itself as its parent is not left out.
  return id === row.id ? null : id;
}

function withCount(row: ListRow, agents: number): ListRow {
  return agents === 0 ? row : { ...row, agents };
}

/** Yields each row followed by its sub-agents, recursively; those without a row before them come last. */
function* nestUnderParents(rows: ListReport, agents: Map<string, readonly ListRow[]>): Generator<ListRow> {
  for (const row of rows) {
    yield row;
    yield* takeAgents(row, agents);
  }
  for (const left of [...agents.keys()]) yield* agents.get(left) ?? [];
}

/** Yields each once, even if they name each other in a ring. */
function* takeAgents({ id }: ListRow, agents: Map<string, readonly ListRow[]>): Generator<ListRow> {
  const own = agents.get(id) ?? [];
  agents.delete(id);
  for (const row of own) {
    yield row;
    yield* takeAgents(row, agents);
  }
}
