// From the planned steps of an edited plan to the files of its one commit: compactions and pins that share a group, what they do
// to the view, and the message that says so.

import type { PlannedStep } from "../../core/compact/edit-steps.ts";
import type { Ungrounded } from "../../core/compact/grounding.ts";
import { describeGivenBack } from "../../core/compact/plan-effect.ts";
import { lossReceipt } from "../../core/compact/receipt.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import { type CompactionGroup, groupRange } from "../../core/conversation/group.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { project } from "../../core/conversation/projection.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { TokenCount } from "../../core/model/token-meter.ts";
import { compactionMessage, groupMessage, recordMessage } from "../../store/messages.ts";
import type { FileChange } from "../../store/store.ts";
import { type PlannedChange, recordChange, timestampAfter } from "../branch/append-record.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { coveredEvents } from "../branch/covered-events.ts";
import { coversDigest } from "../branch/covers.ts";
import { boundOf, requirePins } from "../branch/pins.ts";
import { verifyCoverage } from "../branch/verify-coverage.ts";
import { checkSummary, countsBehind } from "../compact/complete-compaction.ts";
import { largestChanges } from "../diff/largest-changes.ts";
import { eventsRemoved } from "../plan/events-removed.ts";
import { hiddenBy } from "../plan/hidden-by.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type EditReport, editReport } from "./edit-report.ts";
import type { WrittenSummaries } from "./edit-summaries.ts";
import { type EditRequest, type PreparedEdit, protectedEvents } from "./prepare-edit.ts";

interface Written extends WrittenSummaries, Pick<EditRequest, "dryRun" | "force"> {}

/** Makes the commit's content, and the report. Throws `pin_hidden`, `view_grows` unless forced, `coverage_broken`. */
export async function makeChange(
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
  const drafts = await identify(workspace, prepared, { summaries, group });
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

/** Gives the drafts of the steps their ids, one time and their digests. */
async function identify(
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

/** What the commit does to the view is said by each of its records; the receipt, which is of all of them, by the first. */
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
  const countBehind = countsBehind(turns);
  return drafts.map((draft, at) => ({
    ...draft,
    stats: {
      ...draft.stats,
      keep_recent: countBehind(draft),
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
  throw userError("view_grows", `The plan would make the view grow from ${before} to ${after} tokens.`, {
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
  return describeGivenBack({ keep, tool_calls: tools }, { turns, compactions: live.applied, before, after });
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
    ...(after > before ? [`the view grows from ${before} to ${after} tokens`] : []),
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
    givenBack,
    changes: largestChanges({ before, after, meter }, own),
  };
  if (group.length === 1 && pinned.length + unpinned.length === 0)
    return compactionMessage({ compaction: first, ...effect });
  return groupMessage({ group, ...effect, pinned: pinned.map(boundOf), unpinned: unpinned.map(boundOf) });
}

/** As `jpg pin` words it. */
function pinMessage(pinned: readonly Pin[], unpinned: readonly Pin[]): string {
  const words = (pins: readonly Pin[]): string => pins.map(boundOf).join(", ");
  if (pinned.length === 0) return recordMessage("unpin", words(unpinned));
  const rest = unpinned.length === 0 ? "" : `; unpin: ${words(unpinned)}`;
  return recordMessage("pin", `${words(pinned)}${rest}`);
}
