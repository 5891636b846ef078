// Lists conversations: one row each, on its active or main branch; or one row a branch.

import { JpgError } from "../../core/errors.ts";
import type { BranchTip } from "../../store/conversation-store.ts";
import { loadBranchTree } from "../branch/branch-tree.ts";
import { warnOfDamage } from "../branch/stored-records.ts";
import { conversationOf, forkOf, preferredBranch } from "../names/conversations.ts";
import type { ListReport, ListRow } from "../reports/reports.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ConversationFacts, openKnownFacts, readFacts } from "./conversation-facts.ts";

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
  readonly onReading?: (count: number) => void;
}

/** Facts that are worked out before they are kept: a list that is broken off goes on there the next time. */
const KEPT_AT_ONCE = 500;

/** Lists conversations. */
export async function listConversations(workspace: Workspace, options: ListOptions): Promise<Listing> {
  const { store } = workspace;
  const [tips, known, active] = await Promise.all([
    store.listBranches(),
    openKnownFacts(store),
    preferredBranch(workspace),
  ]);
  const families = [...groupBy(tips, active).values()];
  const shown = families.flatMap((family) => {
    const forks = family.length - 1;
    return (options.all ? family : family.slice(0, 1)).map((tip) => ({ tip, forks }));
  });
  const unknown = shown.filter(({ tip }) => known.find(tip.commit) === null);
  if (unknown.length > 0) options.onReading?.(unknown.length);
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
  for (const { tip } of shown.filter((row) => known.find(row.tip.commit)?.damaged === true))
    await warnOfDamage(workspace, await loadBranchTree(store, tip.name, tip.commit));
  const labelled = shown
    .flatMap(({ tip, forks }) => {
      const facts = known.find(tip.commit);
      return facts === null ? [] : [toRow(tip, facts, { forks, active })];
    })
    .filter(({ labels = [] }) => (options.labels ?? []).every((label) => labels.includes(label)));
  const rows = labelled.filter(({ archived = false }) => options.all || archived === (options.archived ?? false));
  const archived = labelled.filter((row) => row.archived === true && !rows.includes(row)).length;
  rows.sort((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
  return { rows, archived, unreadable };
}

function toRow(
  { name }: BranchTip,
  facts: ConversationFacts,
  { forks, active }: { readonly forks: number; readonly active: string | null },
): ListRow {
  const { title, turns, tokens, tokens_source = "estimate", compactions, updated_at, archived, labels } = facts;
  const trouble = {
    ...(facts.spliced === true ? { spliced: facts.spliced } : {}),
    ...(facts.damaged === true ? { damaged: facts.damaged } : {}),
  };
  const family = { forks, updated_at, active: name === active, ...trouble };
  const marks = { ...(archived === true ? { archived } : {}), ...(labels === undefined ? {} : { labels }) };
  return {
    id: conversationOf(name),
    title,
    branch: name,
    turns,
    tokens,
    tokens_source,
    compactions,
    ...family,
    ...marks,
  };
}

/** Branches by conversation, each family's active branch first, then `main`. */
function groupBy<Branch extends { readonly name: string }>(
  branches: readonly Branch[],
  active: string | null,
): Map<string, Branch[]> {
  const rank = (name: string): number => (name === active ? 0 : forkOf(name) === "main" ? 1 : 2);
  const families = new Map<string, Branch[]>();
  for (const branch of branches) {
    const family = families.get(conversationOf(branch.name)) ?? [];
    family.push(branch);
    families.set(conversationOf(branch.name), family);
  }
  for (const family of families.values()) family.sort((a, b) => rank(a.name) - rank(b.name));
  return families;
}
