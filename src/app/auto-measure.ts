// How large a branch's view is for the model that is sent it next: read and counted as planning does it.
import type { Config } from "../config/config.ts";
import { JpgError } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import { planReading } from "../core/hidden-turns.ts";
import { project } from "../core/projection.ts";
import { createTokenMeter } from "../core/tokens/token-meter.ts";
import type { BranchTree } from "./branch-tree.ts";
import { type LiveCompactions, loadCompactions, loadTurns } from "./load-view.ts";
import { conversationModel, modelFacts } from "./models.ts";
import type { Workspace } from "./workspace.ts";

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
}

/** Measures the view of a branch; null when the window is unknown. */
export async function measureView(
  workspace: Workspace,
  { tree, config }: { readonly tree: BranchTree; readonly config: Config },
  next: NextRequest,
): Promise<MeasuredView | null> {
  if (next.model !== null && next.window === null) return null;
  const live = await loadCompactions(workspace.store, tree);
  const turnCount = tree.turnOids.length;
  const turns = await loadTurns(workspace.store, tree, planReading(turnCount, live.applied));
  const model = next.model ?? conversationModel(turns.values());
  if (model === null) return null;
  const windowTokens = next.window ?? (await modelFacts(workspace, config, model).catch(factsOfNone)).contextWindow;
  if (windowTokens === null) return null;
  const meter = createTokenMeter(turns.values(), live.applied);
  const view = project({ turnCount, turns, compactions: live.applied });
  const openTokens = meter.countEvents(next.openEvents ?? []);
  const tokens = meter.countView(view, live.applied).tokens + openTokens;
  return { tokens, openTokens, windowTokens, model, live };
}

/** An agent's model need not be one that can be asked here: nothing is known of it then. */
function factsOfNone(error: unknown): { readonly contextWindow: null } {
  if (error instanceof JpgError) return { contextWindow: null };
  throw error;
}
