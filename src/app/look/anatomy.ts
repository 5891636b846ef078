// Measures what fills a conversation's window: the view by kind, by tool and by turn, the recorded usage and cost of its requests,
// and what strategies would still free.
import { recordedTools, selectDeltas } from "../../config/config.ts";
import { offeredTools } from "../../core/conversation/defined-tools.ts";
import type { Origin, View } from "../../core/conversation/event.ts";
import { pairCalls } from "../../core/conversation/tool-pairing.ts";
import { measureParts, type PartTokens, type ViewPart } from "../../core/model/cache-cost.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import { countFrame, type OverheadSource, type TokenMeter, type TokenSource } from "../../core/model/token-meter.ts";
import { type HeadroomView, loadHeadroom, type StrategyHeadroom } from "../compact/headroom.ts";
import { readDeltas } from "../conversation/marks.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { readToolDefinitions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { addCosts, costByTurn, type RecordedCost } from "./recorded-cost.ts";

/** Reads the anatomy of a branch's view. Throws `spliced_turns`. */
export async function readAnatomy(workspace: Workspace, tree: BranchTree): Promise<AnatomyReport> {
  const loaded = await loadHeadroom(workspace, tree);
  const { before: view, live, meter, config, facts, headroom, windowTokens: window, knownWindow } = loaded;
  const costs = await costByTurn(workspace, config, facts);
  const { tokens, source } = meter.countView(view, live.applied);
  const parts = measureTurns(view, meter);
  return {
    branch: tree.branch,
    commit: tree.commit,
    turns: tree.turnOids.length,
    model: loaded.model,
    window,
    window_source: knownWindow === null ? "usual" : "known",
    tokens,
    tokens_source: source,
    overhead_source: meter.overheadSource,
    by_kind: countByKind(parts, { tokens, before: await frameParts(workspace, tree, loaded) }),
    by_tool: countByTool(view, meter),
    by_turn: countByTurn(view, parts, costs),
    recorded: addCosts(costs.values()),
    headroom: {
      strategies: headroom.strategies,
      mechanical: { ...headroom.mechanical, share: headroom.mechanical.frees / window },
      threshold: config.conversation.compaction.summarize_threshold,
      turns_left: turnsLeft(loaded),
    },
  };
}

/** The parts before the events: system prompt and tools, separately where the definitions are recorded. */
async function frameParts(
  workspace: Workspace,
  tree: BranchTree,
  { before: view, live, meter }: HeadroomView,
): Promise<readonly AnatomyPart[]> {
  const overhead = meter.overheadUnder(live.applied);
  if (overhead === 0) return [];
  const recorded = recordedTools(selectDeltas(await readDeltas(workspace, tree), tree.atTurn)) ?? [];
  const definitions = await readToolDefinitions(workspace.store, tree, recorded);
  const tools = countFrame(meter, { tools: offeredTools(definitions, view, live.applied) });
  if (tools === 0 || tools > overhead) return [{ kind: "overhead", tokens: overhead }];
  return [
    { kind: "system", tokens: overhead - tools },
    { kind: "tools", tokens: tools },
  ];
}

/** Turns left until only a summary helps: what mechanical compaction cannot free grows with every turn. */
function turnsLeft({ config, meter, live, before, headroom, windowTokens }: HeadroomView): number | null {
  const { after } = headroom.mechanical;
  const most = config.conversation.compaction.summarize_threshold * windowTokens;
  if (after >= most) return 0;
  const shown = new Set(before.turns.flatMap(({ origin }) => (origin.kind === "kept" ? [origin.turn] : [])));
  const growth = (after - meter.overheadUnder(live.applied)) / shown.size;
  return growth > 0 ? Math.floor((most - after) / growth) : null;
}

// The counts of an anatomy. Pure.

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

/** Sums the parts, with what comes before the events first; the largest absorbs the rounding to `tokens`. */
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

/** Counts the calls that a view shows, by tool, largest first. */
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

