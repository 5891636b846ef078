// The model that a chat talks to: chosen and opened before the first message, so that a missing key is said then.
import type { Config } from "../../config/config.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError, messageOf } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { chooseModel, chooseSummaryModel } from "../models/choose-model.ts";
import { lastModel } from "../models/last-model.ts";
import { type OpenedModel, openModel } from "../models/models.ts";
import { type AssumedModel, assumeModel } from "../models/only-key.ts";
import { rememberProvider } from "../workspace/remembered-providers.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Whoever is told which model is asked where nobody named one, and asked whether that is meant. */
export interface AssumptionVoice {
  say(text: string): void;
  /** `instead` = what answers it beforehand. Throws where nobody can be asked. */
  allow(question: { readonly text: string; readonly instead: string }): Promise<boolean>;
}

/** From what the model of a conversation is chosen. */
export interface ChatModelRequest {
  /** Null = the conversation is still to begin. */
  readonly tree: BranchTree | null;
  /** `--model`. */
  readonly named?: string | undefined;
  /** Without it nothing is assumed: a model has to be named. */
  readonly voice?: AssumptionVoice | undefined;
}

/**
 * Chooses the model for a conversation, or takes the one named, and makes sure that it can be asked. Throws `no_model`,
 * `model_not_named`, `no_key` and what else `openModel` throws.
 */
export async function openChatModel(workspace: Workspace, request: ChatModelRequest): Promise<OpenedModel> {
  return openModelFor(workspace, await configOf(workspace, request.tree), request);
}

/** The same with the settings at hand. */
export async function openModelFor(
  workspace: Workspace,
  config: Config,
  { tree, named, voice }: ChatModelRequest,
): Promise<OpenedModel> {
  const isNamed = named !== undefined || config.conversation.model !== "";
  const last = isNamed || tree === null ? null : await lastModel(workspace.store, tree);
  const isNew = tree === null || tree.turnOids.length === 0;
  const assumed = isNamed || voice === undefined ? null : assumeModel(workspace, config, { last, isNew });
  if (assumed !== null && voice !== undefined) {
    const isMeant = await settleAssumption(workspace, { assumed, last, tree }, voice);
    const opened = await openModel(workspace, config, assumed.name);
    return isMeant ? opened : { ...opened, isAssumed: true };
  }
  const name = await chooseModel(workspace, {
    config,
    conversationModel: last,
    ...defined({ flag: named }),
  });
  return openModel(workspace, config, name);
}

/**
 * Says which model is asked. Of a conversation that comes from elsewhere the user is asked first; a yes is remembered as
 * `--model` is. Gives whether they said so. Throws `model_not_named`.
 */
async function settleAssumption(
  workspace: Workspace,
  {
    assumed,
    last,
    tree,
  }: { readonly assumed: AssumedModel; readonly last: string | null } & Pick<ChatModelRequest, "tree">,
  voice: AssumptionVoice,
): Promise<boolean> {
  const { name, provider, setting } = assumed;
  if (!assumed.asks || tree === null) {
    voice.say(`Asking ${name}: ${setting} is the only key here. --model names another model.`);
    return false;
  }
  const from = last === null ? "It is not known which model answered" : `${last} answered last`;
  const text = `${from} in this conversation, and ${setting} is the only key here. Send it to ${name}?`;
  const instead = `--model ${shellWord(name)}`;
  if (!(await voice.allow({ text, instead })))
    throw new JpgError("config", "model_not_named", `This conversation was not sent to ${name}: you said no.`, {
      hints: [`\`${instead}\` sends it there after all; another name sends it elsewhere.`],
      data: { model: name },
    });
  try {
    await rememberProvider(workspace, conversationOf(tree.branch), provider);
  } catch (error) {
    voice.say(`${name} could not be remembered; name it again next time: ${messageOf(error)}`);
  }
  return true;
}

/** Who writes the summary of a `/compact`, and whether that is the chat's model for want of another. */
export interface ChatSummaryModel {
  /** `provider/model` in full, or `extractive`. */
  readonly name: string;
  readonly isChats: boolean;
}

/**
 * Chooses the model that writes the summary which the user asks for in a chat: as configured, else the chat's own, which is
 * sent the conversation anyway, also where nobody named it.
 */
export async function chatSummaryModel(
  workspace: Workspace,
  tree: BranchTree,
  { name }: OpenedModel,
): Promise<ChatSummaryModel> {
  const config = await configOf(workspace, tree);
  const chosen = await chooseSummaryModel(workspace, { config, chatModel: name });
  return { name: chosen, isChats: config.conversation.compaction.model === "" && chosen === name };
}

async function configOf(workspace: Workspace, tree: BranchTree | null): Promise<Config> {
  return (tree === null ? await workspace.config() : await loadConversationConfig(workspace, tree)).config;
}
