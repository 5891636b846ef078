// Measures a branch's view against the window of the model that is asked next.
import type { Config } from "../../config/config.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { Event, Turn } from "../../core/conversation/event.ts";
import { sizeToSend } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type CountedView, loadCounted } from "../branch/counted-view.ts";
import type { LiveCompactions } from "../branch/load-view.ts";
import { conversationModel } from "../models/models.ts";
import { type NextModel, viewWindow } from "../models/view-window.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A view measured against a window. Tokens, estimated. */
export interface MeasuredView {
  /** All that the model is sent next, the open turn included. */
  readonly tokens: number;
  /** What no compaction reaches of it: system prompt and tools. */
  readonly overhead: number;
  /** The open turn alone. */
  readonly openTokens: number;
  /** What planning counts of the view beyond `tokens`, or short of it where negative: what its agent sends in front of it. */
  readonly uncounted: number;
  readonly windowTokens: number;
  /** The model that the window is of. */
  readonly model: string;
  readonly live: LiveCompactions;
  /** Id of the last event of the branch's newest turn. */
  readonly lastEvent: string | undefined;
}

/** What is known of the next request. */
export interface NextRequest {
  /** Null = to the model that answered last. */
  readonly model: string | null;
  /** Null = unknown; looked up where no model is given. */
  readonly window: number | null;
  /** Whether the user set it: then nothing that the session says of a larger one counts. */
  readonly isWindowSet?: boolean;
  readonly openEvents?: readonly Event[];
  /** Tools that jpg offers in it; absent = the conversation's agent sends it, not jpg. */
  readonly tools?: readonly ToolDefinition[];
  /** Loads the view, where the caller asks again and again of a branch that stands still; absent = from the store. */
  readonly load?: (tree: BranchTree) => Promise<CountedView>;
}

/** Measures the view of a branch; null when the window is unknown. */
export async function measureView(
  workspace: Workspace,
  { tree, config }: { readonly tree: BranchTree; readonly config: Config },
  next: NextRequest,
): Promise<MeasuredView | null> {
  const load = next.load ?? ((at: BranchTree) => loadCounted(workspace.store, at));
  const { view, live, turns, meter } = await load(tree);
  const window = await viewWindow(workspace, config, { turns, meter, next: namedModel(next, turns.values()) });
  if (window === null || window.tokens === null) return null;
  const openTokens = meter.countEvents(next.openEvents ?? []);
  const frame = next.tools === undefined ? null : { system: config.conversation.system_prompt, tools: next.tools };
  const sent = sizeToSend(meter, { view, compactions: live.applied }, frame);
  const lastEvent = turns.get(tree.turnOids.length - 1)?.events.at(-1)?.id;
  return {
    tokens: sent.tokens + openTokens,
    overhead: sent.overhead,
    openTokens,
    uncounted: meter.overheadUnder(live.applied) - sent.overhead,
    windowTokens: window.tokens,
    model: window.model,
    live,
    lastEvent,
  };
}

/** The model that is asked next, with the window that the caller knows; null = both are looked up. */
function namedModel({ model, window, isWindowSet }: NextRequest, turns: Iterable<Turn>): NextModel | null {
  if (model === null && window === null) return null;
  const name = model ?? conversationModel(turns);
  const set = isWindowSet === true && window !== null ? { setWindow: window } : {};
  return name === null ? null : { name, facts: { contextWindow: window, ...set } };
}
