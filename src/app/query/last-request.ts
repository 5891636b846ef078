// What was asked last on a branch, for whoever asks it again: whole, with what was attached.
import { type Content, isUserRequest } from "../../core/conversation/event.ts";
import { inlineEvents } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadTurns } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The request that opens the newest turn. */
export interface LastRequest {
  readonly content: Content;
  /** Position of its turn, 0-based. */
  readonly turn: number;
}

/** Loads it; null where the newest turn holds no request of a person. Throws `attachment_missing`. */
export async function loadLastRequest({ store }: Workspace, tree: BranchTree): Promise<LastRequest | null> {
  const turn = tree.turnOids.length - 1;
  const events = turn < 0 ? [] : ((await loadTurns(store, tree, [turn])).get(turn)?.events ?? []);
  const request = events.find(isUserRequest);
  if (request === undefined) return null;
  const [whole] = await inlineEvents(store, tree.commit, [request]);
  return whole?.type === "chat_request" ? { content: whole.content, turn } : null;
}
