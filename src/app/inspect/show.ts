// Shows one thing in detail: a conversation, a compaction with what it hid, an event with how the view reads it.

import { inline } from "../../core/conversation/attachment.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import { describeGroup, groupRange, isSameGroup } from "../../core/conversation/group.ts";
import { marksInForce } from "../../core/conversation/marks.ts";
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { resolveDispositions } from "../../core/conversation/winner.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { stateOf } from "../../core/look/both-views.ts";
import type { ConversationStore, LogEntry } from "../../store/store.ts";
import { readAttachments } from "../branch/attachments.ts";
import { readBranchLog } from "../branch/branch-log.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../branch/branch-tree.ts";
import { findAddition, readRecord } from "../branch/compaction-path.ts";
import { loadCountedHere } from "../branch/counted-view.ts";
import { loadCompactions } from "../branch/load-view.ts";
import { readRecordLog } from "../branch/record-log.ts";
import { warnOfSplice } from "../branch/spliced-turns.ts";
import { findSquashed } from "../branch/squashed-commits.ts";
import { readMetas, titleIn } from "../branch/titles.ts";
import { reportTokens } from "../branch/token-report.ts";
import { eventLines } from "../diff/view-text.ts";
import { preferredBranch } from "../names/conversations.ts";
import type { Target } from "../names/id-candidates.ts";
import { resolveId, treeOfTarget } from "../names/resolve-id.ts";
import { hiddenBy } from "../plan/hidden-by.ts";
import { lossOf } from "../plan/loss.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type CompactionViews, loadCompactionViews } from "./compaction-views.ts";
import { readLineage } from "./lineage-report.ts";
import { readCompactionLog } from "./log.ts";
import { tellsChange } from "./record-subject.ts";
import type { ShowCompaction, ShowConversation, ShowEvent, ShowReport } from "./show-report.ts";

/** Shows what an id names; `@` = the active conversation. */
export async function show(workspace: Workspace, id?: string): Promise<ShowReport> {
  const target = await resolveId(workspace, id, ["branch", "compaction", "commit", "event"]);
  const tree = await treeOfTarget(workspace, target, id);
  await warnOfSplice(workspace, tree);
  if (target.kind === "event") return showEvent(workspace, tree, target);
  if (target.kind === "compaction") return (await showCompaction(workspace, tree, target)).shown;
  if (target.kind === "branch" || isHere(id)) return showConversation(workspace, tree);
  return (await showCompactionOf(workspace, target)) ?? showConversation(workspace, tree);
}

/** Reads the text of an event that `show` found, what was moved to files of its own brought back. Throws `attachment_missing`. */
export async function readEventText({ store }: Workspace, { branch, event }: ShowEvent): Promise<string> {
  const commit = await store.readBranch(branch);
  const whole = commit === null ? event : inline(event, await readAttachments(store, commit, [event]));
  return eventLines(whole).join("\n");
}

/** Whether an id stands for what is checked out, a commit of a detached HEAD too. */
function isHere(id: string | undefined): boolean {
  return id === undefined || id === "" || id === "@";
}

/** The compaction that a commit adds, as its branch reads it now; null when it adds none. */
async function showCompactionOf(
  workspace: Workspace,
  target: Extract<Target, { kind: "commit" }>,
): Promise<ShowCompaction | null> {
  const { store } = workspace;
  const log = await readRecordLog(store, target.commit);
  const entry = log.find(({ commit }) => commit === target.commit);
  if (entry === undefined || entry.added.length === 0 || (await findSquashed(store, [entry])).size > 0) return null;
  if (entry.added.length > 1 && !(await addsOneGroup(store, entry))) return null;
  const tip = await store.readBranch(target.branch);
  const tips = await store.listBranchesWith(target.commit);
  const isHeld = tip !== null && tips.some(({ name }) => name === target.branch);
  const tree = await loadBranchTree(store, target.branch, isHeld ? tip : target.commit);
  return (await showCompaction(workspace, tree, target)).shown;
}

/** Whether the compactions that a commit adds were made as one. */
async function addsOneGroup(store: ConversationStore, { commit, added }: LogEntry): Promise<boolean> {
  const blobs = await collectBlobs(store, [...(await store.readEntries(commit, added)).values()]);
  const [first, ...others] = added.map((path, at) => readRecord(blobs[at] ?? new Uint8Array(), path));
  return !!first && others.every((other) => other !== null && isSameGroup(first, other));
}

