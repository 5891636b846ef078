// Asks a model in a conversation: loads, talks with a journal, and commits once at the end of the turn. An interrupted turn keeps
// what had arrived, marked; if the model said nothing, the conversation does not change.
import type { Config, RecordedTool } from "../../config/config.ts";
import { parseOverride } from "../../config/load.ts";
import { isWarningSize } from "../../core/compact/automatic.ts";
import type { Content } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { messageOf, userError } from "../../core/errors.ts";
import type { Usage } from "../../core/model/usage.ts";
import type { StopReason } from "../../llm/client.ts";
import { type AutoSituation, autoCompact } from "../compact/auto.ts";
import { compact } from "../compact/compact.ts";
import type { CompactReport } from "../compact/compact-report.ts";
import { prepareSignatures, type Signatures } from "../conversation/append.ts";
import { createCountedLoader, loadCounted } from "../conversation/counted-view.ts";
import { type ConversationConfig, loadConversationConfig } from "../conversation/marks.ts";
import { recoverTurns, saveUnsent, unsentHints, withHints } from "../conversation/record-turn.ts";
import { type BranchTree, type ConversationHeader, loadBranchTree, loadTip } from "../conversation/tree.ts";
import { isRecordOf } from "../conversation/view.ts";
import { rememberProvider, type Workspace } from "../conversation/workspace.ts";
import { forkConversation } from "../manage/fork.ts";
import { asAnswering, type OpenedModel } from "../models/models.ts";
import { NO_TOOLS, type ToolBox } from "../models/tool-box.ts";
import { activeBranch, type NewConversation, newConversation } from "../names/conversations.ts";
import { resolveWhole } from "../names/resolve-id.ts";
import { type AssumptionVoice, openChatModel, openModelFor } from "./chat-model.ts";
import { loadStart, type OpenTurn, openTurn, type Start } from "./open-turn.ts";
import { failTurn, messagesOf, type SettledTurn, settleTurn } from "./settle-turn.ts";
import { type TalkEnd, type TalkObserver, talk } from "./talk.ts";

export type QueryObserver = TalkObserver;

export interface QueryReport {
  readonly conversation: string;
  /** Another one than requested if another process added a turn there meanwhile: then a new fork. */
  readonly branch: string;
  /** Position of the turn, 0-based; null when it was interrupted before the model said anything: then there is none. */
  readonly turn: number | null;
  /** Null as for `turn`. */
  readonly commit: string | null;
  /** `provider/model`. */
  readonly model: string;
  /** The messages of the turn, as shown. */
  readonly text: string;
  readonly stop: StopReason;
  readonly interrupted: boolean;
  /** Of all requests of the turn; null when the provider counted none. */
  readonly usage: Usage | null;
  /** US dollars; null = unknown. */
  readonly price: number | null;
  /** Tokens of the view with this turn, and of the model's window; null = unknown. */
  readonly tokens: { readonly view: number; readonly window: number | null };
  /** Whether the view comes near the window without automatic compaction (`compaction.auto.warning_ratio`). */
  readonly isNearlyFull: boolean;
  /** Compactions made during the query, in order. */
  readonly compactions: readonly CompactReport[];
}

const DEFAULT_TOOL_ROUNDS = 50;

/**
 * Asks, and commits the turn. Throws `turn_open`, `no_model`, `no_key` and other errors of models, errors of the provider,
 * `empty_answer`, `refused`, `disk_full`; each says what happened to the turn.
 */
export async function query(
  workspace: Workspace,
  branch: string,
  request: QueryRequest,
  observer: QueryObserver,
): Promise<QueryReport> {
  const say = (text: string): void => observer.notice(text);
  await recoverTurns(workspace, { info: say, warn: say });
  const begun = await beginQuery(workspace, branch, request);
  try {
    for (const problem of begun.tools.problems) say(problem);
    const isNamed = request.model !== undefined || (await namesModel(workspace));
    if (isNamed) await rememberNamed(workspace, begun, say);
    return await talkQuery(workspace, begun, request, observer);
  } finally {
    if (request.tools === undefined) await begun.tools.close();
  }
}

