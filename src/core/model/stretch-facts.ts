// Facts of turns that follow each other, taken together: whatever counts a conversation counts the same by them as by the facts of
// each turn, and they are small. Of answers that may go on before or after them all is kept, of others what calibrating needs.
import type { EstimateKind } from "../conversation/token-estimate.ts";
import { defined } from "../json.ts";
import { type MergedAnswer, mergeAnswers } from "./calibration.ts";
import { type AnswerFacts, isCounted, type Stretch, type TurnFacts, toUsageRow } from "./usage.ts";

/** Joins the facts of single turns that follow each other, at least one; `isSpliced` = one was said after another turn than the one before it. */
export function joinFacts(turns: readonly TurnFacts[], isSpliced: boolean): TurnFacts {
  const kinds = { requests: 0, messages: 0, reasoning: 0, tool_calls: 0, tool_results: 0, harness: 0 };
  let [events, messages, tokens] = [0, 0, 0];
  for (const turn of turns) {
    for (const kind of Object.keys(kinds) as EstimateKind[]) kinds[kind] += turn.kinds[kind];
    events += turn.events;
    messages += turn.messages;
    tokens += turn.tokens;
  }
  const defines = [...new Set(turns.flatMap((turn) => turn.defines ?? []))];
  return {
    index: turns[0]?.index ?? 0,
    events,
    messages,
    tools: [...new Set(turns.flatMap(({ tools }) => tools))],
    ...(defines.length === 0 ? {} : { defines }),
    tokens,
    kinds,
    model: turns.findLast(({ model }) => model !== null)?.model ?? null,
    previous: turns[0]?.previous ?? null,
    ...joinAnswers(turns, isSpliced),
  };
}

function joinAnswers(turns: readonly TurnFacts[], isSpliced: boolean): Pick<TurnFacts, "answers" | "stretch"> {
  const merged = mergeAnswers(turns);
  const index = turns[0]?.index ?? 0;
  const first = merged[0]?.at;
  const last = turns.findLastIndex(({ answers }) => answers.length > 0);
  const newest = merged.findLast((answer) => isCounted(answer));
  const front = merged.filter(({ at }) => at === first);
  const end = merged.findIndex((answer) => answer.at !== first && (answer.lastAt === last || answer === newest));
  const rest = end < 0 ? [] : merged.slice(end).filter((answer) => isCounted(answer) || answer.lastAt === last);
  const inner = merged.slice(front.length, end < 0 ? merged.length : end).filter((answer) => isCounted(answer));
  return {
    answers: [
      ...front.map((answer) => toFacts(answer, index, answer.lastAt === last ? undefined : "back")),
      ...rest.map((answer) => toFacts(answer, index, answer.lastAt === last ? "on" : "none")),
    ],
    stretch: {
      sizes: turns.map((turn) => turn.tokens),
      messages: turns.map((turn) => turn.messages),
      calls: callsOf(turns),
      isSpliced,
      answered: answeredBy(turns),
      inner: {
        before: inner.map(({ before }) => before),
        turns: inner.map(({ turn }) => turn - index),
        usage: inner.map(({ usage }) => toUsageRow(usage)),
        models: runsOf(inner.map(({ model }) => model ?? null)),
      },
    },
  };
}

function toFacts(
  { at: _, lastAt: __, turn, ...answer }: MergedAnswer,
  index: number,
  reach: AnswerFacts["reach"],
): AnswerFacts {
  return { ...answer, ...(turn === index ? {} : { turn: turn - index }), ...defined({ reach }) };
}

/** The tools that are called, each with its first and its last turn. */
function callsOf(turns: readonly TurnFacts[]): Stretch["calls"] {
  const calls = new Map<string, [string, number, number]>();
  for (const [at, { tools }] of turns.entries())
    for (const tool of tools) {
      const call = calls.get(tool);
      if (call === undefined) calls.set(tool, [tool, at, at]);
      else call[2] = at;
    }
  return [...calls.values()];
}

/** The models that answered, each once, by when each did last. */
function answeredBy(turns: readonly TurnFacts[]): readonly string[] {
  const models = turns.flatMap(({ answers }) => answers.flatMap(({ model }) => model ?? []));
  return [...new Set(models.toReversed())].reverse();
}

/** Values one after the other, each with how often it stands there. */
function runsOf(values: readonly (string | null)[]): readonly (readonly [string | null, number])[] {
  const runs: [string | null, number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run?.[0] === value) run[1] += 1;
    else runs.push([value, 1]);
  }
  return runs;
}
