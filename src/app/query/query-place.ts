// Where a query is asked: the active conversation, a fork of it, or a new one; compacted first when that was asked for.
import { userError } from "../../core/errors.ts";
import { type BranchTree, loadBranchTree, loadTip } from "../branch/branch-tree.ts";
import { withHints } from "../journal/unsent-request.ts";
import { asAnswering, type OpenedModel } from "../models/models.ts";
import { activeBranch } from "../names/conversations.ts";
import { type NewConversation, newConversation } from "../names/new-conversation.ts";
import { resolveWhole } from "../names/resolve-id.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AssumptionVoice, openChatModel } from "./chat-model.ts";

export interface QueryPlaceRequest {
  /** Text of the request, for the name of a new conversation. */
  readonly text: string;
  /** Begin a conversation. */
  readonly isNew: boolean;
  /** Fork first, and make the fork active: with all turns, or with the last N in its view. */
  readonly fork?: true | number;
  /** Compact first: with the default profile, or with this one. */
  readonly compact?: true | string;
  readonly model?: string;
  readonly voice?: AssumptionVoice;
  readonly signal: AbortSignal;
}

/** Where to ask, and what was done to get there. */
export interface QueryPlace extends Partial<Pick<NewConversation, "root">> {
  readonly branch: string;
  /** As it stands; absent where it does not exist yet, and where it was compacted since. */
  readonly tree?: BranchTree;
  /** Opened already where something was written: a model that cannot be asked is said before. */
  readonly opened?: OpenedModel;
  readonly forked: boolean;
  readonly compaction: CompactReport | null;
}

/**
 * Finds the place, forking and compacting on the way. A store without conversations begins one. Throws `nothing_to_fork`,
 * `no_conversation`, and the errors of opening the model, forking and compacting.
 */
export async function findQueryPlace(workspace: Workspace, request: QueryPlaceRequest): Promise<QueryPlace> {
  const plain = { forked: false, compaction: null };
  if (request.isNew || (await hasNoConversation(workspace))) {
    if (request.fork !== undefined) {
      throw userError("nothing_to_fork", "There is no conversation to fork yet.", { hints: ["Leave out --fork."] });
    }
    return { ...plain, ...(await newConversation(workspace, request.text)) };
  }
  const active = await resolveWhole(workspace);
  if (request.fork === undefined && request.compact === undefined)
    return { ...plain, branch: active.branch, tree: active };
  const opened = await openChatModel(workspace, { tree: active, named: request.model, voice: request.voice });
  const tree = request.fork === undefined ? active : await forkOff(workspace, active, request.fork);
  const compaction = request.compact === undefined ? null : await compactFirst(workspace, tree, { ...request, opened });
  const isOnFork = compaction?.activated !== undefined && compaction.commit !== null;
  const stays = compaction === null ? { tree } : {};
  return {
    branch: compaction?.branch ?? tree.branch,
    ...stays,
    opened,
    forked: request.fork !== undefined || isOnFork,
    compaction,
  };
}

async function hasNoConversation(workspace: Workspace): Promise<boolean> {
  const { store } = workspace;
  const active = await activeBranch(workspace);
  if (active !== null && (await store.readBranch(active)) !== null) return false;
  return (await store.listBranches()).length === 0;
}

async function forkOff(workspace: Workspace, tree: BranchTree, fork: true | number): Promise<BranchTree> {
  const { forkConversation } = await import("../manage/fork.ts");
  const { branch } = await forkConversation(workspace, tree, {
    activate: true,
    ...(fork === true ? {} : { last: fork }),
  });
  return (await loadTip(workspace.store, branch)) ?? loadBranchTree(workspace.store, branch, tree.commit);
}

/** The same as `jpg compact`. */
async function compactFirst(
  workspace: Workspace,
  tree: BranchTree,
  request: QueryPlaceRequest & { readonly opened: OpenedModel },
): Promise<CompactReport> {
  const { compact } = await import("../compact/compact.ts");
  const { compact: profile, fork, signal, opened } = request;
  try {
    return await compact(workspace, tree, {
      range: {},
      dryRun: false,
      activate: true,
      signal,
      ...asAnswering(opened),
      ...(fork === undefined ? {} : { fork: false }),
      ...(typeof profile === "string" ? { profile } : {}),
    });
  } catch (error) {
    if (fork === undefined) throw error;
    throw withHints(error, [
      `The fork ${tree.branch} was made and is active, but not compacted; \`jpg query …\` asks on it.`,
    ]);
  }
}
