// Reverts compactions, or a revert: one commit each, with the same tree as stock `git revert`. Nothing can be lost, because only
// the file of the record is removed or restored.
import { compareCompactions, isHiding } from "../../core/conversation/compaction.ts";
import { groupOf, groupsOf } from "../../core/conversation/group.ts";
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { revertMessage, subjectOf } from "../../store/messages.ts";
import type { FileChange, LogEntry } from "../../store/store.ts";
import {
  type AppendedCommit,
  commitChange,
  compactionIdOfPath,
  groupPaths,
  readRecord,
} from "../conversation/append.ts";
import { loadCounted } from "../conversation/counted-view.ts";
import { findSquashed, isForkMerge, newestLive, readRecordLog, squashedCommit } from "../conversation/log.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { type BranchTree, collectBlobs, listTurnOids, loadTip } from "../conversation/tree.ts";
import type { KnownTurns, LiveCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { agentBehind, readLoggedRecords } from "../look/log.ts";
import type { Target } from "../names/id-candidates.ts";
import { resolveId } from "../names/resolve-id.ts";
import { readShortNames, wordFor } from "../names/short-names.ts";

export interface RevertReport {
  /** Newest commit written; null when nothing was. */
  readonly commit: string | null;
  /** Ids of the compactions concerned, in the order asked. */
  readonly reverted: readonly string[];
  /** Those of them that were brought back, because a revert was reverted. */
  readonly restored?: readonly string[];
  readonly conversation?: string;
  readonly branch?: string;
  readonly tokens?: { readonly before: number; readonly after: number };
  /** E.g. `nothing changes in the view: turns 0..12 stay under summary k3f9q2`. */
  readonly warnings?: readonly string[];
}

/**
 * Reverts ids in the given order: a compaction, or the commit of one or of a revert. If an id is wrong, throws before the first
 * commit.
 */
export async function revertCompactions(
  workspace: Workspace,
  ids: readonly string[],
  branch?: string,
): Promise<RevertReport> {
  const targets: NamedTarget[] = [];
  const naming = { changes: true, near: branch };
  for (const id of ids)
    targets.push({ word: id, target: await resolveId(workspace, id, ["compaction", "commit"], naming) });
  const name = branch ?? targets[0]?.target.branch ?? "";
  return revertTargets(workspace, await treeOf(workspace, name), targets);
}

/**
 * Reverts what a person names: compactions or commits of the active conversation, or of the one whose full name comes first. Throws
 * `other_conversation` with what to type for another's.
 */
export async function revertNamed(workspace: Workspace, words: readonly string[]): Promise<RevertReport> {
  const branch = await conversationFirst(workspace, words);
  if (branch !== null) return revertCompactions(workspace, words.slice(1), branch);
  try {
    return await revertCompactions(workspace, words);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    const own = error.code === "unknown_id" && words.length === 1 ? await branchNamed(workspace, words[0] ?? "") : null;
    if (own !== null) return revertTargets(workspace, own, [await onlyCompaction(workspace, own)]);
    if (error.code !== "other_conversation") throw error;
    const { word, branch: other } = error.data;
    if (typeof word !== "string" || typeof other !== "string") throw error;
    const name = (await readShortNames(workspace))(other);
    const hints = [`To change it there: \`jpg revert ${name} ${word}\``];
    throw new JpgError(error.kind, error.code, error.message, { hints, data: error.data, cause: error });
  }
}

/** The branch that the first of several words names; null = it is a compaction or a commit, or wrong. */
async function conversationFirst(workspace: Workspace, words: readonly string[]): Promise<string | null> {
  const [first = "@", ...rest] = words;
  if (rest.length === 0 || first === "@" || first === "-") return null;
  return (await branchNamed(workspace, first))?.branch ?? null;
}

/** The branch that a word names as one that may be changed; null = it names something else, or nothing. */
async function branchNamed(workspace: Workspace, word: string): Promise<BranchTree | null> {
  try {
    const { kind, branch } = await resolveId(workspace, word, ["branch", "compaction", "commit"], { changes: true });
    return kind === "branch" ? await treeOf(workspace, branch) : null;
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}

/** The one compaction in force on a branch, or the one group. Throws `nothing_to_undo`, `several_compactions`. */
async function onlyCompaction(workspace: Workspace, tree: BranchTree): Promise<NamedTarget> {
  const { id } = await newestCompaction(workspace, tree);
  const { live } = await loadCounted(workspace.store, tree);
  const count = groupsOf(live.all).length;
  if (count <= 1) return { word: id, target: { kind: "compaction", branch: tree.branch, compaction: id } };
  const name = await wordFor(workspace, tree.branch);
  throw userError("several_compactions", `${tree.branch} has ${count} compactions in force.`, {
    hints: [`\`jpg undo${name}\` undoes the newest; \`jpg log${name}\` lists them.`],
  });
}

async function revertTargets(
  workspace: Workspace,
  start: BranchTree,
  targets: readonly NamedTarget[],
): Promise<RevertReport> {
  const name = start.branch;
  let tree = start;
  const known: KnownTurns = new Map();
  const { view, live, meter } = await loadCounted(workspace.store, tree, known);
  const entries = await readRecordLog(workspace.store, tree.commit);
  const squashed = await findSquashed(
    workspace.store,
    entries.filter(({ commit }) => targets.some(({ target }) => target.kind === "commit" && target.commit === commit)),
  );
  for (const { word, target } of targets) {
    const entry = entries.find(({ commit }) => target.kind === "commit" && commit === target.commit);
    if (entry !== undefined && squashed.has(entry.commit)) throw squashedCommit(word, entry);
    if (entry === undefined && target.kind === "commit") await refuseMerge(workspace, name, target.commit);
  }
  const together = await groupPaths(workspace, tree, live);
  const typed = await wordFor(workspace, name);
  const planned = targets.map((target) => withGroup(planRevert(tree, entries, { ...target, name: typed }), together));
  const ordered = await Promise.all(planned.map((plan) => inTurnOrder(workspace, plan)));
  const plans = withoutRepeats(await Promise.all(ordered.map((plan) => withRemovedPins(workspace, plan))));
  const warnings = plans.flatMap((plan) => noEffectNotes(plan, live));
  const appended: AppendedCommit[] = [];
  for (const plan of plans) {
    const written = await commitChange(workspace, tree, async (current) => {
      const changes = await changesFor(workspace, current, plan);
      // Another process may have reverted it meanwhile.
      return changes.length === 0 ? null : { message: await messageFor(workspace, plan), changes, sign: true };
    });
    if (written !== null) appended.push(written);
    tree = await treeOf(workspace, name);
  }
  const after = await loadCounted(workspace.store, tree, known);
  await refreshViews(workspace, name, appended[0]?.parent, known);
  return {
    commit: appended.at(-1)?.commit ?? null,
    reverted: plans.flatMap((plan) => plan.ids),
    restored: plans.flatMap((plan) => idsOf(plan.restore)),
    conversation: conversationOf(name),
    branch: name,
    tokens: {
      before: meter.countView(view, live.applied).tokens,
      after: after.meter.countView(after.view, after.live.applied).tokens,
    },
    warnings,
  };
}

interface NewestCompaction {
  readonly id: string;
  /** Of its commit. */
  readonly subject: string;
  /** Shown name of the agent that made it by itself; absent = another did. */
  readonly agent?: string;
}

/** What `undoCompaction` would revert: the newest live compaction in commit order. Throws `nothing_to_undo`. */
export async function newestCompaction(workspace: Workspace, tree: BranchTree): Promise<NewestCompaction> {
  const live = new Set(tree.compactions.map((file) => file.path));
  const newest = newestLive(await readRecordLog(workspace.store, tree.commit), live);
  const id = compactionIdOfPath(newest?.path ?? "");
  if (newest === null || id === null) {
    throw userError("nothing_to_undo", `${tree.branch} has no live compaction to undo.`, {
      hints: [`\`jpg log${await wordFor(workspace, tree.branch)}\` shows the compactions and what was reverted.`],
    });
  }
  const record = (await readLoggedRecords(workspace.store, [newest.entry])).get(newest.path);
  return {
    id,
    subject: newest.entry.message.split("\n", 1)[0] ?? "",
    agent: record === undefined ? undefined : agentBehind(tree, record),
  };
}

/** Reverts the newest live compaction in commit order. Throws `nothing_to_undo`. */
export async function undoCompaction(workspace: Workspace, tree: BranchTree): Promise<RevertReport> {
  const { id } = await newestCompaction(workspace, tree);
  const stays = await mergedTurn(workspace, tree.commit);
  const report = await revertTargets(workspace, tree, [
    { word: id, target: { kind: "compaction", branch: tree.branch, compaction: id } },
  ]);
  if (stays === null) return report;
  const warning = `turn ${stays}, which summarises a merged fork, stays: ${leaveOutHint(tree.branch, stays)}`;
  return { ...report, warnings: [...(report.warnings ?? []), warning] };
}

/**
 * Brings back what was undone last and is not in force: reverts the newest revert. Throws `nothing_to_redo`.
 */
export async function redoCompaction(workspace: Workspace, tree: BranchTree): Promise<RevertReport> {
  const live = new Set(tree.compactions.map((file) => file.path));
  const undone = (await readRecordLog(workspace.store, tree.commit)).find(({ added, removed }) => {
    const compactions = removed.filter((path) => compactionIdOfPath(path) !== null);
    return added.length === 0 && compactions.length > 0 && compactions.every((path) => !live.has(path));
  });
  if (undone === undefined) {
    throw userError("nothing_to_redo", `Nothing that was undone on ${tree.branch} is still undone.`, {
      hints: [`\`jpg log${await wordFor(workspace, tree.branch)}\` shows the compactions and what was reverted.`],
    });
  }
  const { commit } = undone;
  return revertTargets(workspace, tree, [
    { word: abbreviateCommit(commit), target: { kind: "commit", branch: tree.branch, commit } },
  ]);
}

/** Refuses the commit of a merge, since turns are never removed. Throws `merge_stays`. */
async function refuseMerge(workspace: Workspace, branch: string, commit: string): Promise<void> {
  const turn = await mergedTurn(workspace, commit);
  if (turn === null) return;
  throw userError("merge_stays", `${commit.slice(0, 9)} merges a fork as turn ${turn}, and turns are never removed.`, {
    hints: [`${leaveOutHint(branch, turn)}.`],
  });
}

/** Returns the turn in which a commit summarises a merged fork, 0-based; null for any other commit. */
async function mergedTurn({ store }: Workspace, commit: string): Promise<number | null> {
  const [entry] = await store.readLog({ from: commit, limit: 1 });
  if (entry === undefined || !(await isForkMerge(store, entry))) return null;
  return (await listTurnOids(store, commit)).length - 1;
}

function leaveOutHint(branch: string, turn: number): string {
  return `\`jpg compact ${branch} --tangents ${turn}\` leaves it out of the view, and \`jpg undo\` brings it back`;
}

async function changesFor(workspace: Workspace, current: BranchTree, plan: RevertPlan): Promise<FileChange[]> {
  const live = new Set([...current.compactions, ...current.metas].map((file) => file.path));
  const parent = plan.entry.parents[0];
  const oids =
    plan.restore.length === 0 || parent === undefined
      ? new Map<string, string>()
      : await workspace.store.readEntries(parent, plan.restore);
  return [
    ...plan.remove.filter((path) => live.has(path)).map((path): FileChange => ({ path, remove: true })),
    ...[...oids].filter(([path]) => !live.has(path)).map(([path, oid]): FileChange => ({ path, oid })),
  ];
}

/** Writes the commit's message from the record; names an unreadable record by its id. */
async function messageFor({ store }: Workspace, { entry, remove, restore, ids }: RevertPlan): Promise<string> {
  const isBack = remove.length === 0;
  const paths = (isBack ? restore : remove).filter((path) => compactionIdOfPath(path) !== null);
  const oids = await store.readEntries(isBack ? (entry.parents[0] ?? "") : entry.commit, paths);
  const blobs = await collectBlobs(store, [...oids.values()]);
  const records = [...oids.keys()].flatMap((path, at) => readRecord(blobs[at] ?? new Uint8Array(), path) ?? []);
  const [first] = records;
  const subject = first === undefined ? `compaction ${ids[0]}` : subjectOf(groupOf(first, records));
  return revertMessage({ isBack, subject, commit: entry.commit });
}

/** Notes when a later summary of the same turns hides the effect of the revert. */
function noEffectNotes(plan: RevertPlan, { all, applied }: LiveCompactions): string[] {
  const removed = new Set(plan.remove.map((path) => compactionIdOfPath(path)));
  return all
    .filter((record) => removed.has(record.id))
    .flatMap((record) => {
      const over = applied.find(
        (other) =>
          !removed.has(other.id) &&
          isHiding(other) &&
          other.from_turn <= record.from_turn &&
          record.to_turn <= other.to_turn &&
          (!isHiding(record) || compareCompactions(other, record) > 0),
      );
      if (over === undefined) return [];
      const what = over.summary === undefined ? "compaction" : "summary";
      return [
        `nothing changes in the view: turns ${record.from_turn}..${record.to_turn} stay under ${what} ${over.id}`,
      ];
    });
}

async function treeOf(workspace: Workspace, branch: string): Promise<BranchTree> {
  const tree = await loadTip(workspace.store, branch);
  if (tree !== null) return tree;
  throw userError("unknown_id", `${branch} is not a branch in this store.`, {
    hints: ["`jpg ls` lists the conversations."],
  });
}

/** A word of the command line, resolved. */
interface NamedTarget {
  readonly word: string;
  readonly target: Target;
}

interface NamedPlace extends NamedTarget {
  /** What follows a verb that is to act on its conversation, see `wordFor`. */
  readonly name: string;
}

interface RevertPlan {
  /** The commit to revert. */
  readonly entry: LogEntry;
  /** Paths to remove and to restore. */
  readonly remove: readonly string[];
  readonly restore: readonly string[];
  readonly ids: readonly string[];
}

/** Plans the revert of one target. Throws `not_a_compaction`, `already_reverted`. */
function planRevert(tree: BranchTree, entries: readonly LogEntry[], { target, word, name }: NamedPlace): RevertPlan {
  const live = new Set(tree.compactions.map((file) => file.path));
  const isMeant = (path: string): boolean =>
    target.kind !== "compaction" || compactionIdOfPath(path) === target.compaction;
  const entry = entries.find((candidate) =>
    target.kind === "commit" ? candidate.commit === target.commit : candidate.added.some(isMeant),
  );
  if (entry === undefined) {
    throw userError(
      "not_a_compaction",
      `${word} is not a compaction of ${tree.branch}, nor a commit that adds or reverts one.`,
      { hints: [`\`jpg log${name}\` lists them; \`jpg undo${name}\` undoes the newest.`] },
    );
  }
  const remove = entry.added.filter((path) => isMeant(path) && live.has(path));
  const restore = target.kind === "compaction" ? [] : entry.removed.filter((path) => !live.has(path));
  if (remove.length + restore.length === 0) {
    const revert = entries.find(({ removed }) => entry.added.some((path) => isMeant(path) && removed.includes(path)));
    throw alreadyReverted({ word, name }, tree.branch, revert);
  }
  return { entry, remove, restore, ids: idsOf([...remove, ...restore]) };
}

/** Returns the ids of compactions among files. */
function idsOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => compactionIdOfPath(path) ?? []);
}

