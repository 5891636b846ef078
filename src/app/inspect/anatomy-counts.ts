// The counts of an anatomy: a view by kind, by tool and by turn. Pure.

import type { View } from "../../core/conversation/event.ts";
import { pairCalls } from "../../core/conversation/tool-pairing.ts";
import { measureParts, type PartTokens } from "../../core/model/cache-cost.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import type { AnatomyKind, AnatomyPart, AnatomyTool, AnatomyTurn } from "./anatomy-report.ts";
import { addCosts, type RecordedCost } from "./recorded-cost.ts";

/** Measures the turns of a view. */
export function measureTurns({ turns }: View, { countEvent }: TokenMeter): readonly PartTokens[] {
  const prompts = new Set(leadingPrompts(turns));
  return turns.map((turn) => measureParts(turn, { prompts, countEvent }));
}

const ORDER: readonly AnatomyKind[] = [
  "overhead",
  "system",
  "tools",
  "summaries",
  "index",
  "user",
  "assistant",
  "reasoning",
  "calls",
  "results",
  "attachments",
  "harness",
];

/** Adds the parts up, behind what stands before the events; the largest takes what rounding left of `tokens`. */
export function countByKind(
  turns: readonly PartTokens[],
  { tokens, before }: { readonly tokens: number; readonly before: readonly AnatomyPart[] },
): readonly AnatomyPart[] {
  const sums = new Map<AnatomyKind, number>(before.map((part) => [part.kind, part.tokens]));
  for (const parts of turns) for (const [kind, own] of parts) sums.set(kind, (sums.get(kind) ?? 0) + own);
  const rounded = new Map([...sums].map(([kind, sum]) => [kind, Math.round(sum)]));
  const total = [...rounded.values()].reduce((sum, own) => sum + own, 0);
  const [largest] = [...rounded].sort(([, a], [, b]) => b - a)[0] ?? [];
  if (largest !== undefined) rounded.set(largest, Math.max(0, (rounded.get(largest) ?? 0) + tokens - total));
  return ORDER.flatMap((kind) => (rounded.has(kind) ? [{ kind, tokens: rounded.get(kind) ?? 0 }] : []));
}

/** Tokens of the calls of one tool and of their results, not rounded. */
interface ToolSums {
  calls: number;
  call: number;
  result: number;
}

/** Counts the calls that a view shows, by tool; largest first. */
export function countByTool({ turns }: View, { countEvent }: TokenMeter): readonly AnatomyTool[] {
  const tools = new Map<string, ToolSums>();
  const sumsOf = (tool: string): ToolSums => {
    const sums = tools.get(tool) ?? { calls: 0, call: 0, result: 0 };
    tools.set(tool, sums);
    return sums;
  };
  const listed = turns.map(({ events }, index) => ({ index, events }));
  const pairs = pairCalls(listed, () => false);
  for (const event of listed.flatMap(({ events }) => events)) {
    if (event.type === "tool_call_request") {
      const sums = sumsOf(event.name);
      sums.calls += 1;
      sums.call += countEvent(event);
    } else if (event.type === "tool_call_response") {
      sumsOf(pairs.get(event)?.name ?? UNKNOWN_TOOL).result += countEvent(event);
    }
  }
  return [...tools].map(([tool, sums]) => toTool(tool, sums)).sort((one, other) => other.tokens - one.tokens);
}

/** The tool of a result without a call. */
const UNKNOWN_TOOL = "";

function toTool(tool: string, { calls, call, result }: ToolSums): AnatomyTool {
  return {
    tool,
    calls,
    call_tokens: Math.round(call),
    result_tokens: Math.round(result),
    tokens: Math.round(call + result),
  };
}

/** Counts each turn of a view, with what its requests used. */
export function countByTurn(
  { turns }: View,
  parts: readonly PartTokens[],
  costs: ReadonlyMap<number, RecordedCost>,
): readonly AnatomyTurn[] {
  const told = new Set<number>();
  return turns.map(({ origin }, at) => {
    const { from, to } = origin.kind === "kept" ? { from: origin.turn, to: origin.turn } : origin;
    const own = [...(parts[at] ?? [])].map(([kind, tokens]) => ({ kind, tokens: Math.round(tokens) }));
    return {
      from,
      to,
      kind: origin.kind,
      tokens: Math.round([...(parts[at] ?? [])].reduce((sum, [, tokens]) => sum + tokens, 0)),
      by_kind: own.sort((a, b) => b.tokens - a.tokens),
      // A turn that is cut by a summary stands in the view twice.
      recorded: origin.kind === "index" ? null : addCosts(untold(from, to)),
    };
  });

  function untold(from: number, to: number): readonly RecordedCost[] {
    const found: RecordedCost[] = [];
    for (let turn = from; turn <= to; turn += 1) {
      const cost = told.has(turn) ? undefined : costs.get(turn);
      told.add(turn);
      if (cost !== undefined) found.push(cost);
    }
    return found;
  }
}