async function showConversation(workspace: Workspace, tree: BranchTree): Promise<ShowConversation> {
  const { store } = workspace;
  const loaded = await loadCountedHere(store, tree);
  const { facts, elsewhere } = loaded;
  const active = await preferredBranch(workspace);
  const conversation = conversationOf(tree.branch);
  const family = (await store.listBranches()).filter((branch) => conversationOf(branch.name) === conversation);
  const branches = [];
  for (const { name, commit } of family) {
    const other = commit === tree.commit ? tree : await loadBranchTree(store, name, commit);
    branches.push({ name, turns: other.turnOids.length, active: name === active });
  }
  const log = await readCompactionLog(workspace, tree);
  const [latest] = log;
  const updatedAt = latest?.commit === tree.commit ? latest.timestamp : await timeOf(store, tree.commit);
  const { source } = tree.header;
  const metas = await readMetas(workspace, tree);
  return {
    kind: "conversation",
    id: conversation,
    title: titleIn(metas, tree.header),
    ...marksInForce(metas),
    branch: tree.branch,
    commit: tree.commit,
    ...defined({ revision: tree.revision }),
    created_at: tree.header.created_at,
    updated_at: updatedAt,
    source: source === null ? null : `${source.format} ${source.session}`,
    turns: tree.turnOids.length,
    ...(elsewhere === 0 ? {} : { turns_elsewhere: elsewhere }),
    events: facts.reduce((sum, turn) => sum + turn.events, 0),
    ...reportTokens(loaded),
    branches,
    compactions: log.filter((row) => row.live && row.kind !== "revert"),
    ...(await readLineage(workspace, tree)),
  };
}

async function timeOf(store: ConversationStore, commit: string): Promise<string> {
  const [newest] = await store.readLog({ from: commit, limit: 1 });
  return new Date((newest?.committer.seconds ?? 0) * 1000).toISOString();
}

/** A compaction in detail, with the views that tell what it changed. */
export interface ShownCompaction {
  readonly shown: ShowCompaction;
  readonly views: CompactionViews;
}

/** Shows a compaction of a branch, also one that was taken back. Throws `not_a_compaction`. */
export async function showCompaction(
  workspace: Workspace,
  tree: BranchTree,
  target: Pick<Extract<Target, { kind: "compaction" }>, "kind" | "compaction"> | Extract<Target, { kind: "commit" }>,
): Promise<ShownCompaction> {
  const entries = await readBranchLog(workspace.store, tree);
  const found = findRecord(entries, target);
  if (found === null) {
    const name = target.kind === "commit" ? abbreviateCommit(target.commit) : target.compaction;
    throw userError("not_a_compaction", `${name} adds no compaction to ${tree.branch}.`, {
      hints: ["`jpg log` lists compactions and their commits.", `\`jpg git show ${name}\` shows any commit.`],
    });
  }
  const { entry, path } = found;
  const oid = (await workspace.store.readEntries(entry.commit, [path])).get(path) ?? "";
  const [bytes] = await collectBlobs(workspace.store, [oid]);
  const compaction = parseCompactionLine(new TextDecoder().decode(bytes), path);
  const live = tree.compactions.some((file) => file.path === path);
  const views = await loadCompactionViews(workspace, tree, { commit: entry.commit, path, compaction });
  const { group } = views;
  const subject = entry.message.split("\n", 1)[0] ?? "";
  const notApplied = (await loadCompactions(workspace.store, tree)).unapplied.find(
    (candidate) => candidate.compaction.id === compaction.id,
  );
  const { from: from_turn, to: to_turn } = groupRange(group);
  const stored = group.find(({ receipt }) => receipt !== undefined)?.receipt;
  const shown: ShowCompaction = {
    kind: "compaction",
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    commit: entry.commit,
    ...(tellsChange(subject, [{ kind: "compaction", record: compaction, group }]) ? {} : { message: subject }),
    event: compaction,
    policies: describeGroup(group),
    ...(group.length === 1 ? {} : { compactions: group }),
    live,
    ...(live && notApplied !== undefined ? { not_applied: notApplied.reason } : {}),
    hidden: hiddenBy({ from_turn, to_turn }, views),
    receipt: stored ?? lossOf(group[0], views),
  };
  return { shown, views };
}

function findRecord(
  entries: readonly LogEntry[],
  target: Parameters<typeof showCompaction>[2],
): { entry: LogEntry; path: string } | null {
  if (target.kind === "compaction") return findAddition(entries, target.compaction);
  const entry = entries.find((candidate) => candidate.commit === target.commit);
  return entry?.added[0] === undefined ? null : { entry, path: entry.added[0] };
}

async function showEvent(
  workspace: Workspace,
  tree: BranchTree,
  target: Extract<Target, { kind: "event" }>,
): Promise<ShowEvent> {
  const loaded = await loadCountedHere(workspace.store, tree, [target.turn]);
  const { turns, view, live, meter } = loaded;
  const event = turns.get(target.turn)?.events.find((candidate) => candidate.id === target.event);
  if (event === undefined) throw userError("unknown_id", `${target.event} is not an event of turn ${target.turn}.`);
  const shown = view.turns.flatMap((turn) => turn.events).find((candidate) => candidate.id === event.id);
  const state = stateOf(event, shown);
  const decides =
    state === "changed" || state === "hidden"
      ? resolveDispositions([...turns.values()], live.applied, tree.turnOids.length).get(event.id)?.compaction
      : undefined;
  return {
    kind: "event",
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    turn: target.turn,
    event,
    tokens: meter.countEvents([event]),
    tokens_source: "estimate",
    state,
    ...(decides === undefined ? {} : { compaction: decides.id }),
    ...(state === "changed" && shown !== undefined ? { projected: shown } : {}),
  };
}
