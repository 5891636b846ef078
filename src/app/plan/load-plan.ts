// Loads what planning a compaction needs: the rules in force, the turns, the view as it is with what counts it.
import { type CompactionConfig, type Config, toolHints } from "../../config/config.ts";
import type { CompactionRequest } from "../../core/compact/compaction-request.ts";
import type { ChosenStrategies } from "../../core/compact/strategies/pipelines.ts";
import { fixBounds, needsTurnTimes, type RangeRequest } from "../../core/conversation/bound-resolution.ts";
import type { Compaction, StubStyle, Summary } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { pinnedEvents } from "../../core/conversation/marks.ts";
import { findProfile, type Policies } from "../../core/conversation/policy.ts";
import { defined } from "../../core/json.ts";
import { type TokenMeter, USUAL_WINDOW } from "../../core/model/token-meter.ts";
import type { TurnFacts } from "../../core/model/usage.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { type KnownTurns, type LiveCompactions, loadCompactions } from "../branch/load-view.ts";
import { readPins } from "../branch/pins.ts";
import { refuseSplice } from "../branch/spliced-turns.ts";
import { viewWindow } from "../models/view-window.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { loadPlanTurns, promptsOf } from "./plan-turns.ts";

/** What the user asked for. */
export interface CompactInput {
  readonly range: Omit<RangeRequest, "keepLast">;
  readonly profile?: string;
  /** Policies in place of a profile's. */
  readonly policies?: Policies;
  readonly summary?: Summary;
  /** Strategies in place of a profile. */
  readonly strategies?: ChosenStrategies;
  /** How stubs are written. */
  readonly stubs?: StubStyle;
  /** Whether it carries an index of what is hidden; absent = as configured. */
  readonly index?: boolean;
  /** Take a batch that saves less than its least gain, and a view that grows. */
  readonly force?: boolean;
  /** Reach the answered calls of a turn that is not finished, though the end of the range is not named. */
  readonly intoLoop?: boolean;
  /** Who asked for it; absent = `manual`. */
  readonly source?: NonNullable<Compaction["source"]>;
  /** Ids of events in the range that stay as they are, beside pinned ones. */
  readonly keep?: readonly string[];
}

/** What a plan is made from. */
export interface LoadedForPlan {
  readonly config: Config;
  readonly live: LiveCompactions;
  /** At least those that planning and the view read, by position. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** Of every turn, in order. */
  readonly facts: readonly TurnFacts[];
  readonly before: View;
  readonly meter: TokenMeter;
  /** Ids of the pinned events that were read. */
  readonly pinned: readonly string[];
  /** The bounds that were named, as positions: what is planned next means the same turns. */
  readonly bounds: Pick<RangeRequest, "from" | "to">;
  /** The model that answered last, `provider/model`; null where none did. */
  readonly model: string | null;
  /** Its context window, tokens; null = unknown. */
  readonly knownWindow: number | null;
  /** The same, that of most models where it is unknown. */
  readonly windowTokens: number;
  readonly request: CompactionRequest;
}

/** How what is planned is read. */
export interface PlanReading {
  /** Read also what a summary hides and planning can do without. */
  readonly isWhole?: boolean;
  /** As in `loadView`. */
  readonly known?: KnownTurns;
}

/** Loads it. Throws `unknown_profile`, `spliced_turns` and the errors of a wrong range. */
export async function loadForPlan(
  workspace: Workspace,
  tree: BranchTree,
  input: CompactInput,
  { isWhole = false, known }: PlanReading = {},
): Promise<LoadedForPlan> {
  await refuseSplice(workspace, tree);
  const [{ config }, live] = await Promise.all([
    loadConversationConfig(workspace, tree),
    loadCompactions(workspace.store, tree),
  ]);
  const settings = config.conversation.compaction;
  const { profile, policies } = chooseRules(input, settings);
  const range = rangeOf(input, settings, profile);
  const asked = {
    range,
    turnCount: tree.turnOids.length,
    compactions: live.applied,
    now: workspace.runtime.now().toISOString(),
    policies,
    hints: toolHints(config),
    ...(profile === null ? {} : { profile }),
    ...(input.strategies === undefined ? {} : { strategies: { uses: input.strategies.uses } }),
    ...defined({ stubs: input.stubs, summary: input.summary, source: input.source }),
    intoLoop: input.intoLoop === true || input.force === true,
    beneath: input.force === true,
  };
  const pins = await readPins(workspace, tree);
  const { keep = [] } = input;
  const needs = { pins, keep, hasIndex: input.index ?? settings.index, isWhole, ...defined({ known }) };
  const { turns, facts, view, meter, unread } = await loadPlanTurns(workspace.store, tree, asked, needs);
  const window = await viewWindow(workspace, config, { turns, meter, next: null });
  const pinned = pinnedEvents(pins, turns.values());
  const plan = { ...asked, turns, unread, turnTimes: turnTimes(range, turns) };
  return {
    config,
    live,
    turns,
    facts,
    before: view,
    meter,
    pinned,
    bounds: fixBounds(range, plan),
    model: window?.model ?? null,
    knownWindow: window?.tokens ?? null,
    windowTokens: window?.tokens ?? USUAL_WINDOW,
    request: { ...plan, keep: [...pinned, ...promptsOf(turns.get(0)), ...keep] },
  };
}

/** The range of a request, with what is left alone where it does not say: what its profile says, else the settings. */
export function rangeOf(
  input: Pick<CompactInput, "range" | "strategies">,
  { keep_last, profiles, protected_messages: protectedMessages }: CompactionConfig,
  profile: string | null = null,
): RangeRequest {
  const own = profile !== null && Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  return {
    ...protectionOf(input),
    ...input.range,
    keepLast: own?.keep_last ?? keep_last,
    ...defined({ protectedMessages }),
  };
}

/** A range whose end was named reaches it; that of strategies leaves the newest tokens alone else. */
function protectionOf({
  range: { to, keep },
  strategies,
}: Pick<CompactInput, "range" | "strategies">): Pick<RangeRequest, "protectTokens"> {
  if (strategies?.protectTokens === undefined || to !== undefined || keep !== undefined) return {};
  return { protectTokens: strategies.protectTokens };
}

/** Which profile decides, if one does, and by which policies. */
function chooseRules(
  input: CompactInput,
  settings: CompactionConfig,
): { readonly profile: string | null; readonly policies: Policies } {
  if (input.strategies !== undefined) return { profile: null, policies: input.policies ?? {} };
  const isTold = input.policies !== undefined || input.summary !== undefined;
  if (isTold)
    return { profile: input.profile ?? null, policies: input.policies ?? { summary: { policy: "summarize" } } };
  const profile = input.profile ?? settings.default_profile;
  const { keep_last: _, ...policies } = findProfile(profile, settings.profiles);
  return { profile, policies };
}

function turnTimes(range: RangeRequest, turns: ReadonlyMap<number, Turn>): string[] {
  return needsTurnTimes(range) ? [...turns.values()].map((turn) => turn.events[0]?.timestamp ?? "") : [];
}
