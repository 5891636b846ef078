// What `jpg show` and `jpg print` tell of where a conversation comes from, and of the sub-agents that it began.
import { conversationOf } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import { type BranchTree, collectBlobs, loadBranchTree, parentSession } from "../branch/branch-tree.ts";
import { findSession } from "../names/find-session.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { leaveOut, listAgents, placeOfAgent } from "./lineage.ts";
import type { ShowConversation } from "./show-report.ts";

export type LineageReport = Pick<ShowConversation, "parent" | "agents">;

/** Reads both. Turns are read only where there is something to find in them. */
export async function readLineage(workspace: Workspace, tree: BranchTree): Promise<LineageReport> {
  const [parent, agents] = await Promise.all([readParent(workspace, tree), listAgents(workspace, tree)]);
  const turns = agents.length === 0 ? [] : await readTurnTexts(workspace, tree);
  const placed = agents.map(({ id, title, call, name }) => {
    const place = placeOfAgent(turns, { name, ...defined({ call }) });
    return { id, title, ...defined({ call }), ...place };
  });
  return {
    ...defined({ parent }),
    ...(agents.length > 0 && { agents: placed.sort((a, b) => (a.turn ?? Infinity) - (b.turn ?? Infinity)) }),
  };
}

async function readParent(workspace: Workspace, { header, branch }: BranchTree): Promise<LineageReport["parent"]> {
  const { store } = workspace;
  const parent = parentSession(header);
  const { source } = header;
  if (parent === null || source === null) return undefined;
  const tips = await store.listBranches(leaveOut);
  const found = await findSession(store, tips, { format: source.format, session: parent.session });
  if (found === null || conversationOf(found.name) === conversationOf(branch)) return parent;
  const tree = await loadBranchTree(store, found.name, found.commit);
  const { call, name = source.session } = parent;
  const turns = parent.kind === "agent" ? await readTurnTexts(workspace, tree) : [];
  const place = placeOfAgent(turns, { name, ...defined({ call }) });
  return { ...parent, id: conversationOf(tree.branch), ...place };
}

/** The turns as they are stored; what a partial clone has not here is not brought. */
async function readTurnTexts({ store }: Workspace, { turnOids }: BranchTree) {
  if (store.partial !== null) return [];
  const blobs = await collectBlobs(store, turnOids);
  return blobs.map((bytes, turn) => ({ turn, text: new TextDecoder().decode(bytes) }));
}