/** Counts each turn of a view, with the usage of its requests. */
export function countByTurn(
  { turns }: View,
  parts: readonly PartTokens[],
  costs: ReadonlyMap<number, RecordedCost>,
): readonly AnatomyTurn[] {
  const counted = new Set<number>();
  return turns.map(({ origin }, at) => {
    const { from, to } = origin.kind === "kept" ? { from: origin.turn, to: origin.turn } : origin;
    const own = [...(parts[at] ?? [])].map(([kind, tokens]) => ({ kind, tokens: Math.round(tokens) }));
    return {
      from,
      to,
      kind: origin.kind,
      tokens: Math.round([...(parts[at] ?? [])].reduce((sum, [, tokens]) => sum + tokens, 0)),
      by_kind: own.sort((a, b) => b.tokens - a.tokens),
      // A turn that is cut by a summary is in the view twice.
      recorded: origin.kind === "index" ? null : addCosts(uncounted(from, to)),
    };
  });

  function uncounted(from: number, to: number): readonly RecordedCost[] {
    const found: RecordedCost[] = [];
    for (let turn = from; turn <= to; turn += 1) {
      const cost = counted.has(turn) ? undefined : costs.get(turn);
      counted.add(turn);
      if (cost !== undefined) found.push(cost);
    }
    return found;
  }
}

/** What a part of the window contains. `overhead` = system prompt and tools, if only their sum is known. */
export type AnatomyKind = ViewPart | "overhead" | "tools";

export interface AnatomyPart {
  readonly kind: AnatomyKind;
  readonly tokens: number;
}

/** Tokens of the calls of one tool and their results. */
export interface AnatomyTool {
  readonly tool: string;
  readonly calls: number;
  readonly call_tokens: number;
  readonly result_tokens: number;
  /** Calls and results together. */
  readonly tokens: number;
}

/** A turn of the view, or what replaces several. Positions are raw, 0-based, inclusive. */
export interface AnatomyTurn {
  readonly from: number;
  readonly to: number;
  readonly kind: Origin["kind"];
  readonly tokens: number;
  /** Largest first. */
  readonly by_kind: readonly AnatomyPart[];
  /** Recorded usage of these turns' requests; null = none. */
  readonly recorded: RecordedCost | null;
}

/** What can still be freed, and for how long that helps. */
export interface AnatomyHeadroom {
  /** Each strategy alone, the mildest first, `auto` last. */
  readonly strategies: readonly StrategyHeadroom[];
  /** The most that they free together, without any model. */
  readonly mechanical: {
    readonly frees: number;
    readonly after: number;
    /** `frees` as a share of the window. */
    readonly share: number;
  };
  /** Share of the window above which only a summary helps: the setting `summarize_threshold`. */
  readonly threshold: number;
  /**
   * Turns, as large as those now shown, until mechanical compaction cannot keep the view below the threshold; 0 = it is above
   * already; null = unknown.
   */
  readonly turns_left: number | null;
}

/** The anatomy of a view. Tokens are whole numbers, shares 0..1 of the window. */
export interface AnatomyReport {
  readonly branch: string;
  readonly commit: string;
  /** Raw turns of the conversation. */
  readonly turns: number;
  /** The model that answered last, `provider/model`; null where none did. */
  readonly model: string | null;
  readonly window: number;
  /** `usual`: the model's window is unknown, so that of most models is used. */
  readonly window_source: "known" | "usual";
  readonly tokens: number;
  readonly tokens_source: TokenSource;
  /** Where the size of system prompt and tools is from; `unknown`: they are not counted. */
  readonly overhead_source: OverheadSource;
  /** In the order of a request; their sum is `tokens`. */
  readonly by_kind: readonly AnatomyPart[];
  /** Largest first. */
  readonly by_tool: readonly AnatomyTool[];
  /** In the order of the view. */
  readonly by_turn: readonly AnatomyTurn[];
  /** All turns, hidden ones included. */
  readonly recorded: RecordedCost | null;
  readonly headroom: AnatomyHeadroom;
}
