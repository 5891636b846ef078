// The status of this directory: the active conversation, the number of all, and what an import would bring in. Creates nothing.
import { statSync } from "node:fs";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip } from "../../store/store.ts";
import { countProgress } from "../conversation/progress.ts";
import type { ConversationFacts } from "../conversation/tip-cache.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { createSessionStates } from "../import/session-state.ts";
import { createFactsReader, type FactsReader } from "../look/facts.ts";
import { describeRemotes, preferredBranch } from "../names/conversations.ts";
import { shortNamesAmong } from "../names/short-names.ts";
import { findAgentSessions } from "../sessions/kept-files.ts";
import { type ExpiringSessions, findExpiring } from "./expiry.ts";

/** What `jpg` alone prints. */
export interface StatusReport {
  /** Absolute path of the store; null when there is none yet. */
  readonly store: string | null;
  /** The conversation that `@` names; null when there is none. */
  readonly active: (ConversationFacts & { readonly branch: string }) | null;
  /** The conversation in which somebody spoke last, if it is not the active one; absent = it is, or there is none. */
  readonly newest?: {
    readonly branch: string;
    /** What a person types for it. */
    readonly name: string;
    readonly title: string;
    readonly updated_at: string;
  };
  readonly conversations: number;
  /** What remotes have while the store is empty, and what to type; absent if they have nothing, or the store does. */
  readonly elsewhere?: string;
  /** Session files of this project by agent, imported ones included; without agents that have none. */
  readonly sessions: readonly AgentSessions[];
  /** Sessions that the store lacks, wholly or in part, and that their agents will delete; absent = none. */
  readonly expiring?: readonly ExpiringSessions[];
}

export interface AgentSessions {
  readonly agent: string;
  /** All of them, those that jpg wrote included. */
  readonly count: number;
  /** Number of which the store has nothing. */
  readonly new: number;
  /** Number of those that have more than the store. */
  readonly grown: number;
}

/** Reads the status. Throws the errors of a damaged conversation. */
export async function readStatus(workspace: Workspace): Promise<StatusReport> {
  const { store, location } = workspace;
  const [{ files }, branches, preferred] = await Promise.all([
    findAgentSessions(workspace),
    store.listBranches(),
    preferredBranch(workspace),
  ]);
  const reader = await createFactsReader(workspace);
  const tip = branches.find(({ name }) => name === preferred);
  const elsewhere = branches.length > 0 ? null : await describeRemotes(workspace);
  const stateOf = await createSessionStates(workspace);
  const counts = new Map<string, AgentSessions>();
  const missing: { agent: string; changedMs: number }[] = [];
  for (const file of countProgress(workspace, "comparing sessions", files)) {
    const { agent } = file;
    const { state } = await stateOf(file);
    const counted = counts.get(agent) ?? { agent, count: 0, new: 0, grown: 0 };
    const isMissing = state === "new" || state === "grown";
    counts.set(agent, { ...counted, count: counted.count + 1, ...(isMissing && { [state]: counted[state] + 1 }) });
    const changedMs = isMissing ? statSync(file.path, { throwIfNoEntry: false })?.mtimeMs : undefined;
    if (changedMs !== undefined) missing.push({ agent, changedMs });
  }
  // Another conversation that cannot be read hides nothing of the active one; `jpg ls` names it.
  const newest = await readNewest(workspace, { branches, tip, reader }).catch((error: unknown) => {
    if (error instanceof JpgError) return null;
    throw error;
  });
  const expiring = findExpiring(workspace.runtime, missing);
  return {
    store: location.exists ? location.root : null,
    active: tip === undefined ? null : { branch: tip.name, ...(await reader.read(tip)) },
    ...(newest === null ? {} : { newest }),
    conversations: new Set(branches.map(({ name }) => conversationOf(name))).size,
    ...(elsewhere === null ? {} : { elsewhere }),
    sessions: [...counts.values()],
    ...(expiring.length === 0 ? {} : { expiring }),
  };
}

/** Tips that are read, at most, to find one that is no sub-agent's. */
const MOST_READ = 20;

/** The conversation with the newest message, sub-agents' left out; null if that is the active one. */
async function readNewest(
  { store }: Workspace,
  {
    branches,
    tip: active,
    reader,
  }: { readonly branches: readonly BranchTip[]; readonly tip: BranchTip | undefined; readonly reader: FactsReader },
): Promise<StatusReport["newest"] | null> {
  // Asking a store that is not made yet would make it.
  if (branches.length === 0) return null;
  const times = await store.readCommitTimes(branches.map(({ commit }) => commit));
  const dated = branches.map((tip, at) => ({ tip, time: times[at] ?? 0 })).sort((a, b) => b.time - a.time);
  let newest = active === undefined ? null : { branch: active.name, ...(await reader.read(active)) };
  for (const { tip, time } of dated.slice(0, MOST_READ)) {
    // No message is newer than its commit.
    if (newest !== null && (time + 1) * 1000 <= Date.parse(newest.updated_at)) break;
    const facts = await reader.read(tip);
    const isNewer = newest === null || facts.updated_at > newest.updated_at;
    if (isNewer && facts.parent?.kind !== "agent" && facts.archived !== true) newest = { branch: tip.name, ...facts };
  }
  if (newest === null || (active !== undefined && conversationOf(newest.branch) === conversationOf(active.name)))
    return null;
  const { branch, title, updated_at } = newest;
  const name = shortNamesAmong(branches.map((tip) => tip.name))(branch);
  return { branch, name, title, updated_at };
}
