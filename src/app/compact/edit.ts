// Follows an edited plan: load → check its lines and plan its compactions → have summaries written → one commit. Commits all of it
// or nothing.
import { type EditPlan, parsePlan, printPlan } from "../../core/compact/edit-plan.ts";
import type { PlannedStep } from "../../core/compact/edit-steps.ts";
import type { Ungrounded } from "../../core/compact/grounding.ts";
import { trialOf } from "../../core/compact/plan.ts";
import { describeRestored } from "../../core/compact/plan-effect.ts";
import { lossReceipt } from "../../core/compact/receipt.ts";
import { type Compaction, EXTRACTIVE, type Summary } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import { type CompactionGroup, groupRange } from "../../core/conversation/group.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { project } from "../../core/conversation/projection.ts";
import { boundAt } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { type TokenCount, USUAL_WINDOW } from "../../core/model/token-meter.ts";
import { compactionMessage, groupMessage, recordMessage } from "../../store/messages.ts";
import type { FileChange } from "../../store/store.ts";
import { commitPlan, type PlannedChange, recordChange, timestampAfter } from "../conversation/append.ts";
import { coveredEvents, coverFacts, coversDigest, verifyCoverage } from "../conversation/covers.ts";
import { boundOf, requirePins } from "../conversation/marks.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { randomId } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { largestChanges } from "../diff/diff-hunks.ts";
import { checkSummary, messagesAfter } from "./append-compaction.ts";
import { describeGrowth, describeSummary, eventsRemoved, hiddenBy, type PlannedSummary } from "./compact-report.ts";
import {
  badPlan,
  carryOver,
  type EditReport,
  type EditRequest,
  editReport,
  emptyEditReport,
  loadEdit,
  type PreparedEdit,
  planMoved,
  prepareEdit,
  protectedEvents,
  requireBase,
} from "./edit-plan.ts";
import { extractNotes, summaryModel, writeSummary } from "./generate-summary.ts";
import type { PlannedCompaction } from "./plan.ts";

/**
 * Follows the text of a plan. Throws `bad_plan` with the lines, `plan_of_another`, `plan_moved`, `pin_hidden`, `view_grows`, and
 * the errors of writing a summary; nothing is committed then.
 */
export async function applyPlan(
  workspace: Workspace,
  tree: BranchTree,
  text: string,
  request: EditRequest,
): Promise<EditReport> {
  const { plan, problems } = parsePlan(text);
  if (plan === null && problems.length > 0) throw badPlan(problems);
  const idle = async (reason: string): Promise<EditReport> =>
    emptyEditReport(await loadEdit(workspace, tree, { calls: false }), request.dryRun, reason);
  if (plan === null) return idle("the plan is empty");
  await requireBase(workspace, tree, plan.base);
  const prepared = await prepareEdit(workspace, tree, { plan, problems });
  const { loaded, steps, pinned, unpinned, notes } = prepared;
  if (steps.length + pinned.length + unpinned.length === 0)
    return { ...emptyEditReport(loaded, request.dryRun, notes[0] ?? "the plan changes nothing"), warnings: notes };
  const written = await writeSummaries(workspace, prepared, request);
  const { dryRun, force } = request;
  const first = await makeChange(workspace, prepared, { ...written, dryRun, force });
  if (dryRun) return first.report;
  const { appended, value: report } = await commitPlan(workspace, tree, async (at) => {
    if (at.commit === tree.commit) return { change: first.change, value: first.report };
    const again = await prepareAgain(workspace, at, { plan, prepared, written });
    if (again === null) throw await planMoved(workspace, plan.base);
    const made = await makeChange(workspace, again.prepared, { ...again.written, dryRun, force });
    return { change: made.change, value: made.report };
  });
  if (appended === null) return report;
  await refreshViews(workspace, tree.branch, appended.parent);
  return { ...report, commit: appended.commit };
}

// Makes the one commit of an edited plan from its steps: compactions and pins of one group, their effect on the view, and the
// message.

interface Written extends WrittenSummaries, Pick<EditRequest, "dryRun" | "force"> {}

