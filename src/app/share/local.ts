// Conversations that never leave this store: marked outside their trees, so that the mark itself is never sent. A fork is of the
// same conversation, and so has its mark.
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { resolveId } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { requireSharing } from "./remotes.ts";

/** What `local` did. */
export interface LocalReport {
  readonly conversation: string;
  readonly local: boolean;
  /** Remotes on which it was seen: the mark takes nothing back. */
  readonly seen_on: readonly string[];
}

/** Marks a conversation as local, or takes the mark away. */
export async function setLocal(workspace: Workspace, id: string, isLocal: boolean): Promise<LocalReport> {
  const sharing = requireSharing(workspace);
  const conversation = conversationOf((await resolveId(workspace, id, ["branch"], { changes: true })).branch);
  await sharing.markLocal(conversation, isLocal);
  return { conversation, local: isLocal, seen_on: await listConversationRemotes(workspace, conversation) };
}

/** Remotes on which a conversation was seen. */
export async function listConversationRemotes(workspace: Workspace, conversation: string): Promise<readonly string[]> {
  const sharing = requireSharing(workspace);
  const seen: string[] = [];
  for (const { name } of await sharing.remotes()) {
    const tracked = await sharing.tracked(name);
    if (tracked.some((tip) => conversationOf(tip.name) === conversation)) seen.push(name);
  }
  return seen;
}

/** Ids of the local conversations, in order. */
export async function listLocal(workspace: Workspace): Promise<readonly string[]> {
  return [...(await requireSharing(workspace).localConversations())].sort();
}

/** Does something with a conversation that is local from before it begins: whoever is killed meanwhile has one that does not leave. */
export async function keepingLocal(
  workspace: Workspace,
  conversation: string,
  act: () => Promise<void>,
): Promise<void> {
  const sharing = requireSharing(workspace);
  const wasLocal = (await sharing.localConversations()).has(conversation);
  await sharing.markLocal(conversation, true);
  try {
    await act();
  } catch (error) {
    await sharing.markLocal(conversation, wasLocal);
    throw error;
  }
}

/** The error of what would send local conversations. */
export function localError(conversations: readonly string[]): Error {
  const [first = "", ...more] = [...new Set(conversations)];
  const names = [first, ...more].join(", ");
  return userError(
    "local_conversation",
    `${names} ${more.length === 0 ? "is" : "are"} local: nothing of it leaves this store.`,
    {
      hints: [`\`jpg local ${first} --off\` lets it be pushed.`],
      data: { conversations: [first, ...more] },
    },
  );
}
