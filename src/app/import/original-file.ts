// The agent's own session file that a conversation comes from: whether it is still where the agent looks for it, and whether a view is
// exactly what importing it gives.
import { basename } from "node:path";
import { JpgError } from "../../core/errors.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { findAgentSessions } from "../sessions/kept-files.ts";
import { compareSource, listPieces, type OpenSession, openSession } from "../sessions/open-session.ts";
import { listSourceSessions } from "./original.ts";

export interface OriginalFile {
  /** Absolute. */
  readonly path: string;
  readonly open: OpenSession;
}

/** Characters of a session's id that every agent writes into the file's name. */
const ID_IN_NAME = 8;

/** Finds a session's file among those that the agent keeps for this project; null = it is gone, or elsewhere. */
export async function findOriginalFile(
  workspace: Workspace,
  { agent, session }: { readonly agent: string; readonly session: string },
): Promise<OriginalFile | null> {
  const { files } = await findAgentSessions(workspace, { agents: [agent] });
  for (const file of files) {
    if (file.isSideFile === true || !basename(file.path).includes(session.slice(0, ID_IN_NAME))) continue;
    const open = await openSession(workspace.runtime, file, { allBranches: false }).catch(ignoreDamage);
    if (open?.sessionId === session) return { path: file.path, open };
  }
  return null;
}

function ignoreDamage(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}

/**
 * Whether the view is what importing the file gives: the file has not changed, all turns are from it, and what the agent compacted, and
 * nothing else, is in force.
 */
export async function isViewOf(workspace: Workspace, tree: BranchTree, { open }: OriginalFile): Promise<boolean> {
  const { store } = workspace;
  const [session, ...others] = await listSourceSessions(workspace, tree);
  if (tree.atTurn !== undefined || session !== open.sessionId || others.length > 0) return false;
  const pieces = await listPieces(store, tree.commit, session);
  if ((await compareSource(store, tree.commit, pieces, open)) !== "same") return false;
  const { turnCount, compactions } = open.format.read(open.source);
  const { all } = await loadCompactions(store, tree);
  const isImported = all.every(({ source }) => source === "import") && all.length === compactions.length;
  return isImported && turnCount === tree.turnOids.length;
}