async function talkQuery(
  workspace: Workspace,
  begun: BegunQuery,
  request: QueryRequest,
  observer: QueryObserver,
): Promise<QueryReport> {
  const say = (text: string): void => observer.notice(text);
  const { turn, opened, config } = begun;
  const compactions: CompactReport[] = [];
  const { tools } = begun.tools;
  const definitions = tools.map(({ definition }) => definition);
  let load: AutoSituation["load"];
  const consider = async (on: string, where: Pick<AutoSituation, "place" | "openTurn">): Promise<void> => {
    if (!config.conversation.compaction.auto.enabled) return;
    observer.compacting?.();
    load ??= createCountedLoader(workspace.store);
    const voice = { notice: say, warn: say };
    const situation = { ...where, ...asSent(opened), load, signal: request.signal, tools: definitions, ...voice };
    const done = await autoCompact(workspace, on, situation);
    if (done !== null) compactions.push(done);
  };
  let prepared: ReturnType<typeof prepareSignatures> | null = null;
  const prepare = (): (() => Promise<Signatures>) => {
    prepared ??= prepareSignatures(workspace);
    return prepared;
  };
  const openTurn = {
    position: turn.head.turn,
    events: () => turn.unstored(),
    store: async () => turn.store(await prepare()()),
  };
  const end = await talk({
    turn,
    opened,
    system: config.conversation.system_prompt,
    tools,
    maxToolRounds: request.maxToolRounds ?? DEFAULT_TOOL_ROUNDS,
    signal: request.signal,
    observer,
    whileAsked: prepare,
    betweenRequests: () => consider(turn.head.branch, { place: "in_loop", openTurn }),
  }).catch((error: unknown) => failTurn(workspace, turn, { error, reason: "error" }));
  const settings = settingsToKeep(workspace, begun, request);
  const unrecorded = isRecordOf(begun.recorded ?? [], definitions) ? [] : definitions;
  const signatures = (): Promise<Signatures> => prepare()();
  const settled = await settleTurn(workspace, { turn, opened, end, signatures, settings, tools: unrecorded });
  for (const text of settled.notices) say(text);
  const report = await reportOf(workspace, begun, end, settled);
  if (report.commit !== null && !report.interrupted) await consider(report.branch, { place: "between_turns" });
  return { ...report, compactions };
}

/** The model that is sent the conversation, and its window. */
function asSent(
  opened: OpenedModel,
): Pick<AutoSituation, "model" | "window" | "isWindowSet"> & ReturnType<typeof asAnswering> {
  const { name, facts } = opened;
  const isWindowSet = facts.setWindow !== undefined;
  return { model: name, ...asAnswering(opened), window: facts.contextWindow, isWindowSet };
}

/** Whether `--cfg` of this call names the model. */
async function namesModel({ overrides }: Workspace): Promise<boolean> {
  if (overrides.length === 0) return false;
  return overrides.map(parseOverride).some(({ path }) => path.join(".") === "conversation.model");
}

/** Records a named model, so that the conversation continues with it. */
async function rememberNamed(
  workspace: Workspace,
  { turn, opened }: BegunQuery,
  say: (text: string) => void,
): Promise<void> {
  try {
    await rememberProvider(workspace, conversationOf(turn.head.branch), opened.provider);
  } catch (error) {
    say(`${opened.name} could not be remembered; name it again next time: ${messageOf(error)}`);
  }
}

/** The settings of `--cfg` and the named model, unless the conversation has them already. */
function settingsToKeep(
  { overrides }: Workspace,
  { config, opened }: BegunQuery,
  { model }: QueryRequest,
): readonly string[] {
  if (model === undefined || config.conversation.model === opened.name) return overrides;
  return [...overrides, `conversation.model=${JSON.stringify(opened.name)}`];
}

