// The compaction history of a branch: one row for each commit that adds a compaction, reverts it or brings it back.
import { BREAK_REASONS, findBreaks } from "../../core/conversation/broken-chain.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type CompactionGroup, describeGroup, groupRange, groupsOf } from "../../core/conversation/group.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import type { TokenSource } from "../../core/model/token-meter.ts";
import { RESUMES_DIFFERENTLY } from "../../formats/imported-session.ts";
import { needsGit } from "../../store/git-dir.ts";
import { isForkSubject, parseRevertSubject, subjectOf } from "../../store/messages.ts";
import type { ConversationStore, DrawnLine, LogEntry, Signature } from "../../store/store.ts";
import { compactionIdOfPath, readRecord } from "../conversation/append.ts";
import { findSquashed, readRecordLog } from "../conversation/log.ts";
import { type BranchTree, collectBlobs } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { agentName } from "../sessions/session-registry.ts";

/** Reads the history, newest first. */
export async function readCompactionLog(
  workspace: Pick<Workspace, "store">,
  tree: Pick<BranchTree, "branch" | "commit" | "turnOids" | "compactions" | "revision">,
): Promise<LogReport> {
  const entries = await readRecordLog(workspace.store, tree.commit);
  const live = new Set(tree.compactions.map((file) => file.path));
  const { applied, unapplied, damaged } = await loadCompactions(workspace.store, tree);
  const reasons = new Map([
    ...unapplied.map(({ compaction, reason }) => [compaction.id, reason] as const),
    ...damaged.map(({ path, reason }) => [compactionIdOfPath(path) ?? path, `damaged: ${reason}`] as const),
  ]);
  const broken = findBreaks(tree.turnOids.length, applied);
  const compacted = new Set(broken.compacted.map(({ compaction }) => compaction.id));
  const records = await readLoggedRecords(workspace.store, entries);
  const squashed = await findSquashed(workspace.store, entries);
  const cutOff = squashed.size === 0 ? squashed : await workspace.store.cutOffCommits();
  const newest = new Map(
    entries.toReversed().flatMap((entry) => changesOf(entry).map(({ path }) => [path, entry.commit])),
  );
  const seen = new Set<string>();
  const rows = entries.toReversed().flatMap((entry) => {
    const changes = changesOf(entry).map(({ path, id, kind: change }) => {
      const kind =
        change === "removed" ? ("revert" as const) : seen.has(id) ? ("reapply" as const) : ("compaction" as const);
      seen.add(id);
      return { path, id, kind, record: records.get(path) ?? null };
    });
    const whole = joinGroups(changes);
    const commit = describeCommit(entry, whole);
    return whole.map(({ path, id, kind, record, group }): LogRow => {
      const isLive = live.has(path);
      const reason = isLive ? reasons.get(id) : undefined;
      return {
        ...describe(record, group),
        note: record === null ? undefined : noteOf(record, compacted.has(record.id)),
        ...(squashed.has(entry.commit) ? bySquash(entry, { record, cutOff }) : commit),
        subject: recordSubject({ kind, record, group }),
        kind,
        compaction: id,
        ...asGroup(group),
        // Only the newest commit that added a compaction has it in force.
        live: isLive && kind !== "revert" && newest.get(path) === entry.commit,
        not_applied: reason,
      };
    });
  });
  return rows.reverse();
}

/** A line of the drawn history of a conversation. */
export interface GraphLine extends DrawnLine {
  /** Forks that end at the commit; `main`, `try`. */
  readonly forks: readonly string[];
}

/** Draws all branches of a conversation as git does, newest first. Throws `git_missing` where the engine cannot. */
export async function drawConversation(
  { store, runtime }: Workspace,
  conversation: string,
  limit?: number,
): Promise<readonly GraphLine[]> {
  if (store.histories === null) throw needsGit("A drawn history", runtime.env);
  const branches = (await store.listBranches()).filter(({ name }) => conversationOf(name) === conversation);
  const lines = await store.histories.draw(
    branches.map(({ commit }) => commit),
    limit,
  );
  return lines.map((line) => ({
    ...line,
    forks: branches.filter(({ commit }) => commit === line.commit?.id).map(({ name }) => forkOf(name)),
  }));
}

/** A change of one compaction, or of a group, by its first one. */
interface LoggedChange extends RecordedChange {
  readonly path: string;
  readonly id: string;
}

