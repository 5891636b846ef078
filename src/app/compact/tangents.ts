// Asks a model which turns of a conversation are tangents, and checks its answer. Changes nothing: a person confirms the findings.
import { typedRequest } from "../../core/compact/gather.ts";
import { cutEnd, oneLine } from "../../core/compact/passages.ts";
import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { fillTemplate, messageView } from "../../core/compact/summary-prompt.ts";
import { parseTangentAnswer, renderTurns, type Tangent, type TangentAnswer } from "../../core/compact/tangents.ts";
import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { readTemplate } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import {
  chooseSummaryModel,
  nameOnce,
  type UnnamedModel,
  unnamedSummaryModels,
  whyUnnamed,
} from "../models/choose-model.ts";
import { conversationModel, type OpenedModel, openModel } from "../models/models.ts";
import { type CompactRequest, isNothingPlanned, type PlannedCompaction, planOnBranch } from "./plan.ts";
import type { SummaryRequest } from "./summary-source.ts";

export interface TangentRequest extends Pick<SummaryRequest, "model" | "signal" | "progress" | "openModel"> {
  readonly range: CompactRequest["range"];
}

export interface FoundTangent extends Tangent {
  /** The beginning of its request, one line. */
  readonly request: string;
}

export interface FoundTangents {
  /** `provider/model`; null when no model was asked. */
  readonly model: string | null;
  /** Ascending; may be empty. */
  readonly tangents: readonly FoundTangent[];
  readonly reason?: string;
  readonly hints?: readonly string[];
  /** Minor problems of the answer, as sentences. */
  readonly problems: readonly string[];
}

/** Window assumed if unknown, tokens; and the characters per token that turns may fill of a window. */
const CAUTIOUS_WINDOW = 32_000;
const WINDOW_CHARS = 1.8;
const MOST_ANSWER_TOKENS = 8192;
const ATTEMPTS = 2;
const REQUEST_CHARS = 80;

/**
 * Finds tangents among the visible turns of a range, except the newest turn. Throws `no_model`, `too_many_turns`,
 * `tangents_rejected` (all but the second of kind `provider`), `interrupted`, and the errors of choosing, opening and asking the
 * model.
 */
export async function findTangents(
  workspace: Workspace,
  tree: BranchTree,
  request: TangentRequest,
): Promise<FoundTangents> {
  const strategies = choosePipelines(["classify-tangents"]);
  const planned = await planOnBranch(workspace, tree, { range: request.range, strategies });
  if (isNothingPlanned(planned)) {
    const {
      plan: { nothing: reason, hints = [] },
      problems,
    } = planned;
    return { model: null, tangents: [], reason, hints, problems };
  }
  const open = openTurns(planned, tree.turnOids.length);
  if (open.size === 0)
    return { model: null, tangents: [], reason: "no turn of the range is shown in full", problems: [] };
  const turns = [...(await loadTurns(workspace.store, tree)).values()];
  const opened = await openTangentModel(workspace, planned, { request, turns });
  const answer = await askForTangents(opened, { turns, open, request });
  const tangents = answer.tangents.map((tangent) => ({ ...tangent, request: requestIn(turns[tangent.turn]) }));
  return { model: opened.name, tangents, problems: answer.problems };
}

/** Lists the turns that may be left out: wholly covered, wholly visible, and not the newest. */
function openTurns({ plan, before, turns }: PlannedCompaction, turnCount: number): ReadonlySet<number> {
  const { from_turn, from_event, to_turn, to_event } = plan.compaction;
  const isCut = to_event !== undefined && turns.get(to_turn)?.events.at(-1)?.id !== to_event;
  const first = from_event === undefined ? from_turn : from_turn + 1;
  const last = Math.min(isCut ? to_turn - 1 : to_turn, turnCount - 2);
  const shown = before.turns.flatMap(({ origin }) =>
    origin.kind === "kept" && origin.part !== true ? [origin.turn] : [],
  );
  return new Set(shown.filter((turn) => turn >= first && turn <= last));
}

