// What a fork would change for the model where it was merged: its turns, compactions, reverts, settings and marks since it parted
// from what it is compared with. Loads both trees; the commits say only where they parted, and need not say it.
import { appendAll } from "../../core/append-all.ts";
import type { Compaction } from "../../core/compaction/compaction.ts";
import { conversationOf } from "../../core/conversation-name.ts";
import type { Event } from "../../core/event/event.ts";
import { isMessage } from "../../core/event/event.ts";
import { sharedTurns } from "../../core/plan/merge-sides.ts";
import { subjectOf } from "../../store/messages/commit-message.ts";
import type { LargestChanges } from "../../store/messages/view-change.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath, readRecord } from "../branch/compaction-path.ts";
import { readDeltas } from "../branch/conversation-config.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { type KnownTurns, loadView } from "../branch/load-view.ts";
import { conversationTitle, readMetas } from "../branch/titles.ts";
import { parseTurnBytes } from "../branch/turn-bytes.ts";
import { largestChanges } from "../diff/largest-changes.ts";
import { eventLines } from "../diff/view-text.ts";
import { readCompactionLog } from "../inspect/log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { reviewedPair } from "./reviewed-pair.ts";

type TreeFile = BranchTree["compactions"][number];

/** A turn that the fork has and the other has not. */
export interface ReviewedTurn {
  /** 0-based. */
  readonly turn: number;
  /** The other has a beginning of it. */
  readonly continued: boolean;
  /** The text of its request; empty = it has none. */
  readonly request: string;
  readonly messages: number;
}

/** A compaction that the fork has and the other has not. */
export interface ReviewedCompaction {
  readonly compaction: Compaction;
  readonly subject: string;
  /** The subject of the commit that brought it, where it tells something else than the record. */
  readonly message?: string;
  /** What the model sees differently by it, on the turns of the fork and under the compactions made before it. */
  readonly changes: LargestChanges;
  /** Why it has no effect on the fork; absent = it has one. */
  readonly not_applied?: string;
}

/** What a fork would change. */
export interface ReviewReport {
  readonly conversation: string;
  readonly title: { readonly before: string; readonly after: string };
  readonly fork: string;
  readonly against: string;
  /** The commit at which they parted; null where their histories tell none, and the other's tip was compared with. */
  readonly base: string | null;
  /** What the other has done since. */
  readonly meanwhile: { readonly turns: number; readonly compactions: number };
  readonly tokens: { readonly before: number; readonly after: number };
  readonly turns: readonly ReviewedTurn[];
  /** Turns of the other that the fork does not have. */
  readonly turns_left_out: number;
  /** Oldest first. */
  readonly compactions: readonly ReviewedCompaction[];
  /** Compactions that the fork takes back. */
  readonly reverted: readonly { readonly id: string; readonly subject: string }[];
  /** Settings, labels, pins and marks that the fork adds, as `name = value`. */
  readonly settings: readonly string[];
  readonly marks: readonly string[];
}

/** Reviews a fork against its conversation's main fork, the main fork against what was fetched. Throws `not_a_fork`, and as `resolveId` does. */
export async function reviewFork(workspace: Workspace, word: string | undefined): Promise<ReviewReport> {
  const { store } = workspace;
  const { fork, against, base } = await reviewedPair(workspace, word);
  const before = base === null ? against : await loadBranchTree(store, against.branch, base);
  const shared = sharedTurns(before.turnOids, fork.turnOids);
  const known: KnownTurns = new Map();
  const [was, is] = [await loadCounted(store, before, [], known), await loadCounted(store, fork, [], known)];
  const added = filesMissing(fork.compactions, before.compactions);
  const names = await readTitles(workspace, before, fork);
  return {
    conversation: conversationOf(fork.branch),
    title: names,
    fork: fork.branch,
    against: against.branch,
    base,
    meanwhile: {
      turns: Math.max(0, against.turnOids.length - before.turnOids.length),
      compactions: filesMissing(against.compactions, before.compactions).length,
    },
    tokens: {
      before: is.meter.countView(was.view, was.live.applied).tokens,
      after: is.meter.countView(is.view, is.live.applied).tokens,
    },
    turns: await readTurns(workspace, fork, { from: shared, known: before.turnOids.length }),
    turns_left_out: Math.max(0, before.turnOids.length - Math.max(shared, fork.turnOids.length)),
    compactions: await readAdded(workspace, { fork, known }, added),
    reverted: await readReverted(workspace, filesMissing(before.compactions, fork.compactions)),
    settings: await readSettings(workspace, before, fork),
    marks: await readMarks(workspace, before, fork),
  };
}

/** Whether a fork would change anything. */
export function isDifferent({ title, turns, turns_left_out, ...lists }: ReviewReport): boolean {
  const { compactions, reverted, settings, marks } = lists;
  const count = turns.length + turns_left_out + compactions.length + reverted.length + settings.length + marks.length;
  return count > 0 || title.before !== title.after;
}

