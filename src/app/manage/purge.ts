// Takes a conversation away for good, in one step: what `jpg rm` and `jpg rm --purge` do one after the other. What remotes have
// is named, since no purge reaches it.
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { TrashedBranch } from "../../store/store.ts";
import { listConversationRemotes } from "../share/local.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { chooseBranches, listRemoved, planPurge, purgeRemoved, removeConversation } from "./trash.ts";

/** What a purge takes. */
export interface PurgePlan {
  readonly id: string;
  readonly conversation: string;
  /** Branches that stand: they go through the trash. */
  readonly standing: readonly string[];
  /** What is in the trash already, of the same conversation or fork. */
  readonly trashed: readonly TrashedBranch[];
  /** Remotes on which the conversation was seen: what is there stays. */
  readonly seen_on: readonly string[];
}

export interface PurgeReport {
  readonly conversation: string;
  /** Ordered, each once. */
  readonly purged: readonly string[];
  /** How many objects went; what other conversations share stays. */
  readonly objects: number;
  readonly seen_on: readonly string[];
}

/** Finds what an id names, among what stands, else in the trash. Throws `unknown_id`, `ambiguous_id`, `needs_git`. */
export async function planConversationPurge(workspace: Workspace, id: string): Promise<PurgePlan> {
  const found = await chooseBranches(workspace, id).catch((error: unknown) => unknown(error));
  if (found instanceof JpgError) {
    const trashed = await planPurge(workspace, id).catch((error: unknown) => {
      throw error instanceof JpgError && error.code === "not_removed" ? found : error;
    });
    return describe(workspace, { id, conversation: conversationOf(trashed[0]?.branch ?? id), standing: [], trashed });
  }
  const { conversation, isFork, chosen } = found;
  const standing = chosen.map(({ name }) => name);
  const trashed = (await listRemoved(workspace)).filter(({ branch }) =>
    isFork ? standing.includes(branch) : conversationOf(branch) === conversation,
  );
  return describe(workspace, { id, conversation, standing, trashed });
}

/** Lists the branches of a plan, ordered, each once. */
export function branchesOf({ standing, trashed }: Pick<PurgePlan, "standing" | "trashed">): readonly string[] {
  return [...new Set([...standing, ...trashed.map(({ branch }) => branch)])].sort();
}

/** Takes it away. Throws what `removeConversation` throws, and changes nothing then. */
export async function purgeConversation(workspace: Workspace, plan: PurgePlan): Promise<PurgeReport> {
  const removed = plan.standing.length === 0 ? [] : (await removeConversation(workspace, plan.id)).removed;
  const objects = await purgeRemoved(workspace, [...removed, ...plan.trashed]);
  return { conversation: plan.conversation, purged: branchesOf(plan), objects, seen_on: plan.seen_on };
}

async function describe(workspace: Workspace, plan: Omit<PurgePlan, "seen_on">): Promise<PurgePlan> {
  return { ...plan, seen_on: await listConversationRemotes(workspace, plan.conversation) };
}

/** What is not among the branches may be in the trash; whatever else is wrong is thrown on. */
function unknown(error: unknown): JpgError {
  if (error instanceof JpgError && (error.code === "unknown_id" || error.code === "no_conversation")) return error;
  throw error;
}
