// Has a model write the summary of a plan, and turns its answer into the stored summary: text with the ledger, lists, model, hash
// of the task, usage and price.
import type { Config } from "../../config/config.ts";
import { type PlacedEvent, readLedger } from "../../core/compact/event-ledger.ts";
import { extractSummary } from "../../core/compact/extract.ts";
import { finishSummary } from "../../core/compact/summary-answer.ts";
import {
  detectWork,
  nameTurns,
  phraseFocus,
  rawBeginning,
  type TaskOptions,
  wordLimit,
  writeTask,
} from "../../core/compact/summary-prompt.ts";
import { EXTRACTIVE, type Summary } from "../../core/conversation/compaction.ts";
import { offeredTools } from "../../core/conversation/defined-tools.ts";
import { traitsOf } from "../../core/conversation/event.ts";
import { countFrame, type TokenMeter } from "../../core/model/token-meter.ts";
import { shellWord } from "../../core/safe-text.ts";
import { coveredEvents, readCovered } from "../conversation/covers.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { inlineView } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import {
  chooseSummaryModel,
  nameOnce,
  type SummaryModelChoice,
  unnamedSummaryModels,
  whyUnnamed,
} from "../models/choose-model.ts";
import { conversationModel, type OpenedModel, openModel } from "../models/models.ts";
import {
  createSpending,
  readPromptTemplates,
  refuseAborted,
  requestFrame,
  type Spending,
  type Summarizer,
} from "./ask-summary.ts";
import type { PlannedCompaction } from "./plan.ts";
import { type SuffixThread, type SummaryRequest, type SummarySource, summarizeEvents } from "./summary-source.ts";

export interface SummaryJob {
  readonly tree: BranchTree;
  readonly planned: PlannedCompaction;
  readonly request: SummaryRequest;
  /** The covered raw events, in order. */
  readonly events: readonly PlacedEvent[];
  /** `provider/model`. */
  readonly model: string;
}

/** Window assumed if unknown, tokens: that of small local models. */
const CAUTIOUS_WINDOW = 32_000;
/** Longest answer, tokens: a summary is far shorter, but the model's reasoning counts, too. */
const MOST_ANSWER_TOKENS = 16_384;

/** Generates the summary. Throws like `writeSummary`. */
export function generateSummary(workspace: Workspace, job: SummaryJob): Promise<Summary> {
  const { planned, request, events, model } = job;
  const replaced = replacedTokens(job);
  return askModel(workspace, {
    config: planned.config,
    request,
    events,
    model,
    task: taskOf(job, replaced),
    countText: textCounter(planned.meter),
    replaced,
    ...(request.force === true ? {} : { mostTokens: replaced }),
    suffixFor: (opened) => suffixOf(workspace, job, opened),
  });
}

/** Raw events to summarise, and how. */
export interface SummaryOrder
  extends Pick<SummaryJob, "request" | "events" | "model">,
    Pick<SummarySource, "task" | "countText" | "mostTokens"> {
  readonly config: Config;
  /** Tokens of what the summary replaces. */
  readonly replaced: number;
  /** Returns the conversation's own thread if the summary can be asked for at its end. */
  readonly suffixFor: (opened: OpenedModel) => Promise<SuffixThread | null>;
}

/** Opens the model and has it write. Throws like `writeSummary`. */
export async function askModel(workspace: Workspace, order: SummaryOrder): Promise<Summary> {
  const { config, request, events, model, task, countText, replaced, mostTokens, suffixFor } = order;
  const open = request.openModel ?? ((name: string) => openModel(workspace, config, name));
  const [opened, templates] = await Promise.all([open(model), readPromptTemplates(request.style)]);
  const windowTokens = opened.facts.contextWindow ?? CAUTIOUS_WINDOW;
  const spending = createSpending();
  const { signal, progress = () => undefined } = request;
  const summarizer: Summarizer = {
    opened,
    templates,
    maxTokens: answerTokens(opened, windowTokens),
    spending,
    progress,
    signal,
  };
  const { answer, reading } = await summarizeEvents(summarizer, {
    events,
    task,
    windowTokens,
    countText,
    isStrict: request.strict === true,
    suffix: await suffixFor(opened),
    mostTokens,
  });
  const saved = Math.max(0, replaced - countText(answer.summary));
  const { summary, files, open_tasks } = finishSummary(answer, readLedger(events), saved);
  const prompt_sha256 = sha256(writeTask(templates, task));
  const origin = { source: "generated", model: opened.name, prompt_sha256 } as const;
  return { summary, ...origin, files, open_tasks, ...costOf(spending), ...reading };
}

function answerTokens({ facts }: OpenedModel, windowTokens: number): number {
  return Math.min(MOST_ANSWER_TOKENS, facts.maxOutput ?? MOST_ANSWER_TOKENS, Math.floor(windowTokens / 4));
}

/**
 * Returns the tokens that the summary replaces in the view. A forced summary may be longer, so it is written as if it replaced the
 * raw events.
 */
function replacedTokens({ planned, request, events }: SummaryJob): number {
  if (request.force === true) return planned.meter.countEvents(events.map(({ event }) => event));
  return Math.max(0, planned.tokens.before - planned.tokens.after);
}

/** Returns a function that counts a text as an answer in the conversation. */
export function textCounter(meter: TokenMeter): (text: string) => number {
  return (text) => meter.countEvent({ type: "chat_response", id: "", timestamp: "", message: text });
}

