// The model that a chat talks to: chosen and opened before the first message, so that a missing key is said then.
import type { Config } from "../../config/config.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { chooseModel, chooseSummaryModel } from "../models/choose-model.ts";
import { lastModel } from "../models/last-model.ts";
import { type OpenedModel, openModel } from "../models/models.ts";
import type { Workspace } from "../workspace/workspace.ts";

/**
 * Chooses the model for a conversation (null = one that is still to begin), or takes the one named, and makes sure that it
 * can be asked. Throws `no_model`, `model_not_named`, `no_key` and what else `openModel` throws.
 */
export async function openChatModel(
  workspace: Workspace,
  tree: BranchTree | null,
  named?: string,
): Promise<OpenedModel> {
  return openModelFor(workspace, { config: await configOf(workspace, tree), tree, named });
}

/** The same with the settings at hand. */
export async function openModelFor(
  workspace: Workspace,
  {
    config,
    tree,
    named,
  }: { readonly config: Config; readonly tree: BranchTree | null; readonly named: string | undefined },
): Promise<OpenedModel> {
  const isNamed = named !== undefined || config.conversation.model !== "";
  const last = isNamed || tree === null ? null : await lastModel(workspace.store, tree);
  const name = await chooseModel(workspace, {
    config,
    conversationModel: last,
    ...(named === undefined ? {} : { flag: named }),
  });
  return openModel(workspace, config, name);
}

/** Chooses the model that writes summaries in a chat with a model: as configured, else the cheap one of its provider. */
export async function chatSummaryModel(workspace: Workspace, tree: BranchTree, { name }: OpenedModel): Promise<string> {
  return chooseSummaryModel(workspace, { config: await configOf(workspace, tree), answering: name });
}

async function configOf(workspace: Workspace, tree: BranchTree | null): Promise<Config> {
  return (tree === null ? await workspace.config() : await loadConversationConfig(workspace, tree)).config;
}
