// Asks a model in a conversation: load → talk, journalled → one commit at the end of the turn. A turn that is interrupted
// keeps what came, marked; one in which the model said nothing leaves the conversation as it was.

import { isWarningSize } from "../../core/compact/automatic.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { messageOf } from "../../core/errors.ts";
import type { Usage } from "../../core/model/usage.ts";
import type { StopReason } from "../../llm/client.ts";
import type { AutoSituation } from "../auto/auto-compact.ts";
import { prepareSignatures, type Signatures } from "../branch/append-record.ts";
import { isRecordOf } from "../branch/tool-records.ts";
import { recoverTurns } from "../journal/recover-turns.ts";
import { asAnswering, type OpenedModel } from "../models/models.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Tool } from "../programs/tool-box.ts";
import { rememberProvider } from "../workspace/remembered-providers.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type BegunQuery, beginQuery } from "./begin-query.ts";
import type { QueryRequest } from "./query-request.ts";
import { failTurn, messagesOf, type SettledTurn, settleTurn } from "./settle-turn.ts";
import { type TalkEnd, type TalkObserver, talk } from "./talk.ts";

/** Who is shown a turn while it is talked. */
export type QueryObserver = TalkObserver;

/** What became of a query. */
export interface QueryReport {
  readonly conversation: string;
  /** Another one than asked for when another process added a turn there meanwhile: then a new fork. */
  readonly branch: string;
  /** Position of the turn, 0-based; null when it was interrupted before the model said anything: there is none then. */
  readonly turn: number | null;
  /** Null as for `turn`. */
  readonly commit: string | null;
  /** `provider/model`. */
  readonly model: string;
  /** The messages of the turn, as they were shown. */
  readonly text: string;
  readonly stop: StopReason;
  readonly interrupted: boolean;
  /** Of all requests of the turn; null when the provider counted none. */
  readonly usage: Usage | null;
  /** US dollars; null = unknown. */
  readonly price: number | null;
  /** Tokens of the view with this turn, and of the model's window; null = unknown. */
  readonly tokens: { readonly view: number; readonly window: number | null };
  /** Whether the view comes near the window and nothing is compacted automatically (`compaction.auto.warning_ratio`). */
  readonly isNearlyFull: boolean;
  /** What was compacted on the way, in order. */
  readonly compactions: readonly CompactReport[];
}

const DEFAULT_TOOL_ROUNDS = 50;

/**
 * Asks, and commits the turn. Throws `turn_open`, `no_model`, `no_key` and other errors of models, whatever the provider
 * reports, `empty_answer`, `refused`, `disk_full`; each says what became of the turn.
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
  const tools = toolsFor(begun, say);
  const definitions = tools.map(({ definition }) => definition);
  let load: AutoSituation["load"];
  const consider = async (on: string, where: Pick<AutoSituation, "place" | "openTurn">): Promise<void> => {
    // What compacts is only loaded where it may happen.
    if (!config.conversation.compaction.auto.enabled) return;
    observer.compacting?.();
    const [{ autoCompact }, { createCountedLoader }] = await Promise.all([
      import("../auto/auto-compact.ts"),
      import("../branch/counted-view.ts"),
    ]);
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

/** The model that is sent the conversation, and how much it takes. */
function asSent(
  opened: OpenedModel,
): Pick<AutoSituation, "model" | "window" | "isWindowSet"> & ReturnType<typeof asAnswering> {
  const { name, facts } = opened;
  const isWindowSet = facts.setWindow !== undefined;
  return { model: name, ...asAnswering(opened), window: facts.contextWindow, isWindowSet };
}

/** Whether `--cfg` of this call names the model that answers. */
async function namesModel({ overrides }: Workspace): Promise<boolean> {
  if (overrides.length === 0) return false;
  const { parseOverride } = await import("../../config/load.ts");
  return overrides.map(parseOverride).some(({ path }) => path.join(".") === "conversation.model");
}

/** The conversation goes on with a provider that was named without naming it again. */
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

/** That a model takes no tools is said where there are others than jpg's own: somebody set them up. */
function toolsFor({ opened, tools: { tools } }: BegunQuery, say: (text: string) => void): readonly Tool[] {
  if (opened.client.takesTools !== false) return tools;
  if (tools.some(({ origin }) => origin !== "jpg")) say(`${opened.name} takes no tools: it answers with text alone.`);
  return [];
}

/** What `--cfg` set, and the model that was named, unless the conversation has it already. */
function settingsToKeep(
  { overrides }: Workspace,
  { config, opened }: BegunQuery,
  { model }: QueryRequest,
): readonly string[] {
  if (model === undefined || config.conversation.model === opened.name) return overrides;
  return [...overrides, `conversation.model=${JSON.stringify(opened.name)}`];
}

/** What the next request would be sent with, where the provider did not count; 0 where nothing is stored. */
async function sizeAt({ store }: Workspace, branch: string | null): Promise<number> {
  const [{ loadTip }, { loadCounted }] = await Promise.all([
    import("../branch/branch-tree.ts"),
    import("../branch/counted-view.ts"),
  ]);
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