/** Extends a plan to whole groups. */
function withGroup(plan: RevertPlan, together: (path: string) => readonly string[]): RevertPlan {
  const remove = [...new Set(plan.remove.flatMap(together))];
  return { ...plan, remove, ids: idsOf([...remove, ...plan.restore]) };
}

/** Orders what is restored like `withGroup` what is removed: `jpg redo` names what `jpg undo` named, in the same order. */
async function inTurnOrder({ store }: Workspace, plan: RevertPlan): Promise<RevertPlan> {
  const parent = plan.entry.parents[0];
  if (plan.restore.length < 2 || parent === undefined) return plan;
  const oids = await store.readEntries(parent, plan.restore);
  const paths = [...oids.keys()];
  const blobs = await collectBlobs(store, [...oids.values()]);
  const records = paths.flatMap((path, at) => readRecord(blobs[at] ?? new Uint8Array(), path) ?? []);
  const order = groupsOf(records).flatMap((group) => group.map(({ id }) => id));
  const placeOf = (path: string): number => {
    const place = order.indexOf(compactionIdOfPath(path) ?? "");
    return place < 0 ? order.length : place;
  };
  const restore = [...plan.restore].sort((a, b) => placeOf(a) - placeOf(b));
  return { ...plan, restore, ids: idsOf([...plan.remove, ...restore]) };
}