/** Makes the commit's content and the report. Throws `pin_hidden`, `view_grows` unless forced, `coverage_broken`. */
async function makeChange(
  workspace: Workspace,
  prepared: PreparedEdit,
  { summaries, toWrite, notes, dryRun, force = false }: Written,
): Promise<{ readonly report: EditReport; readonly change: PlannedChange }> {
  const { loaded, pinned, unpinned } = prepared;
  const { tree, turns, live, view: before, meter } = loaded;
  const turnCount = tree.turnOids.length;
  const pins = [...pinned.map((pin) => ({ pin })), ...unpinned.map((unpin) => ({ unpin }))];
  const group =
    prepared.steps.length > 0 && prepared.steps.length + pins.length > 1 ? randomId(workspace.runtime) : null;
  const drafts = await assignIds(workspace, prepared, { summaries, group });
  const all = [...live.applied, ...drafts];
  const after = project({ turnCount, turns, compactions: all });
  requirePins(protectedEvents(prepared), { turns: turns.values(), before, after });
  if (!dryRun) verifyCoverage({ turnCount, turns, compactions: all });
  const size = meter.countView(after, all);
  if (!force) requireSmaller(loaded.size.tokens, size.tokens);
  const compactions = withEffect(drafts, prepared, { after, size, isWritten: toWrite.length === 0 });
  const ungrounded: Ungrounded[] = [];
  for (const compaction of toWrite.length > 0 ? [] : compactions)
    appendAll(ungrounded, await checkSummary(workspace, tree, { compaction, turns, strict: false }));
  const givenBack = givenBackOf(compactions, prepared, after);
  const warnings = [...warningsOf(prepared, { before: loaded.size.tokens, after: size.tokens }, givenBack), ...notes];
  const outcome = {
    compactions,
    after,
    size,
    pinned,
    unpinned,
    group,
    dryRun,
    ungrounded,
    summaries: toWrite,
    warnings,
  };
  const changes = [
    ...compactions.map((compaction) => recordChange(workspace, "compactions", compaction)),
    ...pinChanges(workspace, prepared, { pins, group }),
  ];
  const message = messageOf(compactions, prepared, { after, givenBack });
  return { report: editReport(loaded, outcome), change: { message, changes, sign: true } };
}

/** Gives the drafts their ids, digests and a common time. */
async function assignIds(
  workspace: Workspace,
  { loaded, steps }: PreparedEdit,
  {
    summaries,
    group,
  }: { readonly summaries: ReadonlyMap<PlannedStep, { readonly summary: string }>; readonly group: string | null },
): Promise<readonly Compaction[]> {
  const { tree, live, config } = loaded;
  const { inject = "pair" } = config.conversation.compaction;
  const facts = coverFacts(workspace.store, tree);
  const timestamp = timestampAfter(
    workspace.runtime.now(),
    live.all.map((compaction) => compaction.timestamp),
  );
  const drafts: Compaction[] = [];
  for (const step of steps) {
    const { compaction: draft, summarize } = step.plan;
    const written = summaries.get(step) ?? (summarize === undefined ? undefined : { summary: "" });
    const covers = await coversDigest(draft, facts);
    drafts.push({
      ...draft,
      ...(written === undefined ? {} : { summary: { ...(inject === "pair" ? {} : { inject }), ...written } }),
      id: randomId(workspace.runtime),
      timestamp,
      ...(covers === null ? {} : { covers }),
      ...(group === null ? {} : { group }),
    });
  }
  return drafts;
}

/** Adds the effect of the whole commit to each record; its receipt to the first only. */
function withEffect(
  drafts: readonly Compaction[],
  prepared: PreparedEdit,
  { after, size, isWritten }: { readonly after: View; readonly size: TokenCount; readonly isWritten: boolean },
): readonly Compaction[] {
  const { turns, view: before, size: was, tree } = prepared.loaded;
  const ratio = was.tokens === 0 ? {} : { compression_ratio: Math.round((1 - size.tokens / was.tokens) * 1000) / 1000 };
  const removed = isWritten ? { events_removed: Math.max(0, eventsRemoved({ before, after })) } : {};
  const texts = drafts.flatMap(({ summary }) => summary?.summary ?? []);
  const receipt = lossReceipt({
    raw: drafts.flatMap((draft) => coveredEvents(draft, turns).map(({ event }) => event)),
    before,
    after,
    summary: texts.length === 0 ? undefined : texts.join("\n"),
    pins: protectedEvents(prepared),
  });
  const countAfter = messagesAfter(turns, before);
  return drafts.map((draft, at) => ({
    ...draft,
    stats: {
      ...draft.stats,
      keep_recent: countAfter(draft),
      kept_turns: tree.turnOids.length - 1 - draft.to_turn,
      ...ratio,
      tokens: { before: was.tokens, after: size.tokens },
      ...removed,
    },
    ...(at === 0 && isWritten ? { receipt } : {}),
  }));
}

