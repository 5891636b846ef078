// Shows one thing in detail: a conversation, a compaction with what it hides, an event with how the view shows it.

import type { HiddenContent } from "../../core/compact/hidden-content.ts";
import { type LostFacts, lostFacts } from "../../core/compact/lost-facts.ts";
import { inline } from "../../core/conversation/attachment.ts";
import type { ParentSession } from "../../core/conversation/branch-files.ts";
import type { Compaction, LossReceipt } from "../../core/conversation/compaction.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import type { Event } from "../../core/conversation/event.ts";
import { describeGroup, groupRange, isSameGroup } from "../../core/conversation/group.ts";
import { marksInForce } from "../../core/conversation/marks.ts";
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { resolveDispositions } from "../../core/conversation/winner.ts";
import { userError } from "../../core/errors.ts";
import { stateOf } from "../../core/look/both-views.ts";
import type { TokenSource } from "../../core/model/token-meter.ts";
import type { BranchTip, ConversationStore, LogEntry } from "../../store/store.ts";
import { hiddenBy, lossOf } from "../compact/compact-report.ts";
import { findAddition, readRecord } from "../conversation/append.ts";
import { loadCountedMinimal, reportTokens } from "../conversation/counted-view.ts";
import { findSquashed, readRecordLog } from "../conversation/log.ts";
import { warnOfSplice } from "../conversation/spliced-turns.ts";
import { cachedAt, readTip } from "../conversation/tip-cache.ts";
import { titleWith } from "../conversation/title.ts";
import {
  type BranchTree,
  type ConversationHeader,
  collectBlobs,
  loadBranchTree,
  parentSession,
  parseHeader,
} from "../conversation/tree.ts";
import { readAttachments, readMetas } from "../conversation/turns.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { eventLines } from "../diff/view-text.ts";
import { preferredBranch } from "../names/conversations.ts";
import { findSession } from "../names/find-session.ts";
import type { Target } from "../names/id-candidates.ts";
import { resolveId, treeOfTarget } from "../names/resolve-id.ts";
import { wordFor } from "../names/short-names.ts";
import { type CompactionViews, loadCompactionViews } from "./blame.ts";
import { agentBehind, type LogRow, namesChange, readCompactionLog } from "./log.ts";

/** Shows what an id names; `@` = the active conversation. */
export async function show(workspace: Workspace, id?: string): Promise<ShowReport> {
  return (await showWithViews(workspace, id)).shown;
}

/** Like `show`, with the names of what a compaction hides: too many for a model to read. */
export async function showWithNames(workspace: Workspace, id?: string): Promise<ShowReport> {
  const { shown, views } = await showWithViews(workspace, id);
  if (shown.kind !== "compaction" || views === undefined) return shown;
  return { ...shown, lost: lostFacts(views.before, views.after, views.group) };
}

async function showWithViews(
  workspace: Workspace,
  id?: string,
): Promise<{ readonly shown: ShowReport; readonly views?: CompactionViews }> {
  const target = await resolveId(workspace, id, ["branch", "compaction", "commit", "event"]);
  const tree = await treeOfTarget(workspace, target, id);
  await warnOfSplice(workspace, tree);
  if (target.kind === "event") return { shown: await showEvent(workspace, tree, target) };
  if (target.kind === "compaction") return showCompaction(workspace, tree, target);
  const compaction = target.kind === "branch" || isHere(id) ? null : await showCompactionOf(workspace, target);
  return compaction ?? { shown: await showConversation(workspace, tree) };
}

/** Reads the text of an event that `show` found, attachments included. Throws `attachment_missing`. */
export async function readEventText({ store }: Workspace, { branch, event }: ShowEvent): Promise<string> {
  const commit = await store.readBranch(branch);
  const whole = commit === null ? event : inline(event, await readAttachments(store, commit, [event]));
  return eventLines(whole).join("\n");
}

/** Whether an id means what is checked out, even a commit of a detached HEAD. */
function isHere(id: string | undefined): boolean {
  return id === undefined || id === "" || id === "@";
}