/** Restores the pins that a commit removed together with compactions. */
async function withRemovedPins({ store }: Workspace, plan: RevertPlan): Promise<RevertPlan> {
  if (plan.restore.length === 0) return plan;
  const { commit } = plan.entry;
  const [entry] = await store.readLog({ from: commit, paths: ["meta"], limit: 1 });
  return entry?.commit === commit ? { ...plan, restore: [...plan.restore, ...entry.removed] } : plan;
}

function alreadyReverted(
  { word, name }: Pick<NamedPlace, "word" | "name">,
  branch: string,
  revert: LogEntry | undefined,
): Error {
  const commit = revert === undefined ? undefined : abbreviateCommit(revert.commit);
  return userError(
    "already_reverted",
    `${word} is not in force on ${branch}${commit === undefined ? "" : `: ${commit} reverted it`}.`,
    {
      hints:
        commit === undefined
          ? [`\`jpg log${name}\` shows what is in force.`]
          : [`\`jpg revert${name} ${commit}\` brings it back.`],
    },
  );
}

/** Drops plans that repeat an earlier one: a compaction may be named by its id and by its commit. */
function withoutRepeats(plans: readonly RevertPlan[]): RevertPlan[] {
  const seen = new Set<string>();
  return plans.filter((plan) => {
    const isNew = plan.ids.some((id) => !seen.has(id));
    for (const id of plan.ids) seen.add(id);
    return isNew;
  });
}