function taskOf({ planned, request, events }: SummaryJob, replaced: number): TaskOptions {
  const { from_turn, to_turn } = planned.plan.compaction;
  const instructions = request.instructions ?? planned.plan.summarize?.instructions;
  return {
    subject: nameTurns(from_turn, to_turn),
    instructions,
    isCut: endsInsideTurn(planned),
    focus: phraseFocus(request.focus ?? [], detectWork(events.map(({ event }) => event))),
    words: wordLimit(replaced),
  };
}

/** Returns whether the range ends before visible events of its last turn. */
function endsInsideTurn({ plan, turns }: PlannedCompaction): boolean {
  const { to_turn, to_event } = plan.compaction;
  const events = turns.get(to_turn)?.events ?? [];
  const end = to_event === undefined ? -1 : events.findIndex(({ id }) => id === to_event);
  return end >= 0 && events.slice(end + 1).some((event) => traitsOf(event).providerVisible);
}

/**
 * Returns the conversation's own thread up to the end of the range, for the model the conversation talks to. Null if the view does
 * not show the range raw, or if it contains calls whose tools are unknown (provider rule A21).
 */
async function suffixOf(
  { store }: Workspace,
  { tree, planned, request }: SummaryJob,
  opened: OpenedModel,
): Promise<SuffixThread | null> {
  if (conversationModel(planned.turns.values()) !== opened.name) return null;
  const raw = coveredEvents(planned.plan.compaction, planned.turns).map(({ event }) => event);
  const beginning = rawBeginning(planned.before, raw);
  const hasCalls = raw.some(({ type }) => type === "tool_call_request" || type === "tool_call_response");
  const { tools = [] } = request;
  if (beginning === null || (hasCalls && tools.length === 0)) return null;
  const { turns } = await inlineView(store, tree.commit, { turns: beginning });
  const offered = offeredTools(tools, planned.before, planned.live.applied);
  const frame = requestFrame(planned.config.conversation.system_prompt, offered);
  return { frame, beginning: turns, tokens: countFrame(planned.meter, frame) + planned.meter.countEvents(raw) };
}

function costOf({ calls, usage, price }: Spending): Pick<Summary, "usage" | "price_usd"> {
  return {
    ...(usage === null
      ? {}
      : {
          usage: {
            calls,
            input: usage.input,
            cache_read: usage.cacheRead,
            cache_write: usage.cacheWrite,
            output: usage.output,
          },
        }),
    // Rounds off meaningless digits of sums of tiny prices.
    ...(price === null ? {} : { price_usd: Number(price.toPrecision(6)) }),
  };
}

// Has the summary of a planned compaction written: by a model, or as an extract if no model can be asked. Its source is raw events,
// never a view. Only a complete summary is returned; nothing is stored here.

/**
 * Writes the summary of a plan. Throws `summary_rejected` (kind `provider`), `interrupted`, and the errors of choosing, opening and
 * asking the model.
 */
export async function writeSummary(
  workspace: Workspace,
  tree: BranchTree,
  planned: PlannedCompaction,
  request: SummaryRequest,
): Promise<Summary> {
  const name = await summaryModel(workspace, planned, request);
  const events = await readCovered(workspace.store, tree.commit, {
    compaction: planned.plan.compaction,
    turns: planned.turns,
  });
  const summary =
    name === EXTRACTIVE
      ? extractOf(events)
      : await generateSummary(workspace, { tree, planned, request, events, model: name });
  refuseAborted(request.signal);
  return { ...summary, ...(request.inject !== undefined && { inject: request.inject }) };
}

/** Creates the summary that no model writes. */
export function extractOf(events: readonly PlacedEvent[]): Summary {
  const { summary, files, open_tasks } = extractSummary(events);
  return { summary, source: "extractive", model: EXTRACTIVE, files, open_tasks };
}

/** Models that the request names for a summary. */
export type AskedModel = Pick<SummaryRequest, "model" | "answering">;

/** Returns the writer's full name, or `extractive`. Throws `bad_model_name`, `unknown_provider` for a named model. */
export function summaryModel(workspace: Workspace, planned: PlannedCompaction, asked: AskedModel): Promise<string> {
  return chooseSummaryModel(workspace, choiceOf(planned, asked));
}

/** Returns a note if the summary is an extract only because nobody named a model; else none. */
export async function extractNotes(
  workspace: Workspace,
  planned: PlannedCompaction,
  { model: summarizer, asked, command }: ExtractFacts,
): Promise<readonly string[]> {
  if (summarizer !== EXTRACTIVE) return [];
  return extractNotesFor(workspace, choiceOf(planned, asked), command ?? commandOf(planned));
}

interface ExtractFacts {
  readonly model: string | undefined;
  readonly asked: AskedModel;
  /** Command to which `--model` is added; absent = the `jpg compact` of such a plan. */
  readonly command?: string;
}

/** Like `extractNotes`, for a choice of models; `command` = what `--model` is added to. */
export async function extractNotesFor(
  workspace: Workspace,
  choice: SummaryModelChoice,
  command: string,
): Promise<readonly string[]> {
  const models = await unnamedSummaryModels(workspace, choice);
  return models.length === 0 ? [] : [`the summary is an extract: ${whyUnnamed(models)}; ${nameOnce(models, command)}`];
}

function commandOf({ plan: { compaction } }: PlannedCompaction): string {
  const { profile, strategy = [] } = compaction;
  const words = profile === undefined ? strategy.map((name) => `-s ${shellWord(name)}`) : [`-p ${shellWord(profile)}`];
  return ["jpg compact", ...words].join(" ");
}

function choiceOf(
  { plan, config, turns }: PlannedCompaction,
  { model: flag, answering }: AskedModel,
): SummaryModelChoice {
  const profileModel = plan.summarize?.model;
  return {
    config,
    conversationModel: conversationModel(turns.values()),
    flag,
    answering,
    profileModel,
  };
}
