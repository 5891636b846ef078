// The loop of one turn: ask the model, run the tools that it calls, ask again, until it has answered. Everything is in the
// turn's journal before it counts; how the turn ended is a value.

import { offeredTools, SEARCH_TOOL, SHOW_TOOL } from "../../core/conversation/defined-tools.ts";
import { withoutNotice } from "../../core/conversation/hidden-notice.ts";
import { addUsage, priceOf, readUsage, sizeOf, type Usage } from "../../core/model/usage.ts";
import type { LlmRequest, Retry, Stop, StopReason } from "../../llm/client.ts";
import type { TextKind } from "../journal/journal-lines.ts";
import type { OpenedModel } from "../models/models.ts";
import type { Tool } from "../programs/tool-box.ts";
import { requestFrame } from "../summary/request-frame.ts";
import { type Answer, readAnswer } from "./answer.ts";
import type { OpenTurn } from "./open-turn.ts";
import { type CallObserver, type CallRun, refuseCalls, runCalls } from "./tool-calls.ts";

/** Who is shown a turn while it is talked. What these throw ends the turn; what came until then is kept. */
export interface TalkObserver extends CallObserver {
  /** A piece of text, as soon as it is in the journal. */
  delta(kind: TextKind, text: string): void;
  /** A request goes out to a model, named in full. */
  asked?(model: string): void;
  /** It failed, and goes out again after a wait. */
  retrying?(model: string, retry: Retry): void;
  /** The conversation may be compacted automatically now, which takes a while where a model writes the summary. */
  compacting?(): void;
}

/** What a turn is talked with. */
export interface Talk {
  readonly turn: OpenTurn;
  readonly opened: OpenedModel;
  readonly system: string;
  readonly tools: readonly Tool[];
  /** Rounds of tool calls before the turn ends, 0 or more. */
  readonly maxToolRounds: number;
  readonly signal: AbortSignal;
  readonly observer: TalkObserver;
  /** Called while the provider has a request: what is done then costs nobody time. */
  readonly whileAsked: () => void;
  /** Called between the requests of a turn. */
  readonly betweenRequests: () => Promise<void>;
}

/** How a turn ended, and what its requests used. */
export interface TalkEnd {
  readonly stop: StopReason;
  /** What the provider reported instead of an answer; null when it answered. */
  readonly failure: unknown;
  /** Of all requests; null when the provider counted none. */
  readonly usage: Usage | null;
  /** US dollars of all requests; null when a price or a count is unknown. */
  readonly price: number | null;
  /** Tokens of the last request and its answer, counted by the provider; null when it did not. */
  readonly lastSize: number | null;
}

/** Talks the turn to its end. Throws what the journal and the observer throw. */
export async function talk(work: Talk): Promise<TalkEnd> {
  const counter = createUsageCounter(work.opened);
  for (let round = 0; ; round++) {
    const answer = await ask(work);
    work.turn.add(answer.events);
    counter.add(answer.stop);
    const end = endOf(answer, work) ?? (await runRound(work, answer, round));
    if (end !== null) return { ...end, ...counter.sums() };
    await work.betweenRequests();
  }
}

type RoundEnd = Pick<TalkEnd, "stop" | "failure">;

/** How an answer ends the turn; null when it calls tools and waits for their results. */
function endOf({ stop, calls, failure }: Answer, { signal }: Talk): RoundEnd | null {
  if (stop === null) return signal.aborted ? ABORTED : { stop: "unknown", failure };
  const { reason } = stop;
  const isWhole = reason === "tool_calls" || reason === "complete";
  return calls.length > 0 && isWhole ? null : { stop: reason, failure: null };
}

/** Runs the calls of an answer; null when the model is to be asked again. */
async function runRound(work: Talk, answer: Answer, round: number): Promise<RoundEnd | null> {
  if (round >= work.maxToolRounds) {
    stopCalling(work, answer);
    return { stop: "tool_calls", failure: null };
  }
  await runCalls(answer.calls, callRun(work));
  return work.signal.aborted ? ABORTED : null;
}

const ABORTED: RoundEnd = { stop: "aborted", failure: null };

async function ask({ turn, opened, system, tools, signal, observer, whileAsked }: Talk): Promise<Answer> {
  const { client, provider, model } = opened;
  const { view: told, compactions } = await turn.sent();
  const definitions = tools.map(({ definition }) => definition);
  const offered = offeredTools(definitions, told, compactions);
  const view = [SEARCH_TOOL, SHOW_TOOL].every((own) => offered.some(({ name }) => name === own))
    ? told
    : withoutNotice(told);
  // The next round of the turn, and the next turn, send the frame again.
  const frame = requestFrame(system, offered);
  const retrying = (retry: Retry): void => observer.retrying?.(opened.name, retry);
  const request: LlmRequest = { model, view, signal, retrying, ...frame };
  const { journal, live } = turn;
  observer.asked?.(opened.name);
  const answer = readAnswer(client.stream(request), {
    journal,
    live,
    provider,
    model,
    delta: observer.delta.bind(observer),
  });
  // By then the request is on its way.
  setImmediate(whileAsked);
  return answer;
}

function callRun({ turn, tools, observer, signal }: Talk): CallRun {
  return { tools, live: turn.live, observer, signal, keep: turn.keep };
}

/** The model goes on calling: the turn ends here, and it is told so when the conversation goes on. */
function stopCalling(work: Talk, { calls }: Answer): void {
  const { maxToolRounds, observer } = work;
  refuseCalls(calls, `Not run: a turn ends after ${maxToolRounds} rounds of tool calls.`, callRun(work));
  observer.notice(
    `The turn ended after ${maxToolRounds} rounds of tool calls; \`jpg query "go on"\` lets the model continue.`,
  );
}

interface UsageCounter {
  add(stop: Stop | null): void;
  sums(): Pick<TalkEnd, "usage" | "price" | "lastSize">;
}

function createUsageCounter({ facts }: OpenedModel): UsageCounter {
  let usage: Usage | null = null;
  let price: number | null = facts.price === null ? null : 0;
  let lastSize: number | null = null;
  return {
    add(stop) {
      const counted = stop === null ? null : readUsage(stop.usage);
      lastSize = counted === null ? null : sizeOf(counted) + counted.output;
      price = counted === null || price === null || facts.price === null ? null : price + priceOf(counted, facts.price);
      if (counted !== null) usage = usage === null ? counted : addUsage(usage, counted);
    },
    sums: () => ({ usage, price: usage === null ? null : price, lastSize }),
  };
}
