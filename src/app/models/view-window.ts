// The context window that a view is held against: the one place that decides it, for every command.
import type { Config } from "../../config/config.ts";
import { defined } from "../../core/json.ts";
import { decideWindow, type KnownWindow } from "../../core/model/token-meter.ts";
import type { CountedView } from "../branch/counted-view.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { conversationModel, type ModelFacts, recordedFacts } from "./models.ts";

/** A model and its window. */
export interface ViewWindow {
  /** `provider/model`. */
  readonly model: string;
  /** Tokens that can be sent; null = unknown. */
  readonly tokens: number | null;
}

/** A model that is asked next, with what is known of it. */
export interface NextModel {
  /** `provider/model`. */
  readonly name: string;
  readonly facts: Pick<ModelFacts, "contextWindow" | "setWindow">;
}

type Measured = Pick<CountedView, "turns" | "meter">;

/** Finds the window of the model that is asked next, else of the one that answered last; null where none did. */
export async function viewWindow(
  workspace: Workspace,
  config: Config,
  { turns, meter, next }: Measured & { readonly next: NextModel | null },
): Promise<ViewWindow | null> {
  const model = next?.name ?? conversationModel(turns.values());
  if (model === null) return null;
  const facts = next?.facts ?? (await recordedFacts(workspace, config, splitName(model)));
  return { model, tokens: decideWindow(knownWindow(facts), meter.windowOf(model)) };
}

function splitName(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

function knownWindow({ contextWindow, setWindow }: NextModel["facts"]): KnownWindow {
  return { published: contextWindow, ...defined({ set: setWindow }) };
}