/** Tokens of the next request, for a provider that did not count them; 0 if nothing is stored. */
async function sizeAt({ store }: Workspace, branch: string | null): Promise<number> {
  const tree = branch === null ? null : await loadTip(store, branch);
  if (tree === null) return 0;
  const { view, live, meter } = await loadCounted(store, tree);
  return meter.countView(view, live.applied).tokens;
}

async function reportOf(
  workspace: Workspace,
  { turn, opened, config }: BegunQuery,
  { stop, usage, price, lastSize }: TalkEnd,
  { recorded }: SettledTurn,
): Promise<Omit<QueryReport, "compactions">> {
  const branch = recorded?.branch ?? turn.head.branch;
  const { auto } = config.conversation.compaction;
  const view = lastSize ?? (await sizeAt(workspace, recorded?.branch ?? null));
  const window = opened.facts.contextWindow;
  return {
    conversation: conversationOf(branch),
    branch,
    turn: recorded === null ? null : turn.head.turn,
    commit: recorded?.commit ?? null,
    model: opened.name,
    text: messagesOf(turn.events),
    stop,
    interrupted: stop === "aborted",
    usage,
    price,
    tokens: { view, window },
    isNearlyFull: !auto.enabled && window !== null && isWarningSize(view, window, auto),
  };
}

// Prepares a turn, in parallel where possible: reads the view and the settings, opens the model, starts the tools and begins the
// journal. A failure here leaves nothing but the text of the request.

/** A turn before its first request. */
interface BegunQuery {
  readonly turn: OpenTurn;
  readonly opened: OpenedModel;
  readonly config: Config;
  /** The tools that the conversation's newest requests offered; null = not recorded. */
  readonly recorded: readonly RecordedTool[] | null;
  /** To be closed unless they are the request's own. */
  readonly tools: ToolBox;
}

/** Begins a turn. Throws `turn_open`, and as opening the model, the tools and the journal do. */
async function beginQuery(workspace: Workspace, branch: string, request: QueryRequest): Promise<BegunQuery> {
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
      // Do not create a store for a model that cannot be asked.
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
    const unsent = await saveUnsent(workspace.store, request.content);
    throw withHints(error, unsentHints(unsent, request.root !== undefined));
  }
}

async function loadSettings(workspace: Workspace, start: Start): Promise<ConversationConfig> {
  if ("tree" in start) return loadConversationConfig(workspace, start.tree);
  return { ...(await workspace.config()), tools: null };
}

function isDone<Value>(result: PromiseSettledResult<Value>): result is PromiseFulfilledResult<Value> {
  return result.status === "fulfilled";
}

/** The failure to report: the first that the user can do something about. */
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

export interface ToolOpening {
  readonly config: Config;
  /** The model that the tools are for, while it is being opened. */
  readonly model: Promise<OpenedModel>;
}

export interface QueryRequest {
  readonly content: Content;
  /** The model to answer from now on; absent = the one of the settings, else the one that answered last. */
  readonly model?: string;
  /** Tells and asks the user if nobody named a model and one provider has a key; without it a model has to be named. */
  readonly voice?: AssumptionVoice;
  /** An open model, to use instead of choosing one. */
  readonly opened?: OpenedModel;
  /** Open tools; the caller closes them. */
  readonly tools?: ToolBox;
  /** Opens tools for this turn alone, while the model is being opened. */
  readonly openTools?: (opening: ToolOpening) => Promise<ToolBox>;
  /** The branch, if the caller has read it. */
  readonly tree?: BranchTree;
  /** Ends the turn; what had arrived is kept. */
  readonly signal: AbortSignal;
  /** Rounds of tool calls before the turn ends; default 50. */
  readonly maxToolRounds?: number;
  /** Begins a conversation when the branch does not exist (see names/conversations.ts). */
  readonly root?: ConversationHeader;
}