/** The compaction that a commit adds, as its branch has it now; null when it adds none. */
async function showCompactionOf(
  workspace: Workspace,
  target: Extract<Target, { kind: "commit" }>,
): Promise<ShownCompaction | null> {
  const { store } = workspace;
  const log = await readRecordLog(store, target.commit);
  const entry = log.find(({ commit }) => commit === target.commit);
  if (entry === undefined || entry.added.length === 0 || (await findSquashed(store, [entry])).size > 0) return null;
  if (entry.added.length > 1 && !(await addsOneGroup(store, entry))) return null;
  const tip = await store.readBranch(target.branch);
  const tips = await store.listBranchesWith(target.commit);
  const isHeld = tip !== null && tips.some(({ name }) => name === target.branch);
  const tree = await loadBranchTree(store, target.branch, isHeld ? tip : target.commit);
  return showCompaction(workspace, tree, target);
}

/** Whether the compactions that a commit adds are one group. */
async function addsOneGroup(store: ConversationStore, { commit, added }: LogEntry): Promise<boolean> {
  const blobs = await collectBlobs(store, [...(await store.readEntries(commit, added)).values()]);
  const [first, ...others] = added.map((path, at) => readRecord(blobs[at] ?? new Uint8Array(), path));
  return !!first && others.every((other) => other !== null && isSameGroup(first, other));
}

