// Where a conversation stands between two messages of a chat: how long its view is, how much of the model's window it
// fills, how long ago it was compacted. Read and counted as planning does it, so that the numbers agree.
import { isWarningSize } from "../../core/compact/automatic.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { countMessages, countMessagesAfter, type MessageCount, sizeToSend } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { type NextModel, viewWindow } from "../models/view-window.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Counts of the view. */
export interface ChatStatus extends MessageCount {
  /** What the model would be sent, tokens, estimated. */
  readonly tokens: number;
  /** Context window of the model, tokens; null = unknown. */
  readonly window: number | null;
  /** Whether the view comes near the window (`conversation.compaction.auto.warning_ratio`). */
  readonly isNearlyFull: boolean;
  /** Whether it compacts on its own (`conversation.compaction.auto.enabled`). */
  readonly compactsItself: boolean;
  /** Messages since the newest compaction in force; null = there is none. */
  readonly sinceCompaction: number | null;
}

/** The status of a conversation that holds nothing yet. */
export function emptyStatus(window: number | null): ChatStatus {
  return {
    messages: 0,
    summaries: 0,
    tokens: 0,
    window,
    isNearlyFull: false,
    compactsItself: false,
    sinceCompaction: null,
  };
}

/** What is asked next. */
export interface NextAsked {
  /** Null = the model that answered last. */
  readonly model: NextModel | null;
  /** Tools that jpg offers it; null = the conversation's agent sends the request, not jpg. */
  readonly tools: readonly ToolDefinition[] | null;
}

/** Loads the status of a branch. */
export async function loadChatStatus(
  workspace: Workspace,
  tree: BranchTree,
  { model, tools }: NextAsked,
): Promise<ChatStatus> {
  const { config } = await loadConversationConfig(workspace, tree);
  const { auto } = config.conversation.compaction;
  const { view, live, turns, meter } = await loadCounted(workspace.store, tree);
  const window = (await viewWindow(workspace, config, { turns, meter, next: model }))?.tokens ?? null;
  const frame = tools === null ? null : { system: config.conversation.system_prompt, tools };
  const { tokens } = sizeToSend(meter, { view, compactions: live.applied }, frame);
  const newest = live.applied.at(-1);
  return {
    ...countMessages(view),
    tokens,
    window,
    isNearlyFull: window !== null && isWarningSize(tokens, window, auto),
    compactsItself: auto.enabled,
    sinceCompaction: newest === undefined ? null : countMessagesAfter(view, newest.timestamp),
  };
}
