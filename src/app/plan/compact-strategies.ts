// What planning by strategies has to be told: the hints in force, the tools that the conversation defines, and which calls
// a later one makes obsolete.
import { type Config, recordedTools, selectDeltas, settingsOf } from "../../config/config.ts";
import { findContainedReads } from "../../core/compact/shown-lines.ts";
import type { ChosenStrategies } from "../../core/compact/strategies/pipelines.ts";
import type { StrategyRequest } from "../../core/compact/strategies/strategy-names.ts";
import { listPairedCalls } from "../../core/compact/tool-call.ts";
import { type ToolCompactionHints, warnOfUnknownTools } from "../../core/compact/tool-hints.ts";
import { isHiding } from "../../core/conversation/compaction.ts";
import { definedTools } from "../../core/conversation/defined-tools.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { hiddenEvents } from "../../core/conversation/survey.ts";
import { type CallPairs, pairCalls } from "../../core/conversation/tool-pairing.ts";
import { estimateTool, type TokenMeter, wasAskedByJpg } from "../../core/model/token-meter.ts";
import type { TurnFacts } from "../../core/model/usage.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { readDeltas } from "../branch/conversation-config.ts";
import type { LiveCompactions } from "../branch/load-view.ts";
import { readToolDefinitions } from "../branch/tool-records.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { findSubsumed, type Subsumption, type SubsumptionOptions } from "./subsumption.ts";

interface Facts {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly hints: ToolCompactionHints;
  readonly live: LiveCompactions;
  /** At least those that the view shows, in order. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** Of every turn, in order. */
  readonly facts: readonly TurnFacts[];
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
export async function strategyRequest({ uses, names }: ChosenStrategies, known: Facts): Promise<GatheredStrategies> {
  const { hints, turns, viewTokens, meter, windowTokens } = known;
  const readsDefinitions = uses.some(({ strategy }) => strategy.readsAll === true);
  const usesSubsumption = uses.some(({ strategy }) => strategy.usesSubsumption === true);
  // Worked out once: planning asks for the same pairs several times.
  const pairs = pairCalls(turns.values(), () => false);
  const found = usesSubsumption ? await findObsolete(known, pairs) : null;
  const request: StrategyRequest = {
    uses,
    names,
    hints,
    viewTokens,
    tokenFactor: meter.factor,
    windowTokens,
    pairs,
    ...(readsDefinitions ? await findTools(known) : {}),
    ...(found === null ? {} : { subsumed: found.pairs }),
  };
  return { request, problems: found?.problems ?? [] };
}

/** Which calls a later one makes obsolete. A hidden one makes no shown one obsolete, however late it came. */
async function findObsolete(known: Facts, pairs: CallPairs): Promise<Subsumption> {
  const { workspace, hints, tree, live, turns } = known;
  const options = { hints, ...place(workspace) };
  const all = listPairedCalls([...turns.values()], pairs);
  if (!live.applied.some(isHiding)) return findSubsumed(all, options);
  const isHidden = hiddenEvents({ turnCount: tree.turnOids.length, turns, compactions: live.applied });
  const shown = all.filter(({ turn, index }) => !isHidden(turn, index));
  const found = await findSubsumed(shown, options);
  // Why there is nothing to take out is looked for as if nothing were hidden.
  return { ...found, pairs: new Map([...findContainedReads(all), ...found.pairs]) };
}

/** Names the tools that the conversation defines and calls; what they come to only where jpg itself sends them, not its agent. */
async function findTools({
  workspace,
  tree,
  facts,
  before,
}: Facts): Promise<Pick<StrategyRequest, "definedTools" | "calledTools" | "toolTokens">> {
  const deltas = selectDeltas(await readDeltas(workspace, tree));
  const recorded = recordedTools(deltas) ?? [];
  const settings = deltas.map(({ delta }) => settingsOf(delta));
  const inTurns = facts.flatMap(({ defines = [] }) => defines);
  const tools = {
    definedTools: [...definedTools([...settings, { tools: recorded.map(({ name }) => name) }]), ...inTurns],
    calledTools: new Set(facts.flatMap((one) => one.tools)),
  };
  if (tree.header.source !== null && !wasAskedByJpg(before)) return tools;
  const definitions = await readToolDefinitions(workspace.store, tree, recorded);
  return { ...tools, toolTokens: new Map(definitions.map((tool) => [tool.name, estimateTool(tool)])) };
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
