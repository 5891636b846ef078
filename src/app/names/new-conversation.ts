// The conversation that begins here: its id, its first title, its branch. Nothing is written before its first turn is.

import { titleOfRequest } from "../../core/conversation/marks.ts";
import { branchName, conversationId } from "../../core/conversation/name.ts";
import { type ConversationHeader, FORMAT_VERSION } from "../branch/branch-tree.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { titleForId } from "./id-title.ts";

/** Characters after the slug, so that two conversations of one title have two ids. */
const SUFFIX_LENGTH = 4;

/** A conversation to begin; hand both to `query`. */
export interface NewConversation {
  readonly branch: string;
  readonly root: ConversationHeader;
}

/** Names a new conversation after its first request. */
export async function newConversation({ store, runtime }: Workspace, request: string): Promise<NewConversation> {
  const title = titleOfRequest(request) || "conversation";
  const named = await titleForId(title);
  for (;;) {
    const id = conversationId(named, randomId(runtime, SUFFIX_LENGTH));
    const branch = branchName(id, "main");
    if ((await store.readBranch(branch)) !== null) continue;
    const created_at = runtime.now().toISOString();
    return { branch, root: { format: FORMAT_VERSION, id, title, created_at, source: null } };
  }
}
