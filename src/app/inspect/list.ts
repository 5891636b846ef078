// Lists conversations: one row each, on its active or main branch; or one row a branch.
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip } from "../../store/store.ts";
import { loadBranchTree } from "../branch/branch-tree.ts";
import { warnOfDamage } from "../branch/stored-records.ts";
import { preferredBranch } from "../names/conversations.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readFacts } from "./conversation-facts.ts";
import { type ConversationFacts, type FactsCache, openFactsCache } from "./facts-cache.ts";
import { placeAgents } from "./list-agents.ts";
import type { ListReport, ListRow } from "./list-row.ts";

/** The list, with what could not be read: one damaged or newer conversation does not hide the others. */
export interface Listing {
  /** Newest first. */
  readonly rows: ListReport;
  /** How many rows are left out because they are archived. */
  readonly archived: number;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}

export interface ListOptions {
  /** A row for every fork, archived ones among them. */
  readonly all: boolean;
  /** Only what is archived; else that is left out. */
  readonly archived?: boolean;
  /** Only what has all of these labels. */
  readonly labels?: readonly string[];
  /** Told, before that is done, how many conversations are read whole because nothing is known of them yet. */
  readonly onReading?: ((count: number) => void) | undefined;
}

/** Facts that are worked out before they are kept: a list that is broken off goes on there the next time. */
const KEPT_AT_ONCE = 500;

/** Lists conversations. */
export async function listConversations(workspace: Workspace, options: ListOptions): Promise<Listing> {
  const { store } = workspace;
  const listing = store.listBranches();
  listing.catch(() => undefined);
  const known = openFactsCache(store);
  const [tips, active] = await Promise.all([listing, preferredBranch(workspace)]);
  const shown = shownOf(tips, { active, all: options.all });
  const kept = collectRows(shown, { known, active, options });
  const finish = async (collected: CollectedRows) => {
    const listed = await warnAndSort(workspace, collected);
    return { ...listed, rows: await placeAgents(store, tips, { rows: listed.rows, all: options.all }) };
  };
  if (kept.unknown.length === 0) return { ...(await finish(kept)), unreadable: [] };
  const unreadable = await readUnknown(workspace, kept.unknown, { known, tips, onReading: options.onReading });
  return { ...(await finish(collectRows(shown, { known, active, options }))), unreadable };
}

interface CollectedRows {
  readonly rows: ListRow[];
  readonly archived: number;
  readonly damaged: readonly BranchTip[];
  /** What nothing is known of. */
  readonly unknown: readonly ShownBranch[];
}

/** Facts are asked for and forgotten one by one: ten thousand that are kept take as long to be collected as to be made. */
function collectRows(
  shown: readonly ShownBranch[],
  {
    known,
    active,
    options,
  }: { readonly known: FactsCache; readonly active: string | null; readonly options: ListOptions },
): CollectedRows {
  const rows: ListRow[] = [];
  const damaged: BranchTip[] = [];
  const unknown: ShownBranch[] = [];
  let archived = 0;
  for (const branch of shown) {
    const facts = known.find(branch.tip.commit);
    if (facts === null) {
      unknown.push(branch);
      continue;
    }
    if (facts.damaged === true) damaged.push(branch.tip);
    if (!hasLabels(facts, options.labels)) continue;
    if (options.all || (facts.archived ?? false) === (options.archived ?? false))
      rows.push(toRow(branch, facts, active));
    else if (facts.archived === true) archived++;
  }
  return { rows, archived, damaged, unknown };
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

/** A branch that has a row, its conversation, and how many other branches that has. */
interface ShownBranch {
  readonly tip: BranchTip;
  readonly id: string;
  readonly forks: number;
}

/** Branches come ordered by name: those of one conversation stand together. */
function shownOf(
  tips: readonly BranchTip[],
  { active, all }: { readonly active: string | null; readonly all: boolean },
): readonly ShownBranch[] {
  const shown: ShownBranch[] = [];
  const ids = tips.map(({ name }) => conversationOf(name));
  for (let from = 0, to = 1; from < tips.length; from = to, to++) {
    const id = ids[from] ?? "";
    while (ids[to] === id) to++;
    const forks = to - from - 1;
    // Nearly all have one branch: of ten thousand conversations no list of one is made.
    const family =
      forks === 0 ? null : tips.slice(from, to).sort((a, b) => rankOf(a.name, active) - rankOf(b.name, active));
    for (let at = from; at < (all ? to : from + 1); at++) {
      const tip = family?.[at - from] ?? tips[at];
      if (tip !== undefined) shown.push({ tip, id, forks });
    }
  }
  return shown;
}

/** The active branch stands first, then `main`. */
function rankOf(name: string, active: string | null): number {
  return name === active ? 0 : forkOf(name) === "main" ? 1 : 2;
}

/** Works out what is not known yet, and keeps it. Gives those that could not be read. */
async function readUnknown(
  workspace: Workspace,
  unknown: readonly ShownBranch[],
  {
    known,
    tips,
    onReading,
  }: Pick<ListOptions, "onReading"> & { readonly known: FactsCache; readonly tips: readonly BranchTip[] },
): Promise<Listing["unreadable"]> {
  onReading?.(unknown.length);
  const unreadable: { branch: string; error: JpgError }[] = [];
  for (const [index, { tip }] of unknown.entries()) {
    try {
      known.add(tip.commit, await readFacts(workspace, tip));
    } catch (error) {
      if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
      unreadable.push({ branch: tip.name, error });
    }
    if (index % KEPT_AT_ONCE === KEPT_AT_ONCE - 1) await known.save(tips);
  }
  await known.save(tips);
  return unreadable;
}

function toRow({ tip: { name }, id, forks }: ShownBranch, facts: ConversationFacts, active: string | null): ListRow {
  const { title, turns, tokens, tokens_source = "estimate", compactions, updated_at } = facts;
  const { turns_elsewhere, overhead_source, spliced, damaged, archived, labels, parent } = facts;
  const isActive = name === active;
  // Ten thousand copies of a row would be a fifth of the time: what most lack is set where it is there.
  const row: { -readonly [Key in keyof ListRow]: ListRow[Key] } =
    overhead_source === undefined
      ? { id, title, branch: name, turns, tokens, tokens_source, compactions, forks, updated_at, active: isActive }
      : {
          id,
          title,
          branch: name,
          turns,
          tokens,
          tokens_source,
          compactions,
          forks,
          updated_at,
          active: isActive,
          overhead_source,
        };
  if (turns_elsewhere !== undefined) row.turns_elsewhere = turns_elsewhere;
  if (spliced === true) row.spliced = spliced;
  if (damaged === true) row.damaged = damaged;
  if (archived === true) row.archived = archived;
  if (labels !== undefined) row.labels = labels;
  if (parent !== undefined) row.parent = parent;
  return row;
}