async function openTangentModel(
  workspace: Workspace,
  { config }: PlannedCompaction,
  { request, turns }: { readonly request: TangentRequest; readonly turns: readonly Turn[] },
): Promise<OpenedModel> {
  const flag = request.model;
  const choice = {
    config,
    conversationModel: conversationModel(turns),
    flag,
  };
  const name = await chooseSummaryModel(workspace, choice);
  if (name === EXTRACTIVE) throw noModel(await unnamedSummaryModels(workspace, choice));
  return (request.openModel ?? ((wanted) => openModel(workspace, config, wanted)))(name);
}

interface Question {
  readonly turns: readonly Turn[];
  readonly open: ReadonlySet<number>;
  readonly request: TangentRequest;
}

async function askForTangents(opened: OpenedModel, { turns, open, request }: Question): Promise<TangentAnswer> {
  const { signal, progress = () => undefined } = request;
  const chars = (opened.facts.contextWindow ?? CAUTIOUS_WINDOW) * WINDOW_CHARS;
  const text = renderTurns(turns, { chars, isOpen: (turn) => open.has(turn) });
  if (text === null) throw tooManyTurns(turns.length, opened);
  const task = fillTemplate("classify-tangents", await readTemplate("classify-tangents.md"), { turns: text });
  progress(`asking ${opened.name} which of ${open.size} turns are tangents`);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const said = await ask(opened, attempt === 1 ? task : `${task}\n\n${AGAIN}`, signal);
    const answer = said === null ? null : parseTangentAnswer(said, (turn) => open.has(turn));
    if (answer !== null) return answer;
    if (attempt < ATTEMPTS) progress("the answer could not be used; asking once more");
  }
  throw rejected(opened);
}

const AGAIN = "Your last answer could not be read. Answer with the JSON object alone, without any other word.";

/** Returns the answer's text; null when it is incomplete. */
async function ask({ client, model }: OpenedModel, text: string, signal?: AbortSignal): Promise<string | null> {
  const texts: string[] = [];
  let isWhole = false;
  const stream = client.stream({
    model,
    view: messageView(text),
    maxTokens: MOST_ANSWER_TOKENS,
    signal,
  });
  for await (const part of stream) {
    if (part.type === "part" && part.part.kind === "message") texts.push(part.part.text);
    if (part.type === "stop") isWhole = part.stop.reason === "complete";
  }
  if (signal?.aborted === true) throw interrupted();
  return isWhole ? texts.join("\n") : null;
}

function requestIn(turn: Turn | undefined): string {
  const text = (turn?.events ?? []).map(typedRequest).find((request) => request.trim() !== "");
  return cutEnd(oneLine(text ?? ""), REQUEST_CHARS);
}

const BY_HAND = "Name the turns yourself: jpg compact --tangents 3,5..7";

/** Creates the error. `unnamed`: the models that could be asked if the user named one. */
function noModel(unnamed: readonly UnnamedModel[]): JpgError {
  const isNone = unnamed.length === 0;
  const why = isNone ? "no key and no server is set up" : whyUnnamed(unnamed);
  const once = nameOnce(unnamed, "jpg compact --strategy classify-tangents");
  return new JpgError(
    "provider",
    "no_model",
    `The strategy classify-tangents asks a model, but there is none to ask: ${why}.`,
    {
      hints: [
        isNone
          ? "`--model provider/model` names one; its key is read from the environment, e.g. ANTHROPIC_API_KEY."
          : `${once[0]?.toUpperCase()}${once.slice(1)}`,
        BY_HAND,
        "Nothing was committed.",
      ],
    },
  );
}

function tooManyTurns(turnCount: number, { name }: OpenedModel): JpgError {
  return userError("too_many_turns", `${turnCount} turns are too many for ${name} to judge at once.`, {
    hints: [
      "Summarise the oldest first: jpg compact --chunks auto",
      "Or name a model with a larger window with --model.",
      BY_HAND,
    ],
  });
}

function rejected({ name }: OpenedModel): JpgError {
  return new JpgError("provider", "tangents_rejected", `${name} was asked twice and gave no readable list of turns.`, {
    hints: ["Try another model with --model.", BY_HAND, "Nothing was committed."],
  });
}

function interrupted(): JpgError {
  return userError("interrupted", "The search for tangents was interrupted; nothing was committed.", {
    hints: ["Run the command again."],
  });
}
