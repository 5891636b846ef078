// How large a branch's view is for the model that is sent it next: read and counted as planning does it.
import type { Config } from "../../config/config.ts";
import { JpgError } from "../../core/errors.ts";
import type { Event } from "../../core/event/event.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { LiveCompactions } from "../branch/load-view.ts";
import { loadMetered, type MeteredView } from "../branch/token-report.ts";
import { conversationModel, modelFacts } from "../models/models.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A view measured against a window. Tokens, estimated. */
export interface MeasuredView {
  /** All that the model is sent next, the open turn included. */
  readonly tokens: number;
  /** The open turn alone. */
  readonly openTokens: number;
  readonly windowTokens: number;
  /** The model that the window is of. */
  readonly model: string;
  readonly live: LiveCompactions;
}

/** What is known of the next request. */
export interface NextRequest {
  /** Null = to the model that answered last. */
  readonly model: string | null;
  /** Null = unknown; looked up where no model is given. */
  readonly window: number | null;
  readonly openEvents?: readonly Event[];
  /** Loads the view, where the caller asks again and again of a branch that stands still; absent = from the store. */
  readonly load?: (tree: BranchTree) => Promise<MeteredView>;
}

/** Measures the view of a branch; null when the window is unknown. */
export async function measureView(
  workspace: Workspace,
  { tree, config }: { readonly tree: BranchTree; readonly config: Config },
  next: NextRequest,
): Promise<MeasuredView | null> {
  if (next.model !== null && next.window === null) return null;
  const load = next.load ?? ((at: BranchTree) => loadMetered(workspace.store, at));
  const { view, live, turns, meter } = await load(tree);
  const model = next.model ?? conversationModel(turns.values());
  if (model === null) return null;
  const windowTokens = next.window ?? (await modelFacts(workspace, config, model).catch(factsOfNone)).contextWindow;
  if (windowTokens === null) return null;
  const openTokens = meter.countEvents(next.openEvents ?? []);
  const tokens = meter.countView(view, live.applied).tokens + openTokens;
  return { tokens, openTokens, windowTokens, model, live };
}

/** An agent's model need not be one that can be asked here: nothing is known of it then. */
function factsOfNone(error: unknown): { readonly contextWindow: null } {
  if (error instanceof JpgError) return { contextWindow: null };
  throw error;
}
