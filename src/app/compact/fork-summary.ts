// Writes the summary of a fork's new turns, by the rules of a compaction: from raw events, by the model that the user's settings or
// this call name, else as an extract.

import type { PlacedEvent } from "../../core/compact/event-ledger.ts";
import { detectWork, nameTurns, phraseFocus, wordLimit } from "../../core/compact/summary-prompt.ts";
import { EXTRACTIVE, type Summary } from "../../core/conversation/compaction.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { chooseSummaryModel, type SummaryModelChoice } from "../models/choose-model.ts";
import { conversationModel } from "../models/models.ts";
import { refuseAborted } from "./ask-summary.ts";
import { askModel, extractNotesFor, extractOf, textCounter } from "./generate-summary.ts";
import type { SummaryRequest } from "./summary-source.ts";

export interface ForkSummaryJob {
  /** The branch that gets the summary; its settings apply, not the fork's. */
  readonly ours: BranchTree;
  readonly events: readonly PlacedEvent[];
  readonly turns: ReadonlyMap<number, Turn>;
  readonly request: Pick<SummaryRequest, "model" | "focus" | "style" | "strict" | "signal" | "progress" | "openModel">;
}

/** The writer, with notes about the choice. */
interface SummaryWriter {
  /** `provider/model`, or `extractive`. */
  readonly model: string;
  readonly notes: readonly string[];
}

const FOCUS =
  "These turns are of a fork that left the conversation: say what was tried there, what was found, changed and decided, and what of it is of use to anyone who continues the conversation without having seen the fork.";

/** Chooses the writer of the summary. Throws `bad_model_name`, `unknown_provider` for a named model. */
export async function forkSummaryWriter(workspace: Workspace, job: ForkSummaryJob): Promise<SummaryWriter> {
  const choice = await choiceOf(workspace, job);
  const model = await chooseSummaryModel(workspace, choice);
  return { model, notes: model === EXTRACTIVE ? await extractNotesFor(workspace, choice, "") : [] };
}

/** Has the summary written. Throws `summary_rejected`, `interrupted`, and the errors of opening and asking the model. */
export async function writeForkSummary(
  workspace: Workspace,
  job: ForkSummaryJob,
  { model, meter }: { readonly model: string; readonly meter: TokenMeter },
): Promise<Summary> {
  const { request, events } = job;
  if (model === EXTRACTIVE) return extractOf(events);
  const raw = events.map(({ event }) => event);
  const replaced = meter.countEvents(raw);
  const { config } = await loadConversationConfig(workspace, job.ours);
  const summary = await askModel(workspace, {
    config,
    request,
    events,
    model,
    task: {
      subject: `${nameTurns(events[0]?.turn ?? 0, events.at(-1)?.turn ?? 0)} of a fork`,
      focus: [phraseFocus(request.focus ?? [], detectWork(raw)), FOCUS].filter((text) => text !== "").join("\n"),
      words: wordLimit(replaced),
    },
    countText: textCounter(meter),
    replaced,
    // The provider has cached the fork's thread, not the branch's.
    suffixFor: async () => null,
  }).catch((error: unknown) => {
    throw withMergeHints(error, request);
  });
  refuseAborted(request.signal);
  return summary;
}

/** Replaces the hints of a rejected summary: other turns cannot be named here, but there are other ways to summarise these. */
function withMergeHints(error: unknown, { style }: Pick<SummaryRequest, "style">): unknown {
  if (!(error instanceof JpgError) || error.code !== "summary_rejected") return error;
  const { kind, code, message, data } = error;
  const shorter = style === "concise" ? [] : ["`--concise` asks for fewer sections."];
  return new JpgError(kind, code, message, {
    hints: [
      "`--summary TEXT` says it in your own words, `-m extractive` takes an extract, `-m NAME` asks another model.",
      ...shorter,
      "Nothing was committed.",
    ],
    data,
    cause: error,
  });
}

async function choiceOf(workspace: Workspace, { ours, turns, request }: ForkSummaryJob): Promise<SummaryModelChoice> {
  const { config } = await loadConversationConfig(workspace, ours);
  return {
    config,
    conversationModel: conversationModel(turns.values()),
    flag: request.model,
  };
}
