// Lists conversations: one row for each, by its active or main branch; or one row for each branch.
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { countProgress } from "../conversation/progress.ts";
import type { ConversationFacts } from "../conversation/tip-cache.ts";
import { loadBranchTree, warnOfDamage } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { preferredBranch } from "../names/conversations.ts";
import { findSession } from "../names/find-session.ts";
import { createFactsReader } from "./facts.ts";

/** The list, and what could not be read: one damaged or newer conversation does not hide the others. */
export interface Listing {
  /** In the order asked for; each sub-agent after the one that started it. */
  readonly rows: ListReport;
  /** Archived conversations that were left out. */
  readonly archived: number;
  /** Number of rows beyond the most that were asked for. */
  readonly left: number;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}

/** How a list is ordered: newest, largest view or most expensive first. */
export const LIST_ORDERS = ["age", "size", "cost"] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

interface ListOptions {
  /** List every fork, archived ones included. */
  readonly all: boolean;
  /** List only archived conversations; default: leave them out. */
  readonly archived?: boolean;
  /** List only conversations with all of these labels. */
  readonly labels?: readonly string[];
  /** List only conversations of sessions of this format. */
  readonly agent?: string | undefined;
  /** Default: age. */
  readonly order?: ListOrder | undefined;
  /** Most rows; default: no limit. */
  readonly most?: number | undefined;
}

export async function listConversations(workspace: Workspace, options: ListOptions): Promise<Listing> {
  const { store } = workspace;
  const [tips, active] = await Promise.all([store.listBranches(), preferredBranch(workspace)]);
  const shown = shownOf(tips, { active, all: options.all });
  const reader = await createFactsReader(workspace);
  const known = new Map(shown.map(({ tip }) => [tip, reader.cached(tip)]));
  const unknown = shown.filter(({ tip }) => known.get(tip) === undefined);
  const unreadable: { branch: string; error: JpgError }[] = [];
  for (const { tip } of countProgress(workspace, "counting tokens of conversations", unknown)) {
    try {
      known.set(tip, await reader.read(tip));
    } catch (error) {
      if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
      unreadable.push({ branch: tip.name, error });
    }
  }
  const collected = collectRows(shown, { known, active, options });
  await warnOfDamaged(workspace, collected.damaged);
  const sorted = collected.rows.sort(ORDERS[options.order ?? "age"]);
  const rows = await placeAgents(store, tips, { rows: sorted, all: options.all });
  return { rows: rows.slice(0, options.most), archived: collected.archived, left: leftOut(rows, options), unreadable };
}

function leftOut(rows: ListReport, { most }: ListOptions): number {
  return Math.max(0, rows.length - (most ?? rows.length));
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
    if (!hasLabels(facts, options.labels) || !isOf(facts, options.agent)) continue;
    if (options.all || (facts.archived ?? false) === (options.archived ?? false))
      rows.push(toRow({ tip, id, forks }, facts, active));
    else if (facts.archived === true) archived++;
  }
  return { rows, archived, damaged };
}

/** `compacted_to` is for the next command, not for a list; which prices were applied is the cache's matter. */
function toRow({ tip, id, forks }: ShownBranch, facts: ConversationFacts, active: string | null): ListRow {
  const { title, turns, tokens, tokens_source = "estimate", compactions, updated_at } = facts;
  const { compacted_to: _, priced: __, window, ...rest } = facts;
  const [branch, isActive] = [tip.name, tip.name === active];
  const row = { id, title, branch, turns, tokens, tokens_source, compactions, forks, updated_at, active: isActive };
  return { ...row, ...rest, ...(window === undefined ? {} : { window: withShare(window, tokens.view) }) };
}

function withShare(window: NonNullable<ConversationFacts["window"]>, view: number): NonNullable<ListRow["window"]> {
  return { ...window, share: Math.round((view / window.tokens) * 1000) / 1000 };
}

async function warnOfDamaged(workspace: Workspace, damaged: readonly BranchTip[]): Promise<void> {
  for (const { name, commit } of damaged)
    await warnOfDamage(workspace, await loadBranchTree(workspace.store, name, commit));
}

function newestFirst(a: ListRow, b: ListRow): number {
  return a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0;
}

const ORDERS: Readonly<Record<ListOrder, (a: ListRow, b: ListRow) => number>> = {
  age: newestFirst,
  size: (a, b) => b.tokens.view - a.tokens.view || newestFirst(a, b),
  // What is not known comes last.
  cost: (a, b) => (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || newestFirst(a, b),
};

function hasLabels({ labels = [] }: ConversationFacts, wanted: readonly string[] = []): boolean {
  return wanted.length === 0 || wanted.every((label) => labels.includes(label.normalize("NFC")));
}

function isOf({ agent }: ConversationFacts, wanted: string | undefined): boolean {
  return wanted === undefined || agent === wanted;
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

/** From so much of the window on, lists show the share as a warning. */
export const NEARLY_FULL = 0.8;

/** A row of `ls`: one conversation by one branch. */
export interface ListRow extends Omit<ConversationFacts, "window"> {
  readonly id: string;
  readonly branch: string;
  /** Number of other branches. */
  readonly forks: number;
  /** The window of the model that answered last; `share`: of the view in it, 0 or more. Absent = none answered. */
  readonly window?: { readonly model: string; readonly tokens: number; readonly share: number };
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
