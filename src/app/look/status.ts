// The status of this directory: the active conversation, the number of all, and the sessions that agents keep for this project.
// Creates nothing.
import { conversationOf } from "../../core/conversation/name.ts";
import type { ConversationFacts } from "../conversation/tip-cache.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { describeRemotes, preferredBranch } from "../names/conversations.ts";
import { findAgentSessions } from "../sessions/kept-files.ts";
import { knownFacts } from "./list.ts";

/** What `jpg` alone prints. */
export interface StatusReport {
  /** Absolute path of the store; null when there is none yet. */
  readonly store: string | null;
  /** The conversation that `@` names; null when there is none. */
  readonly active: (ConversationFacts & { readonly branch: string }) | null;
  readonly conversations: number;
  /** What remotes have while the store is empty, and what to type; absent if they have nothing, or the store does. */
  readonly elsewhere?: string;
  /** Number of session files of this project by agent, imported ones included; without agents that have none. */
  readonly sessions: readonly { readonly agent: string; readonly count: number }[];
}

/** Reads the status. Throws the errors of a damaged conversation. */
export async function readStatus(workspace: Workspace): Promise<StatusReport> {
  const { store, location } = workspace;
  const [{ files }, branches, preferred] = await Promise.all([
    findAgentSessions(workspace),
    store.listBranches(),
    preferredBranch(workspace),
  ]);
  const tip = branches.find(({ name }) => name === preferred);
  const elsewhere = branches.length > 0 ? null : await describeRemotes(workspace);
  const counts = new Map<string, number>();
  for (const { agent } of files) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  return {
    store: location.exists ? location.root : null,
    active: tip === undefined ? null : { branch: tip.name, ...(await knownFacts(workspace, tip)) },
    conversations: new Set(branches.map(({ name }) => conversationOf(name))).size,
    ...(elsewhere === null ? {} : { elsewhere }),
    sessions: [...counts].map(([agent, count]) => ({ agent, count })),
  };
}