function filesMissing(files: readonly TreeFile[], others: readonly TreeFile[]): readonly TreeFile[] {
  const known = new Set(others.map(({ path }) => path));
  return files.filter(({ path }) => !known.has(path));
}

async function readTitles(
  workspace: Workspace,
  before: BranchTree,
  fork: BranchTree,
): Promise<{ readonly before: string; readonly after: string }> {
  return { before: await conversationTitle(workspace, before), after: await conversationTitle(workspace, fork) };
}

async function readTurns(
  { store }: Workspace,
  fork: BranchTree,
  { from, known }: { readonly from: number; readonly known: number },
): Promise<readonly ReviewedTurn[]> {
  const turns: ReviewedTurn[] = [];
  for await (const bytes of store.readBlobs(fork.turnOids.slice(from))) {
    const turn = from + turns.length;
    const events = parseTurnBytes(bytes, turn);
    turns.push({
      turn,
      continued: turn < known,
      request: requestOf(events),
      messages: events.filter(isMessage).length,
    });
  }
  return turns;
}

function requestOf(events: readonly Event[]): string {
  const request = events.find((event) => event.type === "chat_request" && event.metadata?.origin !== "harness");
  return request === undefined ? "" : eventLines(request).join("\n");
}

/** Each on top of those before it: the time that a record was made begins its name. */
async function readAdded(
  workspace: Workspace,
  { fork, known }: { readonly fork: BranchTree; readonly known: KnownTurns },
  added: readonly TreeFile[],
): Promise<readonly ReviewedCompaction[]> {
  const { store } = workspace;
  const messages = added.length === 0 ? new Map<string, string>() : await readMessages(workspace, fork);
  const wanted = new Set(added.map(({ path }) => path));
  const present = fork.compactions.filter(({ path }) => !wanted.has(path));
  const { live } = await loadView(store, fork, { known });
  const reviewed: ReviewedCompaction[] = [];
  let { view } = await loadView(store, { ...fork, compactions: present }, { known });
  for (const file of [...added].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    present.push(file);
    const compactions = [...present].sort((a, b) => (a.path < b.path ? -1 : 1));
    const after = await loadView(store, { ...fork, compactions }, { known });
    const added = compactionIdOfPath(file.path);
    const compaction = after.live.all.find(({ id }) => id === added);
    // A damaged record changes nothing; `jpg fsck` names it.
    if (compaction !== undefined) {
      const message = messages.get(compaction.id);
      const reason = live.unapplied.find((other) => other.compaction.id === compaction.id)?.reason;
      reviewed.push({
        compaction,
        subject: subjectOf(compaction),
        changes: largestChanges(view, after.view, compaction.id),
        ...(message === undefined ? {} : { message }),
        ...(reason === undefined ? {} : { not_applied: reason }),
      });
    }
    view = after.view;
  }
  return reviewed;
}

/** What commits say of the compactions that they brought, where it is not what the records do; the newest counts. */
async function readMessages(workspace: Workspace, fork: BranchTree): Promise<ReadonlyMap<string, string>> {
  const rows = (await readCompactionLog(workspace, fork)).toReversed();
  return new Map(
    rows.flatMap(({ kind, compaction, message }) =>
      kind === "revert" || message === undefined ? [] : [[compaction, message]],
    ),
  );
}

async function readReverted({ store }: Workspace, files: readonly TreeFile[]): Promise<ReviewReport["reverted"]> {
  const blobs = await collectBlobs(
    store,
    files.map(({ oid }) => oid),
  );
  return files.flatMap(({ path }, at) => {
    const record = readRecord(blobs[at] ?? new Uint8Array(), path);
    return record === null ? [] : [{ id: record.id, subject: subjectOf(record) }];
  });
}

async function readSettings(workspace: Workspace, before: BranchTree, fork: BranchTree): Promise<readonly string[]> {
  const configs = filesMissing(fork.configs, before.configs);
  const lines: string[] = [];
  for (const { delta } of await readDeltas(workspace, { ...fork, configs })) appendAll(lines, settingLines(delta));
  return lines;
}

function settingLines(value: unknown, name = ""): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [value === null ? `${name} is unset` : `${name} = ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, entry]) => settingLines(entry, name === "" ? key : `${name}.${key}`));
}

async function readMarks(workspace: Workspace, before: BranchTree, fork: BranchTree): Promise<readonly string[]> {
  const known = new Set((await readMetas(workspace, before)).map(({ id }) => id));
  const fresh = (await readMetas(workspace, fork)).filter(({ id }) => !known.has(id));
  return fresh.flatMap(({ id: _id, timestamp: _timestamp, title: _title, ...fields }) =>
    Object.entries(fields).flatMap(([name, value]) => (name === "type" ? [] : [`${name} = ${JSON.stringify(value)}`])),
  );
}
