// Lists conversations: one row each, on its active or main branch; or one row a branch.
import { JpgError } from "../core/errors.ts";
import type { BranchTip } from "../store/conversation-store.ts";
import { loadBranchTree } from "./branch-tree.ts";
import { conversationOf, forkOf } from "./conversations.ts";
import { loadWhole } from "./load-view.ts";
import type { ListReport, ListRow } from "./reports.ts";
import { conversationTitle } from "./titles.ts";
import { meterOf, reportTokens } from "./token-report.ts";
import type { Workspace } from "./workspace.ts";

/** The list, with what could not be read: one damaged or newer conversation does not hide the others. */
export interface Listing {
  /** Newest first. */
  readonly rows: ListReport;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}

/** Lists conversations. `all` = a row for every fork. */
export async function listConversations(workspace: Workspace, options: { readonly all: boolean }): Promise<Listing> {
  const { store } = workspace;
  const active = await store.readActiveBranch();
  const rows: ListRow[] = [];
  const unreadable: { branch: string; error: JpgError }[] = [];
  for (const family of groupBy(await store.listBranches(), active).values()) {
    for (const tip of options.all ? family : family.slice(0, 1)) {
      try {
        rows.push(await readRow(workspace, tip, { forks: family.length - 1, active }));
      } catch (error) {
        if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
        unreadable.push({ branch: tip.name, error });
      }
    }
  }
  rows.sort((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
  return { rows, unreadable };
}

async function readRow(
  workspace: Workspace,
  { name, commit }: BranchTip,
  family: { readonly forks: number; readonly active: string | null },
): Promise<ListRow> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const loaded = await loadWhole(store, tree);
  const [newest] = await store.readLog({ from: commit, limit: 1 });
  return {
    id: conversationOf(name),
    title: await conversationTitle(workspace, tree),
    branch: name,
    turns: loaded.turns.size,
    ...reportTokens(loaded, meterOf(loaded)),
    compactions: loaded.live.all.length,
    forks: family.forks,
    updated_at: new Date((newest?.committer.seconds ?? 0) * 1000).toISOString(),
    active: name === family.active,
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