function requireSmaller(before: number, after: number): void {
  if (after <= before) return;
  throw userError("view_grows", `The plan would make the view grow ${describeGrowth({ before, after })}.`, {
    data: { before, after },
    hints: ["`--force` follows it anyway; with `--dry-run` it shows where the view grows.", "Nothing was committed."],
  });
}

type PinFields = { readonly pin: Pin } | { readonly unpin: Pin };

function pinChanges(
  workspace: Workspace,
  { loaded: { metas } }: PreparedEdit,
  { pins, group }: { readonly pins: readonly PinFields[]; readonly group: string | null },
): readonly FileChange[] {
  const timestamp = timestampAfter(
    workspace.runtime.now(),
    metas.map((meta) => meta.timestamp),
  );
  return pins.map((fields) => {
    const shared = group === null ? {} : { group };
    const record = { type: "meta", id: randomId(workspace.runtime), timestamp, ...fields, ...shared };
    return recordChange(workspace, "meta", record);
  });
}

function givenBackOf(compactions: readonly Compaction[], { loaded }: PreparedEdit, after: View): string | null {
  const { turns, live, view: before } = loaded;
  const tools = compactions.find(({ tool_calls }) => tool_calls !== undefined)?.tool_calls;
  if (tools === undefined) return null;
  const keep = compactions.flatMap((compaction) => compaction.keep ?? []);
  return describeRestored({ keep, tool_calls: tools }, { turns, compactions: live.applied, before, after });
}

function warningsOf(
  { steps, notes }: PreparedEdit,
  { before, after }: { readonly before: number; readonly after: number },
  givenBack: string | null,
): readonly string[] {
  return [
    ...notes,
    ...steps.flatMap(({ plan: { hiddenBy: ids } }) =>
      ids.map((id) => `hidden by summary ${id} until ${id} is reverted`),
    ),
    ...(givenBack === null ? [] : [`gives back ${givenBack}`]),
    ...(after > before ? [`the view grows ${describeGrowth({ before, after })}`] : []),
  ];
}

function messageOf(
  compactions: readonly Compaction[],
  { loaded, pinned, unpinned }: PreparedEdit,
  { after, givenBack }: { readonly after: View; readonly givenBack: string | null },
): string {
  const { turns, view: before, meter } = loaded;
  const [first, ...others] = compactions;
  if (first === undefined) return pinMessage(pinned, unpinned);
  const group: CompactionGroup = [first, ...others];
  const own = new Set(compactions.map(({ id }) => id));
  const { from: from_turn, to: to_turn } = groupRange(group);
  const effect = {
    hidden: hiddenBy({ from_turn, to_turn }, { turns, before, after, meter }),
    restored: givenBack,
    changes: largestChanges({ before, after, meter }, own),
  };
  if (group.length === 1 && pinned.length + unpinned.length === 0)
    return compactionMessage({ compaction: first, ...effect });
  return groupMessage({ group, ...effect, pinned: pinned.map(boundOf), unpinned: unpinned.map(boundOf) });
}

/** Writes the message of a commit of pins, as `jpg pin` does. */
function pinMessage(pinned: readonly Pin[], unpinned: readonly Pin[]): string {
  const words = (pins: readonly Pin[]): string => pins.map(boundOf).join(", ");
  if (pinned.length === 0) return recordMessage("unpin", words(unpinned));
  const rest = unpinned.length === 0 ? "" : `; unpin: ${words(unpinned)}`;
  return recordMessage("pin", `${words(pinned)}${rest}`);
}

/** The outcome of writing summaries. */
interface WrittenSummaries {
  /** Summary of each step that needs one. */
  readonly summaries: ReadonlyMap<PlannedStep, Summary>;
  readonly toWrite: readonly PlannedSummary[];
  readonly notes: readonly string[];
}

/**
 * Has the summaries of a plan written; a dry run writes only extracts and names the model of the others. Throws like
 * `writeSummary`.
 */
