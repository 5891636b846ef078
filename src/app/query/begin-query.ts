// Everything that a turn needs before the model is asked, at once where it can be: the view is read while the settings are,
// the model is opened, tools are started and the journal is begun. What fails here leaves nothing behind but the text of the request.
import type { Config, RecordedTool } from "../../config/config.ts";
import { type ConversationConfig, loadConversationConfig, withTools } from "../branch/conversation-config.ts";
import { keepUnsent, unsentHints, withHints } from "../journal/unsent-request.ts";
import type { OpenedModel } from "../models/models.ts";
import { NO_TOOLS, type ToolBox } from "../programs/tool-box.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openModelFor } from "./chat-model.ts";
import { loadStart, type OpenTurn, openTurn, type Start } from "./open-turn.ts";
import type { QueryRequest, ToolOpening } from "./query-request.ts";

/** A turn that is about to be talked. */
export interface BegunQuery {
  readonly turn: OpenTurn;
  readonly opened: OpenedModel;
  readonly config: Config;
  /** The tools that the conversation's newest requests offered; null = not recorded. */
  readonly recorded: readonly RecordedTool[] | null;
  /** To be closed unless they are the request's own. */
  readonly tools: ToolBox;
}

/** Begins a turn. Throws `turn_open`, and what opening the model, the tools and the journal throws. */
export async function beginQuery(workspace: Workspace, branch: string, request: QueryRequest): Promise<BegunQuery> {
  try {
    const start = await loadStart(workspace, branch, request);
    const begin = (): Promise<OpenTurn> => openTurn(workspace, start, request.content);
    // First of all, because it starts reading the view.
    const beginning = workspace.location.exists ? begin() : null;
    const loading = loadSettings(workspace, start);
    const opening = loading.then(({ config }) => chooseAndOpen(workspace, start, { ...request, config }));
    const [loaded, opened, tools, turn] = await Promise.allSettled([
      loading,
      opening,
      loading.then(({ config }) => openTools(request, { config, model: opening })),
      // A store is not made for a model that cannot be asked.
      beginning ?? opening.then(begin),
    ]);
    if (isDone(loaded) && isDone(opened) && isDone(tools) && isDone(turn)) {
      const { config, tools: recorded } = loaded.value;
      return { turn: turn.value, opened: opened.value, tools: tools.value, config, recorded };
    }
    if (isDone(turn)) await turn.value.journal.remove();
    if (isDone(tools) && request.tools === undefined) await tools.value.close();
    throw reasonOf([loaded, opened, turn, tools]);
  } catch (error) {
    const unsent = await keepUnsent(workspace.store, request.content);
    throw withHints(error, unsentHints(unsent, request.root !== undefined));
  }
}

async function loadSettings(workspace: Workspace, start: Start): Promise<ConversationConfig> {
  if ("tree" in start) return loadConversationConfig(workspace, start.tree);
  return withTools(await workspace.config(), null);
}

function isDone<Value>(result: PromiseSettledResult<Value>): result is PromiseFulfilledResult<Value> {
  return result.status === "fulfilled";
}

/** The first failure, in the order of what the user can do about it. */
function reasonOf(results: readonly PromiseSettledResult<unknown>[]): unknown {
  return results.find((result) => result.status === "rejected")?.reason;
}

async function openTools({ tools, openTools: open }: QueryRequest, opening: ToolOpening): Promise<ToolBox> {
  return tools ?? (await open?.(opening)) ?? NO_TOOLS;
}

async function chooseAndOpen(
  workspace: Workspace,
  start: Start,
  { config, model, opened, voice }: Pick<QueryRequest, "model" | "opened" | "voice"> & { readonly config: Config },
): Promise<OpenedModel> {
  const tree = "tree" in start ? start.tree : null;
  return opened ?? openModelFor(workspace, config, { tree, named: model, voice });
}
