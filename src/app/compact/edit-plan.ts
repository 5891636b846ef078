// Offers a view as a plan to edit; reads, checks and reports edited plans.
import { type Config, toolHints } from "../../config/config.ts";
import {
  type EditItem,
  type EditPlan,
  type EditVerb,
  itemsOf,
  type PlanBase,
  type PlanProblem,
  parsePlan,
} from "../../core/compact/edit-plan.ts";
import { checkPlan, type EditSteps, listSteps, type PlannedStep, planSteps } from "../../core/compact/edit-steps.ts";
import type { Ungrounded } from "../../core/compact/grounding.ts";
import { lostFacts } from "../../core/compact/lost-facts.ts";
import { cutEnd } from "../../core/compact/passages.ts";
import { planTimeline } from "../../core/compact/timeline.ts";
import { type Compaction, withoutIndex } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { type CompactionGroup, describeGroup, groupRange } from "../../core/conversation/group.ts";
import { type Pin, pinnedEvents, pinsInForce } from "../../core/conversation/marks.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { project } from "../../core/conversation/projection.ts";
import { asSentence, type JpgError, userError } from "../../core/errors.ts";
import { cacheCost } from "../../core/model/cache-cost.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import type { TokenCount, TokenMeter } from "../../core/model/token-meter.ts";
import { forLine } from "../../core/safe-text.ts";
import { loadCounted, worstSource } from "../conversation/counted-view.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { refuseSplice } from "../conversation/spliced-turns.ts";
import { type BranchTree, listTurnOids, loadTip } from "../conversation/tree.ts";
import { type MetaRecord, readMetas } from "../conversation/turns.ts";
import type { KnownTurns, LiveCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { viewWindow } from "../models/models.ts";
import { type NextCallTerms, nextCallTerms } from "../models/next-call.ts";
import {
  type CompactReport,
  costOfChange,
  describeSummary,
  eventsRemoved,
  type PlannedSummary,
  segmentTokens,
} from "./compact-report.ts";
import type { SummaryRequest } from "./summary-source.ts";

/** A plan before it is printed: its lines, and the size of the whole view. */
export interface PlanOffer {
  readonly base: PlanBase;
  readonly items: readonly EditItem[];
  /** Verbs taken over from an older plan, by place; other lines have their item's own verb. */
  readonly verbs: ReadonlyMap<string, EditVerb>;
  readonly size: TokenCount;
  /** Tokens of system prompt and tools, which no line counts. */
  readonly overhead: number;
  /** Context window of the conversation's model, tokens; null = unknown. */
  readonly windowTokens: number | null;
  /** Lines of an older plan that asked for a change and no longer exist, as they were written. */
  readonly lost: readonly string[];
}

/** Characters of a commit id in a printed plan. */
const COMMIT_CHARS = 12;

export async function offerPlan(
  workspace: Workspace,
  tree: BranchTree,
  { calls }: Pick<PlanBase, "calls">,
): Promise<PlanOffer> {
  const { items, size, meter, windowTokens } = await loadEdit(workspace, tree, { calls });
  const base = { branch: tree.branch, commit: tree.commit.slice(0, COMMIT_CHARS), calls };
  return { base, items, verbs: new Map(), size, overhead: meter.overhead, windowTokens, lost: [] };
}

/**
 * Offers a plan with the verbs of an older one on items whose turns did not change. Throws `bad_plan`; unreadable lines are
 * skipped.
 */
export async function carryOver(workspace: Workspace, tree: BranchTree, text: string): Promise<PlanOffer> {
  const { plan, problems } = parsePlan(text);
  if (plan === null && problems.length > 0) throw badPlan(problems);
  const offer = await offerPlan(workspace, tree, { calls: plan?.base.calls ?? false });
  if (plan === null) return offer;
  const isUnchanged = await unchangedSince(workspace, tree, plan.base.commit);
  const items = new Map(offer.items.map((item) => [item.place, item] as const));
  const verbs = new Map<string, EditVerb>();
  const lost: string[] = [];
  for (const { place, verb } of plan.lines) {
    const item = items.get(place);
    if (item !== undefined && isUnchanged(item)) verbs.set(place, verb);
    else if (verb !== "keep" && verb !== "pin") lost.push(`${verb} ${place}`);
  }
  return { ...offer, verbs, lost };
}

/** Returns a function that says whether an item's turns are the same as at a commit. */
async function unchangedSince(
  { store }: Workspace,
  { turnOids }: BranchTree,
  commit: string,
): Promise<(item: EditItem) => boolean> {
  const known = await store.resolveCommit(commit);
  const before = known === null ? [] : await listTurnOids(store, known);
  return ({ range: { from, to } }) => {
    for (let turn = from; turn <= to; turn++) if (turnOids[turn] !== before[turn]) return false;
    return true;
  };
}

// Loads what a plan is made from: the view of a branch with its pins, counted.

export interface LoadedEdit {
  readonly tree: BranchTree;
  readonly config: Config;
  readonly live: LiveCompactions;
  /** Loaded turns: at least those that the view shows. */
  readonly turns: ReadonlyMap<number, Turn>;
  readonly view: View;
  readonly meter: TokenMeter;
  readonly size: TokenCount;
  /** Context window of the conversation's model, tokens; null = unknown. */
  readonly windowTokens: number | null;
  /** What the next call is charged; null = not known. */
  readonly terms: NextCallTerms | null;
  readonly metas: readonly MetaRecord[];
  readonly pins: readonly Pin[];
  readonly items: readonly EditItem[];
}

interface EditReading {
  readonly calls: boolean;
  readonly known?: KnownTurns;
}

/** Loads a branch for editing. Throws `spliced_turns`. */
export async function loadEdit(
  workspace: Workspace,
  tree: BranchTree,
  { calls, known = new Map() }: EditReading,
): Promise<LoadedEdit> {
  await refuseSplice(workspace, tree);
  const [{ config }, metas, counted] = await Promise.all([
    loadConversationConfig(workspace, tree),
    readMetas(workspace, tree),
    loadCounted(workspace.store, tree, known),
  ]);
  const { live, turns, view, meter } = counted;
  const window = await viewWindow(workspace, config, { turns, meter, next: null });
  const pins = pinsInForce(metas);
  const compactions = live.applied.map(withoutIndex);
  const listed = project({ turnCount: tree.turnOids.length, turns, compactions });
  const items = itemsOf({ view: listed, turns, compactions, pins, count: meter.countEvent, calls });
  return {
    tree,
    config,
    live,
    turns,
    view,
    meter,
    size: meter.countView(view, live.applied),
    windowTokens: window?.tokens ?? null,
    terms: await nextCallTerms(workspace, config, turns.values()),
    metas,
    pins,
    items,
  };
}

/** Most problems that an error names; the rest is only counted. */
const MOST_NAMED = 10;
/** Most commits searched for the one that the plan was made from. */
const MOST_COMMITS = 20;
/** Longest commit subject in an error, characters. */
const SUBJECT = 80;

/** Creates the error of a plan with wrong lines. */
export function badPlan(problems: readonly PlanProblem[]): JpgError {
  const sorted = [...problems].sort((a, b) => a.line - b.line);
  const named = sorted.slice(0, MOST_NAMED).map(({ line, message }) => `line ${line}: ${message}`);
  const rest = problems.length - named.length;
  const hints = [
    ...named.slice(1),
    ...(rest === 0 ? [] : [`… and ${rest} more`]),
    "`jpg edit --emit-plan` prints a new plan.",
    "Nothing was committed.",
  ];
  return userError("bad_plan", `The plan cannot be followed: ${asSentence(named[0] ?? "")}`, {
    hints,
    data: { problems: sorted },
  });
}

/** Refuses a plan of another branch or commit. Throws `plan_of_another`, `plan_moved`. */
export async function requireBase(workspace: Workspace, tree: BranchTree, base: PlanBase): Promise<void> {
  if (base.branch !== tree.branch) {
    throw userError("plan_of_another", `The plan was made from ${base.branch}, not from ${tree.branch}.`, {
      hints: [`\`jpg edit ${base.branch} --plan FILE\` edits that branch.`, "Nothing was committed."],
    });
  }
  if (!tree.commit.startsWith(base.commit)) throw await planMoved(workspace, base);
}

/** Creates the error of a plan whose branch has moved; it lists the commits added. */
export async function planMoved(workspace: Workspace, { branch, commit }: PlanBase): Promise<JpgError> {
  const tip = await loadTip(workspace.store, branch);
  const log = await workspace.store.readLog({ from: tip?.commit ?? branch, limit: MOST_COMMITS });
  const at = log.findIndex((entry) => entry.commit.startsWith(commit));
  const subjects = log
    .slice(0, Math.max(0, at))
    .map(({ message }) => cutEnd(forLine(message.split("\n", 1)[0] ?? ""), SUBJECT));
  const what =
    at > 0
      ? `${at} ${at === 1 ? "commit was" : "commits were"} added: ${subjects.reverse().join("; ")}`
      : `${commit.slice(0, 9)} is not among its last ${MOST_COMMITS} commits: its newest turn was continued, or much was added`;
  return userError("plan_moved", `${branch} moved since the plan was made from ${commit.slice(0, 9)}: ${what}.`, {
    hints: [
      `\`jpg edit ${branch} --plan FILE --emit-plan\` prints the plan for the branch as it is now, with your verbs on the lines that are still there.`,
      "Nothing was committed.",
    ],
    data: { commit, tip: tip?.commit ?? null },
  });
}

/** The report of `edit`; `compaction` is the first one made. */
export interface EditReport extends CompactReport {
  /** All compactions made, in order of their ranges. */
  readonly compactions: readonly Compaction[];
  /** Id of their group, if there are several or pins came with them. */
  readonly group: string | null;
  readonly pinned: readonly Pin[];
  readonly unpinned: readonly Pin[];
}

interface EditOutcome {
  readonly compactions: readonly Compaction[];
  readonly after: View;
  readonly size: TokenCount;
  readonly pinned: readonly Pin[];
  readonly unpinned: readonly Pin[];
  readonly group: string | null;
  readonly dryRun: boolean;
  readonly ungrounded: readonly Ungrounded[];
  readonly summaries: readonly PlannedSummary[];
  readonly warnings: readonly string[];
}

/** Reports an edit that changes nothing; `reason` = why. */
export function emptyEditReport(loaded: LoadedEdit, dryRun: boolean, reason: string): EditReport {
  const { view: after, size } = loaded;
  const none = { compactions: [], pinned: [], unpinned: [], group: null, ungrounded: [], summaries: [], warnings: [] };
  return { ...editReport(loaded, { ...none, after, size, dryRun }), reason };
}

/** Reports what an edited plan does. */
export function editReport(loaded: LoadedEdit, outcome: EditOutcome): EditReport {
  const { tree, live, turns, view: before, meter, size } = loaded;
  const { compactions, after, dryRun, summaries } = outcome;
  const [first = null, ...others] = compactions;
  const group: CompactionGroup | null = first === null ? null : [first, ...others];
  const range = group === null ? null : groupRange(group);
  const segments = planTimeline(compactions, { turnCount: tree.turnOids.length, turns, compactions: live.applied });
  const counting = { count: meter.countEvent, overhead: meter.overheadUnder(live.applied) };
  const { overhead } = counting;
  const measure = { factor: meter.factor, overhead: { before: overhead, after: overhead } };
  const tokens = { before: size.tokens, after: outcome.size.tokens };
  const cache = group === null || summaries.length > 0 ? null : cacheCost(before, after, counting);
  const [summary = null, ...more] = summaries;
  return {
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    dryRun,
    compaction: first,
    compactions,
    group: outcome.group,
    pinned: outcome.pinned,
    unpinned: outcome.unpinned,
    commit: null,
    from_turn: range?.from ?? null,
    to_turn: range?.to ?? null,
    policies: group === null ? "" : describeGroup(group),
    tokens,
    tokens_source: worstSource([size.source, outcome.size.source]),
    overhead: counting.overhead,
    overhead_source: meter.overheadSource,
    pruned: null,
    cache,
    cost: costOfChange(cache, loaded.terms),
    receipt: first?.receipt ?? null,
    ...(first?.receipt === undefined ? {} : { lost: lostFacts(before, after, compactions) }),
    ungrounded: outcome.ungrounded,
    report:
      group === null || summaries.length > 0
        ? null
        : {
            events_removed: eventsRemoved({ before, after }),
            estimated_tokens_saved: tokens.before - tokens.after,
            steps: [],
          },
    segments: segmentTokens({ segments }, { turns, before, after, countEvent: meter.countEvent }),
    planned_summary: summary,
    warnings: [...more.map(describeSummary), ...outcome.warnings],
    ...(dryRun ? { views: { before, after, measure } } : {}),
  };
}

/** How a plan is followed. Options of summaries matter only if the plan has some. */
export interface EditRequest
  extends Pick<SummaryRequest, "model" | "focus" | "style" | "signal" | "progress" | "force"> {
  readonly dryRun: boolean;
}

/** A checked plan, with all that is needed to follow it. */
export interface PreparedEdit {
  readonly loaded: LoadedEdit;
  readonly steps: readonly PlannedStep[];
  readonly pinned: readonly Pin[];
  readonly unpinned: readonly Pin[];
  /** The pins after the edit. */
  readonly pins: readonly Pin[];
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

/** Checks the lines and plans their steps. Throws `bad_plan`. */
export async function prepareEdit(
  workspace: Workspace,
  tree: BranchTree,
  { plan, problems: written }: { readonly plan: EditPlan; readonly problems: readonly PlanProblem[] },
): Promise<PreparedEdit> {
  const loaded = await loadEdit(workspace, tree, { calls: plan.base.calls });
  const checked = checkPlan(plan, loaded.items);
  if (written.length + checked.problems.length > 0) throw badPlan([...written, ...checked.problems]);
  const steps = listSteps(checked.choices, loaded.turns);
  if (steps.problems.length > 0) throw badPlan(steps.problems);
  const pins = pinsAfter(loaded.pins, steps);
  const { planned, idle, problems } = planSteps(steps.steps, {
    turnCount: tree.turnOids.length,
    turns: loaded.turns,
    compactions: loaded.live.applied,
    now: workspace.runtime.now().toISOString(),
    hints: toolHints(loaded.config),
    pins,
    prompts: promptsOf(loaded),
  });
  if (problems.length > 0) throw badPlan(problems);
  const notes = idle.map(({ step, reason }) => `line ${step.line} of the plan changes nothing: ${reason}`);
  return { loaded, steps: planned, pinned: steps.pins, unpinned: steps.unpins, pins, notes };
}

function pinsAfter(pins: readonly Pin[], { pins: set, unpins }: EditSteps): readonly Pin[] {
  const keyOf = ({ turn, event }: Pin): string => `${turn}:${event ?? ""}`;
  const gone = new Set(unpins.map(keyOf));
  return [...pins.filter((pin) => !gone.has(keyOf(pin))), ...set];
}

/** Lists the leading system prompts, which are never edited. */
function promptsOf({ turns }: LoadedEdit): readonly string[] {
  const first = turns.get(0);
  return first === undefined ? [] : leadingPrompts([first]).map(({ id }) => id);
}

/** Lists the events that must not change. */
export function protectedEvents({ pins, loaded }: Pick<PreparedEdit, "pins" | "loaded">): readonly string[] {
  return pinnedEvents(pins, loaded.turns.values());
}