/** Joins the changes that a commit made to one group. */
function joinGroups(changes: readonly LoggedChange[]): readonly LoggedChange[] {
  const groups = new Map<Compaction, CompactionGroup>();
  for (const kind of ["compaction", "revert", "reapply"] as const) {
    const records = changes.flatMap((change) =>
      change.kind === kind && change.record !== null ? [change.record] : [],
    );
    for (const group of groupsOf(records)) for (const record of group) groups.set(record, group);
  }
  return changes.flatMap((change): LoggedChange[] => {
    const group = change.record === null ? undefined : groups.get(change.record);
    if (group === undefined || group.length === 1) return [change];
    return group[0] === change.record ? [{ ...change, group }] : [];
  });
}

function asGroup(group: CompactionGroup | undefined): Pick<LogRow, "group" | "compactions"> {
  const name = group?.[0].group;
  return group === undefined || name === undefined ? {} : { group: name, compactions: group.map(({ id }) => id) };
}

function describeCommit(
  { commit, message, committer, author }: LogEntry,
  changes: readonly RecordedChange[],
): Pick<LogRow, "commit" | "timestamp" | "author" | "message"> {
  const subject = message.split("\n", 1)[0] ?? "";
  return {
    commit,
    timestamp: timeOf(committer),
    author: author.name,
    ...(namesChange(subject, changes) ? {} : { message: subject }),
  };
}

/** The fields for a commit that added a compaction together with turns: it does not show when or by whom that was made. */
function bySquash(
  { commit, committer }: LogEntry,
  { record, cutOff }: { readonly record: Compaction | null; readonly cutOff: ReadonlySet<string> },
): Pick<LogRow, "commit" | "timestamp" | "squashed" | "cut_off"> {
  return {
    commit,
    timestamp: record?.timestamp ?? timeOf(committer),
    squashed: true,
    ...(cutOff.has(commit) ? { cut_off: true } : {}),
  };
}

function timeOf({ seconds }: Signature): string {
  return new Date(seconds * 1000).toISOString();
}

interface RecordChange {
  readonly path: string;
  readonly id: string;
  readonly kind: "added" | "removed";
}

/** The compactions that a commit added or removed; other files are ignored. */
function changesOf({ added, removed }: LogEntry): RecordChange[] {
  const changes = (paths: readonly string[], kind: RecordChange["kind"]): RecordChange[] =>
    paths.flatMap((path) => {
      const id = compactionIdOfPath(path);
      return id === null ? [] : [{ path, id, kind }];
    });
  return [...changes(added, "added"), ...changes(removed, "removed")];
}

/** Reads the records of the paths in a log, by path, reverted ones included; skips damaged ones. */
export async function readLoggedRecords(
  store: ConversationStore,
  entries: readonly LogEntry[],
): Promise<ReadonlyMap<string, Compaction>> {
  const oids = new Map<string, string>();
  for (const entry of entries) {
    const wanted = entry.added.filter((path) => !oids.has(path));
    if (wanted.length === 0) continue;
    for (const [path, oid] of await store.readEntries(entry.commit, wanted)) oids.set(path, oid);
  }
  const blobs = await collectBlobs(store, [...oids.values()]);
  const records = new Map<string, Compaction>();
  [...oids.keys()].forEach((path, index) => {
    const record = readRecord(blobs[index] ?? new Uint8Array(), path);
    if (record !== null) records.set(path, record);
  });
  return records;
}

function describe(
  compaction: Compaction | null,
  group: CompactionGroup | undefined,
): Pick<LogRow, "from_turn" | "to_turn" | "source" | "tokens" | "tokens_source" | "policies" | "profile" | "summary"> {
  if (compaction === null) return { from_turn: null, to_turn: null, source: null, tokens: null };
  const all: CompactionGroup = group ?? [compaction];
  const { from, to } = groupRange(all);
  const summaries = all.flatMap(({ summary }) => summary?.summary ?? []);
  return {
    from_turn: from,
    to_turn: to,
    source: compaction.source ?? null,
    tokens: compaction.stats?.tokens ?? null,
    tokens_source: compaction.stats?.tokens === undefined ? undefined : sourceOfTokens(compaction),
    policies: describeGroup(all),
    profile: compaction.profile,
    ...(summaries.length === 0 ? {} : { summary: summaries.join("\n\n") }),
  };
}

