// What planning by strategies has to be told: the hints in force, the tools that the conversation defines, and which calls
// a later one makes obsolete.
import type { Config } from "../../config/config.ts";
import { selectDeltas } from "../../config/config-delta.ts";
import { recordedTools, settingsOf } from "../../config/recorded-tools.ts";
import { pairCalls } from "../../core/event/tool-pairing.ts";
import type { Turn } from "../../core/event/turn.ts";
import type { View } from "../../core/projection/view.ts";
import { definedTools } from "../../core/strategies/defined-tools.ts";
import type { ChosenStrategies } from "../../core/strategies/pipelines.ts";
import type { StrategyRequest } from "../../core/strategies/plan-strategies.ts";
import { estimateTool, wasAskedByJpg } from "../../core/tokens/sent-size.ts";
import type { TokenMeter } from "../../core/tokens/token-meter.ts";
import type { TurnFacts } from "../../core/tokens/turn-facts.ts";
import { listPairedCalls } from "../../core/tools/tool-call.ts";
import type { ToolCompactionHints } from "../../core/tools/tool-hints.ts";
import { warnOfUnknownTools } from "../../core/tools/unknown-tools.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { readDeltas } from "../branch/conversation-config.ts";
import { readToolDefinitions } from "../branch/tool-records.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { findSubsumed, type SubsumptionOptions } from "./subsumption.ts";

interface Facts {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly hints: ToolCompactionHints;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  /** Tokens of the view before. */
  readonly viewTokens: number;
  readonly meter: TokenMeter;
  /** Context window of the conversation's model, tokens. */
  readonly windowTokens: number;
}

/** A request to strategies, and what went wrong while it was made, as sentences. */
export interface GatheredStrategies {
  readonly request: StrategyRequest;
  readonly problems: readonly string[];
}

/** Gathers what strategies need. Runs the programs of `subsumes` hints. */
export async function strategyRequest(
  { uses, names }: ChosenStrategies,
  { workspace, tree, hints, turns, before, viewTokens, meter, windowTokens }: Facts,
): Promise<GatheredStrategies> {
  const readsDefinitions = uses.some(({ strategy }) => strategy.readsAll === true);
  const usesSubsumption = uses.some(({ strategy }) => strategy.usesSubsumption === true);
  // Worked out once: planning asks for the same pairs several times.
  const list = [...turns.values()];
  const pairs = pairCalls(list, () => false);
  const found = usesSubsumption
    ? await findSubsumed(listPairedCalls(list, pairs), { hints, ...place(workspace) })
    : null;
  const request: StrategyRequest = {
    uses,
    names,
    hints,
    viewTokens,
    tokenFactor: meter.factor,
    windowTokens,
    pairs,
    ...(readsDefinitions ? await findTools({ workspace, tree, turns, before }) : {}),
    ...(found === null ? {} : { subsumed: found.pairs }),
  };
  return { request, problems: found?.problems ?? [] };
}

/** Names the tools that the conversation defines; what they come to only where jpg itself sends them, not its agent. */
async function findTools({
  workspace,
  tree,
  turns,
  before,
}: Pick<Facts, "workspace" | "tree" | "turns" | "before">): Promise<
  Pick<StrategyRequest, "definedTools" | "toolTokens">
> {
  const deltas = selectDeltas(await readDeltas(workspace, tree));
  const recorded = recordedTools(deltas) ?? [];
  const settings = deltas.map(({ delta }) => settingsOf(delta));
  const names = definedTools(turns.values(), [...settings, { tools: recorded.map(({ name }) => name) }]);
  if (tree.header.source !== null && !wasAskedByJpg(before)) return { definedTools: names };
  const definitions = await readToolDefinitions(workspace.store, tree, recorded);
  return { definedTools: names, toolTokens: new Map(definitions.map((tool) => [tool.name, estimateTool(tool)])) };
}

/** Where programs are started: in the project, else in the store. */
function place({ location, runtime }: Workspace): Pick<SubsumptionOptions, "cwd" | "env"> {
  return { cwd: location.project?.root ?? location.root, env: runtime.env };
}

/** Warns of hints for tools that no turn calls. */
export function warnOfHints(config: Config, facts: readonly TurnFacts[]): readonly string[] {
  const called = new Set(facts.flatMap(({ tools }) => tools));
  return warnOfUnknownTools(Object.keys(config.conversation.tools), called);
}