async function writeSummaries(
  workspace: Workspace,
  prepared: PreparedEdit,
  request: EditRequest,
): Promise<WrittenSummaries> {
  const wanted = prepared.steps.filter(({ plan }) => plan.summarize !== undefined);
  const summaries = new Map<PlannedStep, Summary>();
  const toWrite: PlannedSummary[] = [];
  if (wanted.length === 0) return { summaries, toWrite, notes: [] };
  const notes = new Set<string>();
  for (const [at, step] of wanted.entries()) {
    const planned = plannedOf(step, prepared);
    const { from_turn, to_turn } = step.plan.compaction;
    const model = await summaryModel(workspace, planned, request);
    for (const note of await extractNotes(workspace, planned, { model, asked: request, command: "" })) notes.add(note);
    if (request.dryRun && model !== EXTRACTIVE) {
      toWrite.push({ from_turn, to_turn, model });
      continue;
    }
    if (request.dryRun) notes.add(describeSummary({ from_turn, to_turn, model }));
    if (model !== EXTRACTIVE && wanted.length > 1)
      request.progress?.(`summary ${at + 1} of ${wanted.length}: turns ${from_turn}..${to_turn}`);
    summaries.set(step, await writeSummary(workspace, prepared.loaded.tree, planned, request));
  }
  return { summaries, toWrite, notes: [...notes] };
}

/** Returns a step as the plan of a compaction of its own. */
function plannedOf({ plan }: PlannedStep, prepared: PreparedEdit): PlannedCompaction {
  const { config, live, turns, view, meter, size, windowTokens, tree } = prepared.loaded;
  const trial = [...live.applied, trialOf(plan.compaction, true)];
  const after = project({ turnCount: tree.turnOids.length, turns, compactions: trial });
  const { from_turn, from_event, to_turn, to_event } = plan.compaction;
  return {
    plan,
    config,
    live,
    turns,
    before: view,
    after,
    tokens: { before: size.tokens, after: meter.countView(after, trial).tokens },
    tokens_source: "estimate",
    meter,
    pinned: protectedEvents(prepared),
    bounds: { from: boundAt(from_turn, from_event), to: boundAt(to_turn, to_event) },
    windowTokens: windowTokens ?? USUAL_WINDOW,
    problems: [],
  };
}

interface ReadyEdit {
  readonly plan: EditPlan;
  readonly prepared: PreparedEdit;
  readonly written: WrittenSummaries;
}

/** Prepares a plan again on a moved branch, with its written summaries; null when any of its lines changed. */
async function prepareAgain(
  workspace: Workspace,
  at: BranchTree,
  { plan, prepared, written }: ReadyEdit,
): Promise<Pick<ReadyEdit, "prepared" | "written"> | null> {
  if (written.summaries.size === 0) return null;
  const { items, verbs, lost } = await carryOver(workspace, at, printPlan(plan));
  const isWhole = plan.lines.every(({ place, verb }) => verb === "keep" || verbs.get(place) === verb);
  if (lost.length > 0 || !isWhole) return null;
  const lines = items.map(({ place, verb }) => ({ place, verb: verbs.get(place) ?? verb }));
  const again = await prepareEdit(workspace, at, { plan: { ...plan, lines }, problems: [] });
  const summaries = sameSummaries(prepared, again, written);
  return summaries === null ? null : { prepared: again, written: { ...written, summaries } };
}

/** Assigns the summaries to the steps of the new plan; null when one would replace other events. */
function sameSummaries(
  before: PreparedEdit,
  after: PreparedEdit,
  { summaries }: WrittenSummaries,
): WrittenSummaries["summaries"] | null {
  const rangeOf = ({ plan: { compaction } }: PlannedStep): string => {
    const { from_turn, from_event, to_turn, to_event } = compaction;
    return JSON.stringify([from_turn, from_event, to_turn, to_event]);
  };
  const texts = new Map(before.steps.map((step) => [rangeOf(step), summaries.get(step)] as const));
  const found: (readonly [PlannedStep, NonNullable<ReturnType<typeof summaries.get>>])[] = [];
  for (const step of after.steps) {
    if (step.plan.summarize === undefined) continue;
    const text = texts.get(rangeOf(step));
    if (text === undefined) return null;
    found.push([step, text]);
  }
  return new Map(found);
}
