// Where conversations of sub-agents stand in a list: left out and counted at the one that began them, or behind it.
import { conversationOf } from "../../core/conversation/name.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { findSession } from "../names/find-session.ts";
import type { ListReport, ListRow } from "./list-row.ts";

/** Places them. One whose parent is not in the store stands for itself. */
export async function placeAgents(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { rows, all }: { readonly rows: ListReport; readonly all: boolean },
): Promise<ListReport> {
  const agents = new Map<string, ListRow[]>();
  const own: ListRow[] = [];
  const parents = new Map<string, string | null>();
  for (const row of rows) {
    const id = await parentOf(store, tips, { row, parents });
    const named = row.parent === undefined || id === null ? row : { ...row, parent: { ...row.parent, id } };
    if (id === null || row.parent?.kind !== "agent") own.push(named);
    else agents.set(id, [...(agents.get(id) ?? []), named]);
  }
  if (agents.size === 0) return own;
  return all ? [...behindParents(own, agents)] : own.map((row) => withCount(row, agents.get(row.id)?.length ?? 0));
}

/** The conversation that holds the session which a row's comes from; null where there is none, or it comes from none. */
async function parentOf(
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
  // Whoever says that it comes from itself is not left out for that.
  return id === row.id ? null : id;
}

function withCount(row: ListRow, agents: number): ListRow {
  return agents === 0 ? row : { ...row, agents };
}

/** Rows, each followed by its agents', and these by theirs; what no row comes before stands last. */
function* behindParents(rows: ListReport, agents: Map<string, readonly ListRow[]>): Generator<ListRow> {
  for (const row of rows) {
    yield row;
    yield* takeAgents(row, agents);
  }
  for (const left of [...agents.keys()]) yield* agents.get(left) ?? [];
}

/** Each is given once, also where they name each other in a ring. */
function* takeAgents({ id }: ListRow, agents: Map<string, readonly ListRow[]>): Generator<ListRow> {
  const own = agents.get(id) ?? [];
  agents.delete(id);
  for (const row of own) {
    yield row;
    yield* takeAgents(row, agents);
  }
}
