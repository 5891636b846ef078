// The conversation that begins here: its id, its first title, its branch. Nothing is written before its first turn is.
import { branchName, conversationId } from "../core/conversation-name.ts";
import { type ConversationHeader, FORMAT_VERSION } from "./branch-tree.ts";
import { randomId } from "./runtime.ts";
import type { Workspace } from "./workspace.ts";

/** Longest first title, characters; titles of imported sessions are as long. */
const MAX_TITLE = 80;
/** Characters after the slug, so that two conversations of one title have two ids. */
const SUFFIX_LENGTH = 4;

/** A conversation to begin; hand both to `query`. */
export interface NewConversation {
  readonly branch: string;
  readonly root: ConversationHeader;
}

/** Names a new conversation after its first request. */
export async function newConversation({ store, runtime }: Workspace, request: string): Promise<NewConversation> {
  const title = titleOf(request);
  for (;;) {
    const id = conversationId(title, randomId(runtime, SUFFIX_LENGTH));
    const branch = branchName(id, "main");
    if ((await store.readBranch(branch)) !== null) continue;
    const created_at = runtime.now().toISOString();
    return { branch, root: { format: FORMAT_VERSION, id, title, created_at, source: null } };
  }
}

/** The first words of a request, on one line. */
function titleOf(request: string): string {
  const line = request.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, " ").trim();
  if (line === "") return "conversation";
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).trimEnd()}…` : line;
}
