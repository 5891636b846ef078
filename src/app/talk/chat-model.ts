// The model of a chat: chosen and opened before the first message, so that a missing key is reported then.
import { dirname, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { resolveUserPaths } from "../../config/trust.ts";
import { isWarningSize } from "../../core/compact/automatic.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { type Content, isUserRequest } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError, messageOf } from "../../core/errors.ts";
import { countMessages, countMessagesAfter, type MessageCount, sizeToSend } from "../../core/model/token-meter.ts";
import { shellWord } from "../../core/safe-text.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { loadCounted } from "../conversation/counted-view.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { inlineEvents } from "../conversation/turns.ts";
import { loadTurns } from "../conversation/view.ts";
import { readIfExists, rememberProvider, type Workspace } from "../conversation/workspace.ts";
import { type AssumedModel, assumeModel, chooseModel, chooseSummaryModel, lastModel } from "../models/choose-model.ts";
import { type NextModel, type OpenedModel, openModel, viewWindow } from "../models/models.ts";

/** Tells the user which model is assumed because nobody named one, and asks for permission. */
export interface AssumptionVoice {
  say(text: string): void;
  /** `instead` = the command that answers it beforehand. Throws if nobody can be asked. */
  allow(question: { readonly text: string; readonly instead: string }): Promise<boolean>;
}

interface ChatModelRequest {
  /** Null = a new conversation. */
  readonly tree: BranchTree | null;
  /** `--model`. */
  readonly named?: string | undefined;
  /** Without it nothing is assumed: a model has to be named. */
  readonly voice?: AssumptionVoice | undefined;
}

/**
 * Chooses the model of a conversation, or takes the one named, and checks that it can be asked. Throws `no_model`,
 * `model_not_named`, `no_key` and as `openModel` does.
 */
export async function openChatModel(workspace: Workspace, request: ChatModelRequest): Promise<OpenedModel> {
  return openModelFor(workspace, await configOf(workspace, request.tree), request);
}

/** Like openChatModel, with settings that are loaded. */
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
    flag: named,
  });
  return openModel(workspace, config, name);
}

/**
 * Reports the assumed model. For a conversation from elsewhere, asks the user first and records a yes like `--model`. Returns
 * whether the user was asked and agreed. Throws `model_not_named`.
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

/** The writer of the summary of a `/compact`, and whether it is the chat's model, because no other is named. */
export interface ChatSummaryModel {
  /** `provider/model` in full, or `extractive`. */
  readonly name: string;
  /** Whether it is the chat's own model, because no model for summaries is configured. */
  readonly isChatModel: boolean;
}

/**
 * Chooses the writer of a summary that the user asks for in a chat: as configured, else the chat's own model, even if it was
 * assumed: it is sent the conversation anyway.
 */
export async function chatSummaryModel(
  workspace: Workspace,
  tree: BranchTree,
  { name }: OpenedModel,
): Promise<ChatSummaryModel> {
  const config = await configOf(workspace, tree);
  const chosen = await chooseSummaryModel(workspace, { config, chatModel: name });
  return { name: chosen, isChatModel: config.conversation.compaction.model === "" && chosen === name };
}

async function configOf(workspace: Workspace, tree: BranchTree | null): Promise<Config> {
  return (tree === null ? await workspace.config() : await loadConversationConfig(workspace, tree)).config;
}

// The status of a conversation between two messages of a chat: the size of its view, the share of the model's window, the messages
// since its last compaction. Counted as for planning, so that the numbers agree.

export interface ChatStatus extends MessageCount {
  /** Estimated tokens that the model would be sent. */
  readonly tokens: number;
  /** Context window of the model, tokens; null = unknown. */
  readonly window: number | null;
  /** Whether the view comes near the window (`conversation.compaction.auto.warning_ratio`). */
  readonly isNearlyFull: boolean;
  /** Whether it compacts automatically (`conversation.compaction.auto.enabled`). */
  readonly compactsItself: boolean;
  /** Messages since the newest compaction in force; null = there is none. */
  readonly sinceCompaction: number | null;
}

/** The status of an empty conversation. */
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

/** What the next request has. */
interface NextAsked {
  /** Null = the model that answered last. */
  readonly model: NextModel | null;
  /** Tools that jpg offers; null = the conversation's agent sends the request, not jpg. */
  readonly tools: readonly ToolDefinition[] | null;
}

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

/** The request that begins the newest turn. */
interface LastRequest {
  readonly content: Content;
  /** Position of its turn, 0-based. */
  readonly turn: number;
}

/** Loads it; null where the newest turn has no request of a person. Throws `attachment_missing`. */
export async function loadLastRequest({ store }: Workspace, tree: BranchTree): Promise<LastRequest | null> {
  const turn = tree.turnOids.length - 1;
  const events = turn < 0 ? [] : ((await loadTurns(store, tree, [turn])).get(turn)?.events ?? []);
  const request = events.find(isUserRequest);
  if (request === undefined) return null;
  const [whole] = await inlineEvents(store, tree.commit, [request]);
  return whole?.type === "chat_request" ? { content: whole.content, turn } : null;
}

// The history of messages that the user typed in chats: a private file (0600) in the state folder, one JSON text per line, newest
// last, of bounded length. A message that begins with a space is not kept, as in shells.

const MAX_MESSAGES = 500;
/** Characters of the longest message that is kept: a longer one was pasted. */
const MAX_MESSAGE_CHARACTERS = 10_000;

type User = Pick<Runtime, "env" | "home" | "platform">;

/** Reads them, newest first; skips damaged lines. Throws `unreadable_file`. */
export async function readTypedMessages(user: User): Promise<readonly string[]> {
  return (await readLines(user)).flatMap((line) => parseLine(line) ?? []).reverse();
}

/** Adds a message; if two chats add one at once, one of them may be lost. Throws as the file system does. */
export async function keepTypedMessage(user: User, text: string): Promise<void> {
  if (text.startsWith(" ") || text.trim() === "" || text.length > MAX_MESSAGE_CHARACTERS) return;
  const lines = [...(await readLines(user)), JSON.stringify(text)].slice(-MAX_MESSAGES);
  const path = fileOf(user);
  makeFolders(dirname(path));
  await replaceFile(path, `${lines.join("\n")}\n`, { mode: 0o600 });
}

async function readLines(user: User): Promise<readonly string[]> {
  return ((await readIfExists(fileOf(user))) ?? "").split("\n").filter((line) => line !== "");
}

function fileOf(user: User): string {
  return join(resolveUserPaths(user).stateDir, "chat-history.jsonl");
}

function parseLine(line: string): string | null {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}