async function showConversation(workspace: Workspace, tree: BranchTree): Promise<ShowConversation> {
  const { store } = workspace;
  const loaded = await loadCountedMinimal(store, tree);
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
    title: await titleWith(workspace, tree, metas),
    ...marksInForce(metas),
    branch: tree.branch,
    commit: tree.commit,
    revision: tree.revision,
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

/** A compaction in detail, with the views that show what it changed. */
interface ShownCompaction {
  readonly shown: ShowCompaction;
  readonly views: CompactionViews;
}

/** Shows a compaction of a branch, even a reverted one. Throws `not_a_compaction`. */
export async function showCompaction(
  workspace: Workspace,
  tree: BranchTree,
  target: Pick<Extract<Target, { kind: "compaction" }>, "kind" | "compaction"> | Extract<Target, { kind: "commit" }>,
): Promise<ShownCompaction> {
  const entries = await readRecordLog(workspace.store, tree.commit);
  const found = findRecord(entries, target);
  if (found === null) {
    const name = target.kind === "commit" ? abbreviateCommit(target.commit) : target.compaction;
    throw userError("not_a_compaction", `${name} adds no compaction to ${tree.branch}.`, {
      hints: [
        `\`jpg log${await wordFor(workspace, tree.branch)}\` lists compactions and their commits.`,
        `\`jpg git show ${name}\` shows any commit.`,
      ],
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
    ...(namesChange(subject, [{ kind: "compaction", record: compaction, group }]) ? {} : { message: subject }),
    event: compaction,
    policies: describeGroup(group),
    ...(group.length === 1 ? {} : { compactions: group }),
    live,
    ...(live && notApplied !== undefined ? { not_applied: notApplied.reason } : {}),
    agent: agentBehind(tree, compaction),
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
  const loaded = await loadCountedMinimal(workspace.store, tree, [target.turn]);
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
    compaction: decides?.id,
    ...(state === "changed" && shown !== undefined ? { projected: shown } : {}),
  };
}

// Where a conversation comes from, and the sub-agents that it started, for `jpg show` and `jpg print`.

export type LineageReport = Pick<ShowConversation, "parent" | "agents">;

/** Reads both; reads turns only if there may be something in them. */
export async function readLineage(workspace: Workspace, tree: BranchTree): Promise<LineageReport> {
  const [parent, agents] = await Promise.all([readParent(workspace, tree), listAgents(workspace, tree)]);
  const turns = agents.length === 0 ? [] : await readTurnTexts(workspace, tree);
  const placed = agents.map(({ id, title, call, name }) => {
    const place = placeOfAgent(turns, { name, call });
    return { id, title, call, ...place };
  });
  return {
    parent,
    ...(agents.length > 0 && { agents: placed.sort((a, b) => (a.turn ?? Infinity) - (b.turn ?? Infinity)) }),
  };
}

async function readParent(workspace: Workspace, { header, branch }: BranchTree): Promise<LineageReport["parent"]> {
  const { store } = workspace;
  const parent = parentSession(header);
  const { source } = header;
  if (parent === null || source === null) return undefined;
  const tips = await store.listBranches(leaveOut);
  const found = await findSession(store, tips, { format: source.format, session: parent.session });
  if (found === null || conversationOf(found.name) === conversationOf(branch)) return parent;
  const tree = await loadBranchTree(store, found.name, found.commit);
  const { call, name = source.session } = parent;
  const turns = parent.kind === "agent" ? await readTurnTexts(workspace, tree) : [];
  const place = placeOfAgent(turns, { name, call });
  return { ...parent, id: conversationOf(tree.branch), ...place };
}

/** The turns as stored; does not fetch what a partial clone lacks. */
async function readTurnTexts({ store }: Workspace, { turnOids }: BranchTree) {
  if (store.partial !== null) return [];
  const blobs = await collectBlobs(store, turnOids);
  return blobs.map((bytes, turn) => ({ turn, text: new TextDecoder().decode(bytes) }));
}

// Finds a conversation's parent, and the conversations of its sub-agents. A conversation names its parent by the session's id, as
// the session does, so either can be imported first, or alone.

/** A conversation that a sub-agent wrote. */
interface AgentConversation {
  readonly id: string;
  readonly title: string;
  /** The call that started it, where the files say. */
  readonly call?: string;
  /** Its name in results of the parent. */
  readonly name: string;
}

/**
 * If more conversations than these are not cached, sub-agents are not looked for among them: that would take as long as listing
 * them.
 */
const MAX_UNKNOWN = 200;

/** Lists the conversations of the sub-agents of a conversation's sessions, in the order of their names. */
async function listAgents(workspace: Workspace, tree: BranchTree): Promise<readonly AgentConversation[]> {
  const { store } = workspace;
  const { source } = tree.header;
  if (source === null) return [];
  // The list's cache says whether a conversation has a parent, so that almost none has to be read.
  const mains = mainTips(await store.listBranches(leaveOut)).map((tip) => ({
    tip,
    facts: cachedAt(readTip(store, tip.name).facts, tip.commit),
  }));
  const known = mains.filter(({ facts }) => facts?.parent !== undefined);
  const unknown = mains.filter(({ facts }) => facts === undefined);
  const tips = [...known, ...(unknown.length > MAX_UNKNOWN ? [] : unknown)].map(({ tip }) => tip);
  const agents = (await readHeaders(store, tips)).flatMap(([tip, header]): AgentConversation[] => {
    const parent = header.source?.format === source.format ? parentSession(header) : null;
    if (parent?.kind !== "agent" || parent.session !== source.session) return [];
    const { call, name = header.source?.session ?? "" } = parent;
    return [{ id: conversationOf(tip.name), title: header.title, call, name }];
  });
  return agents.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Ignores branches that cannot be read: other commands report them. */
const leaveOut = (): void => undefined;

/** One branch of each conversation: all have the same header. */
function mainTips(tips: readonly BranchTip[]): readonly BranchTip[] {
  const mains = new Map<string, BranchTip>();
  for (const tip of tips) {
    const id = conversationOf(tip.name);
    if (!mains.has(id)) mains.set(id, tip);
  }
  return [...mains.values()];
}

/** The headers that can be read; other commands report the rest. */
async function readHeaders(
  store: ConversationStore,
  tips: readonly BranchTip[],
): Promise<readonly (readonly [BranchTip, ConversationHeader])[]> {
  const headers = await Promise.all(tips.map((tip) => readHeader(store, tip).catch(() => null)));
  return tips.flatMap((tip, at) => {
    const header = headers[at] ?? null;
    return header === null ? [] : [[tip, header] as const];
  });
}

async function readHeader(store: ConversationStore, { name, commit }: BranchTip): Promise<ConversationHeader | null> {
  const path = "conversation.json";
  const oid = (await store.readEntries(commit, [path])).get(path);
  // Do not fetch what a partial clone lacks.
  if (oid === undefined || (store.partial?.missing([oid]).length ?? 0) > 0) return null;
  const [bytes] = await collectBlobs(store, [oid]);
  return parseHeader(new TextDecoder().decode(bytes), name);
}

/** Where a conversation's turns started a sub-agent. */
interface AgentPlace {
  /** Turn position, 0-based. */
  readonly turn: number;
  /** The call; absent if only a result names the sub-agent. */
  readonly call?: string;
}

/** Finds the turn that started a sub-agent: that of its call, else the first with a result that names it. */
function placeOfAgent(
  turns: readonly { readonly turn: number; readonly text: string }[],
  { call, name }: Pick<AgentConversation, "call" | "name">,
): AgentPlace | null {
  for (const { turn, text } of turns) {
    const lines = text.split("\n");
    if (call !== undefined && lines.some((line) => isCall(line, call))) return { turn, call };
    const result = call === undefined ? lines.find((line) => line.includes(name) && isResult(line)) : undefined;
    if (result !== undefined) return { turn, ...callOf(result) };
  }
  return null;
}

function isCall(line: string, call: string): boolean {
  return line.startsWith('{"type":"tool_call_request"') && line.includes(`"call_id":${JSON.stringify(call)}`);
}

function isResult(line: string): boolean {
  return line.startsWith('{"type":"tool_call_response"');
}

function callOf(line: string): Pick<AgentPlace, "call"> {
  const { call_id: call } = JSON.parse(line) as { readonly call_id?: unknown };
  return typeof call === "string" ? { call } : {};
}

/** A conversation in detail. */
export interface ShowConversation {
  readonly kind: "conversation";
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  /** Newest commit of the branch, or the one that was asked for. */
  readonly commit: string;
  /** The expression for that commit, e.g. `main~2`, if it is not the tip. */
  readonly revision?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Format and id of the session that it was imported from; null when it was begun here. */
  readonly source: string | null;
  readonly turns: number;
  /** Turns that a partial clone lacks: neither `events` nor `tokens.raw` counts them. Absent = none. */
  readonly turns_elsewhere?: number;
  readonly events: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  readonly branches: readonly { readonly name: string; readonly turns: number; readonly active: boolean }[];
  /** Live compactions, newest first. */
  readonly compactions: readonly LogRow[];
  /** The session that it comes from; `id` and `turn`: the conversation here, and the turn that started it. */
  readonly parent?: ParentSession & { readonly id?: string; readonly turn?: number };
  /** Conversations of the sub-agents that it started, by turn; absent = none. */
  readonly agents?: readonly {
    readonly id: string;
    readonly title: string;
    readonly turn?: number;
    readonly call?: string;
  }[];
  readonly labels?: readonly string[];
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

/** One event, raw, and how the view shows it. */
export interface ShowEvent {
  readonly kind: "event";
  readonly conversation: string;
  readonly branch: string;
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly event: Event;
  readonly tokens: number;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** `shown` as it is, `changed` by a policy, `hidden` by a summary or omission, `internal`: no model sees its kind. */
  readonly state: "shown" | "changed" | "hidden" | "internal";
  /** Compaction that changes or hides it. */
  readonly compaction?: string;
  /** The event as the view has it, when changed. */
  readonly projected?: Event;
}

/** A compaction in detail; `--json` prints the record and these fields. */
export interface ShowCompaction {
  readonly kind: "compaction";
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string;
  /** The commit's own subject, where it differs from what the record says. */
  readonly message?: string;
  readonly event: Compaction;
  /** Policies in words, as in the commit's subject. */
  readonly policies: string;
  /** All compactions of the group, in order of their ranges: `hidden` and `receipt` are of all of them. Absent = only this one. */
  readonly compactions?: readonly Compaction[];
  readonly live: boolean;
  readonly not_applied?: string;
  /** Shown name of the agent that made it by itself; absent = jpg made it, or nobody. No part of the JSON document. */
  readonly agent?: string;
  /** What it hides from the view. */
  readonly hidden: HiddenContent;
  /** From the record; computed for an imported one, which has none. */
  readonly receipt: LossReceipt;
  /** What the receipt counts as hidden or by pointer, by name, if it was asked for. */
  readonly lost?: readonly LostFacts[];
}

export type ShowReport = ShowConversation | ShowEvent | ShowCompaction;
