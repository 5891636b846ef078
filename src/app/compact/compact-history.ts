// Compacts the history of a chat: what is older than the newest messages becomes one summary, injected as a request. The
// plan is load → where it ends (pure) → `compact`; a preview stops before anything is asked of a model.
import { KEEP_RECENT, keepMessages, LEAST_MESSAGES } from "../../core/plan/keep-messages.ts";
import { countMessages } from "../../core/tokens/message-count.ts";
import type { ToolDefinition } from "../../llm/llm-client.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadView } from "../branch/load-view.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { compact } from "./compact.ts";

export interface HistoryRequest {
  /** Newest messages that stay, 0 or more; default 15. Whole turns stay, so it may be some more. */
  readonly keep?: number;
  /** Summary model as `provider/model`; absent = as configured, else jpg chooses. */
  readonly model?: string;
  /** Plan only: no model is asked, nothing is committed. */
  readonly preview: boolean;
  /** Tools that the chat's requests offer. */
  readonly tools?: readonly ToolDefinition[];
  /** Ends the writing of the summary: nothing is committed then. */
  readonly signal?: AbortSignal;
  /** Told what is going on, a line at a time; not safe for a terminal yet. */
  readonly progress?: (text: string) => void;
}

/** What came of it. */
export type HistoryOutcome =
  /** The view has fewer messages than are worth a summary. */
  | { readonly kind: "too_short"; readonly messages: number }
  /** Nothing older than what stays; `reason` says why, for people. */
  | { readonly kind: "nothing"; readonly reason: string }
  | {
      readonly kind: "compacted" | "planned";
      /** Messages that the summary stands for. */
      readonly messages: number;
      readonly report: CompactReport;
    };

/** Compacts, or plans it. Throws the errors of `compact`; nothing is committed then. */
export async function compactHistory(
  workspace: Workspace,
  tree: BranchTree,
  request: HistoryRequest,
): Promise<HistoryOutcome> {
  const { keep = KEEP_RECENT, model, preview, tools, signal, progress } = request;
  const { view } = await loadView(workspace.store, tree);
  const { messages } = countMessages(view);
  if (messages < LEAST_MESSAGES) return { kind: "too_short", messages };
  const to = keepMessages(view, keep);
  if (to === null) return { kind: "nothing", reason: `the newest ${keep} of ${messages} messages stay` };
  const report = await compact(workspace, tree, {
    range: { to },
    policies: { summary: { policy: "summarize" } },
    style: "concise",
    inject: "request",
    source: "manual",
    dryRun: preview,
    activate: true,
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(signal === undefined ? {} : { signal }),
    ...(progress === undefined ? {} : { progress }),
  });
  if (report.compaction === null) return { kind: "nothing", reason: report.reason ?? "nothing in the range changes" };
  const count = report.compaction.stats?.original_message_count ?? 0;
  return { kind: preview ? "planned" : "compacted", messages: count, report };
}
