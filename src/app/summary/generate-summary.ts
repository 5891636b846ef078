// Has a model write the summary of a plan, and makes of its answer what is stored: text with the ledger, lists, model, hash of
// what was asked, usage and price.
import type { Config } from "../../config/config.ts";
import { finishSummary } from "../../core/compact/summary-answer.ts";
import {
  detectWork,
  nameTurns,
  rawBeginning,
  type TaskOptions,
  wordFocus,
  wordLimit,
  writeTask,
} from "../../core/compact/summary-prompt.ts";
import { type PlacedEvent, readLedger } from "../../core/compact/transcript.ts";
import type { Summary } from "../../core/conversation/compaction.ts";
import { offeredTools } from "../../core/conversation/defined-tools.ts";
import { traitsOf } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { countFrame, type TokenMeter } from "../../core/model/token-meter.ts";
import { inlineView } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { coveredEvents } from "../branch/covered-events.ts";
import { conversationModel, type OpenedModel, openModel } from "../models/models.ts";
import type { PlannedCompaction } from "../plan/compact-plan.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Summarizer } from "./ask-summary.ts";
import { requestFrame } from "./request-frame.ts";
import { summarizeEvents } from "./summarize-events.ts";
import type { SummaryRequest } from "./summary-request.ts";
import type { SuffixThread, SummarySource } from "./summary-source.ts";
import { createSpending, type Spending } from "./summary-spending.ts";
import { readPromptTemplates } from "./summary-templates.ts";

/** What is to be summarised, and by whom. */
export interface SummaryJob {
  readonly tree: BranchTree;
  readonly planned: PlannedCompaction;
  readonly request: SummaryRequest;
  /** The raw events that are covered, in order. */
  readonly events: readonly PlacedEvent[];
  /** `provider/model`. */
  readonly model: string;
}

/** Window taken where nobody tells it: what small local models have, tokens. */
const CAUTIOUS_WINDOW = 32_000;
/** Longest answer that is asked for, tokens: a summary is far shorter, but reasoning of the model counts too. */
const MOST_ANSWER_TOKENS = 16_384;

/** Generates the summary. Throws as `writeSummary` does. */
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

/** Raw events that a model is to summarise, and how. */
export interface SummaryOrder
  extends Pick<SummaryJob, "request" | "events" | "model">,
    Pick<SummarySource, "task" | "countText" | "mostTokens"> {
  readonly config: Config;
  /** Tokens of what the summary stands for. */
  readonly replaced: number;
  /** The conversation's own thread, where it can be asked for behind it. */
  readonly suffixFor: (opened: OpenedModel) => Promise<SuffixThread | null>;
}

/** Opens the model and has it write. Throws as `writeSummary` does. */
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
    ...defined({ signal }),
  };
  const { answer, reading } = await summarizeEvents(summarizer, {
    events,
    task,
    windowTokens,
    countText,
    isStrict: request.strict === true,
    suffix: await suffixFor(opened),
    ...defined({ mostTokens }),
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

/** Tokens that the summary takes the place of: those of the view. One that may be longer is written as if it replaced the raw events. */
function replacedTokens({ planned, request, events }: SummaryJob): number {
  if (request.force === true) return planned.meter.countEvents(events.map(({ event }) => event));
  return Math.max(0, planned.tokens.before - planned.tokens.after);
}

/** Counts a text as an answer of the conversation. */
export function textCounter(meter: TokenMeter): (text: string) => number {
  return (text) => meter.countEvent({ type: "chat_response", id: "", timestamp: "", message: text });
}

function taskOf({ planned, request, events }: SummaryJob, replaced: number): TaskOptions {
  const { from_turn, to_turn } = planned.plan.compaction;
  const instructions = request.instructions ?? planned.plan.summarize?.instructions;
  return {
    subject: nameTurns(from_turn, to_turn),
    ...defined({ instructions }),
    isCut: endsInsideTurn(planned),
    focus: wordFocus(request.focus ?? [], detectWork(events.map(({ event }) => event))),
    words: wordLimit(replaced),
  };
}

/** Whether something of the range's last turn that a model is sent stays behind it. */
function endsInsideTurn({ plan, turns }: PlannedCompaction): boolean {
  const { to_turn, to_event } = plan.compaction;
  const events = turns.get(to_turn)?.events ?? [];
  const end = to_event === undefined ? -1 : events.findIndex(({ id }) => id === to_event);
  return end >= 0 && events.slice(end + 1).some((event) => traitsOf(event).providerVisible);
}

/**
 * The conversation's own thread up to the end of the range, for the model that the conversation talks to; null where the view
 * shows the range in any other way than raw, and where calls are in it whose tools are not known (provider rule A21).
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
    // Sums of tiny prices end in digits that mean nothing.
    ...(price === null ? {} : { price_usd: Number(price.toPrecision(6)) }),
  };
}