// Finds where to ask: the active conversation, a fork of it, or a new one; compacts it first if requested.

interface QueryPlaceRequest {
  /** Text of the request, for the name of a new conversation. */
  readonly text: string;
  /** Begin a conversation. */
  readonly isNew: boolean;
  /** Fork first, and make the fork active: with all turns, or with the last N in its view. */
  readonly fork?: true | number;
  /** Compact first: with the default profile, or with this one. */
  readonly compact?: true | string;
  readonly model?: string;
  readonly voice?: AssumptionVoice;
  readonly signal: AbortSignal;
}

/** Where to ask, and what was done for it. */
export interface QueryPlace extends Partial<Pick<NewConversation, "root">> {
  readonly branch: string;
  /** The branch as it is; absent if it does not exist yet, and if it was just compacted. */
  readonly tree?: BranchTree;
  /** Open already if something was written: it must be known first that the model can be asked. */
  readonly opened?: OpenedModel;
  readonly forked: boolean;
  readonly compaction: CompactReport | null;
}

/**
 * Finds the place, after forking and compacting. A store without conversations begins one. Throws `nothing_to_fork`,
 * `no_conversation`, and as opening the model, forking and compacting do.
 */
export async function findQueryPlace(workspace: Workspace, request: QueryPlaceRequest): Promise<QueryPlace> {
  const plain = { forked: false, compaction: null };
  if (request.isNew || (await hasNoConversation(workspace))) {
    if (request.fork !== undefined) {
      throw userError("nothing_to_fork", "There is no conversation to fork yet.", { hints: ["Leave out --fork."] });
    }
    return { ...plain, ...(await newConversation(workspace, request.text)) };
  }
  const active = await resolveWhole(workspace);
  if (request.fork === undefined && request.compact === undefined)
    return { ...plain, branch: active.branch, tree: active };
  const opened = await openChatModel(workspace, { tree: active, named: request.model, voice: request.voice });
  const tree = request.fork === undefined ? active : await forkOff(workspace, active, request.fork);
  const compaction = request.compact === undefined ? null : await compactFirst(workspace, tree, { ...request, opened });
  const isOnFork = compaction?.activated !== undefined && compaction.commit !== null;
  const stays = compaction === null ? { tree } : {};
  return {
    branch: compaction?.branch ?? tree.branch,
    ...stays,
    opened,
    forked: request.fork !== undefined || isOnFork,
    compaction,
  };
}

async function hasNoConversation(workspace: Workspace): Promise<boolean> {
  const { store } = workspace;
  const active = await activeBranch(workspace);
  if (active !== null && (await store.readBranch(active)) !== null) return false;
  return (await store.listBranches()).length === 0;
}

async function forkOff(workspace: Workspace, tree: BranchTree, fork: true | number): Promise<BranchTree> {
  const { branch } = await forkConversation(workspace, tree, {
    activate: true,
    ...(fork === true ? {} : { last: fork }),
  });
  return (await loadTip(workspace.store, branch)) ?? loadBranchTree(workspace.store, branch, tree.commit);
}

/** Compacts like `jpg compact`. */
async function compactFirst(
  workspace: Workspace,
  tree: BranchTree,
  request: QueryPlaceRequest & { readonly opened: OpenedModel },
): Promise<CompactReport> {
  const { compact: profile, fork, signal, opened } = request;
  try {
    return await compact(workspace, tree, {
      range: {},
      dryRun: false,
      activate: true,
      signal,
      ...asAnswering(opened),
      fork: fork === undefined ? undefined : false,
      ...(typeof profile === "string" ? { profile } : {}),
    });
  } catch (error) {
    if (fork === undefined) throw error;
    throw withHints(error, [
      `The fork ${tree.branch} was made and is active, but not compacted; \`jpg query …\` asks on it.`,
    ]);
  }
}