/** Returns the shown name of the agent that made a compaction by itself: an imported summary is the agent's. */
export function agentBehind(
  { header }: Pick<BranchTree, "header">,
  compaction: { readonly source?: string | null; readonly summary?: unknown },
): string | undefined {
  if (compaction.source !== "import" || compaction.summary === undefined || header.source === null) return undefined;
  return agentName(header.source.format);
}

/** The words of an import whose session resumes with other messages than its agent sent while it ran. */
const OTHER_WHEN_RESUMED =
  "The agent resumes this session with other messages than it sent while it ran; the view shows those of the resumed session.";

const NOT_REACHED =
  "The agent does not see these turns when it resumes its file; `jpg resume --repair --all` hands them back to it.";
const COMPACTED_BESIDES =
  "The agent has compacted these turns besides: `jpg undo --agent`, then `jpg resume --repair --all` hand them back to it.";

/** Words for what an import gave as the reason of a compaction that nobody made; `isCompacted`: a later one hides all of it. */
function noteOf({ reason }: Compaction, isCompacted: boolean): string | undefined {
  if (reason === RESUMES_DIFFERENTLY) return OTHER_WHEN_RESUMED;
  const damage = BREAK_REASONS.get(reason);
  if (damage === undefined) return undefined;
  return `The file is damaged: a line ${damage}. ${isCompacted ? COMPACTED_BESIDES : NOT_REACHED}`;
}

/** Compactions of an agent have its provider's counts, before and after. */
function sourceOfTokens({ source, metadata }: Compaction): TokenSource {
  return source === "import" && typeof metadata?.["postTokens"] === "number" ? "recorded" : "estimate";
}

/** One commit of the compaction history. */
export interface LogRow {
  readonly kind: "compaction" | "revert" | "reapply";
  /** Id of the compaction that the commit adds, reverts or brings back. */
  readonly compaction: string;
  readonly commit: string;
  /** Id of the group that the commit changes; absent = only this compaction. */
  readonly group?: string;
  /** Ids of the group's compactions, in order of their ranges; absent as `group`. */
  readonly compactions?: readonly string[];
  /** Turn positions, 0-based, inclusive; null when the record cannot be read. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** What the commit did, by the record. */
  readonly subject: string;
  /** The commit's own subject, where it differs from what the record says. */
  readonly message?: string;
  readonly source: string | null;
  /** Whether the compaction is in force at the tip. */
  readonly live: boolean;
  /** Tokens of the whole view before and after; null when nobody recorded them. */
  readonly tokens: { readonly before: number; readonly after: number } | null;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Commit time, RFC 3339 UTC. */
  readonly timestamp: string;
  readonly policies?: string;
  readonly profile?: string;
  readonly author?: string;
  /** Text of its summary, for the verbose form. */
  readonly summary?: string;
  /** Present when the commit added it together with turns, because history was squashed or cut off there. */
  readonly squashed?: true;
  /** With `squashed`: a shallow clone cut off history at this commit. */
  readonly cut_off?: true;
  /** Why a live compaction has no effect, e.g. `stale: turn 7 differs`. */
  readonly not_applied?: string;
  /** What a reader of the view must know of it, as a sentence. */
  readonly note?: string;
}

export type LogReport = readonly LogRow[];

// Words what a commit did to compactions, from their records: anybody can write a commit's message.

/** What a commit did to one compaction; `record` is null when it cannot be read. */
interface RecordedChange {
  readonly kind: "compaction" | "revert" | "reapply";
  readonly record: Compaction | null;
  /** The group that the commit changed; absent = only this one. */
  readonly group?: CompactionGroup;
}

/** The subject for a commit that makes this change. */
export function recordSubject({ kind, record, group }: RecordedChange): string {
  const subject = record === null ? "a record that cannot be read" : subjectOf(group ?? [record]);
  if (kind === "compaction") return subject;
  return `${kind === "revert" ? "Revert" : "Reapply"} "${subject}"`;
}

/** Whether a commit's subject describes one of its changes. A fork's subject describes none and is accepted. */
export function namesChange(subject: string, changes: readonly RecordedChange[]): boolean {
  if (isForkSubject(subject)) return true;
  const named = parseRevertSubject(subject);
  return changes.some(
    ({ kind, record, group }) =>
      record !== null && named.subject === subjectOf(group ?? [record]) && named.isTakenBack === (kind === "revert"),
  );
}
