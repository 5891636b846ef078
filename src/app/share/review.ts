// What a fork would change for the model where it was merged: its turns, compactions, reverts, settings and marks since it parted
// from what it is compared with. Loads both trees; the commits say only where they parted, and need not say it.

import { type Event, isMessage } from "../../core/conversation/event.ts";
import { groupsOf } from "../../core/conversation/group.ts";
import { sharedTurns } from "../../core/conversation/merge-sides.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { appendAll } from "../../core/lists.ts";
import { subjectOf } from "../../store/messages.ts";
import { readTurnFiles, turnFiles } from "../branch/attachments.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../branch/branch-tree.ts";
import { readRecord } from "../branch/compaction-path.ts";
import { readDeltas } from "../branch/conversation-config.ts";
import { loadCounted } from "../branch/counted-view.ts";
import type { KnownTurns } from "../branch/load-view.ts";
import { conversationTitle, readMetas } from "../branch/titles.ts";
import { eventLines } from "../diff/view-text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ReviewedCompaction, readAdded } from "./reviewed-compactions.ts";
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

/** What a fork would change. */
export interface ReviewReport {
  readonly conversation: string;
  readonly title: { readonly before: string; readonly after: string };
  readonly fork: string;
  readonly against: string;
  /** The commit at which they parted; null where their histories tell none, and the other's tip was compared with. */
  readonly base: string | null;
  /**
   * Which of the two was told of the other up to there (`jpg merge`): git takes that for a part of it. What `fork` was only told of it
   * has not, and a merge by git takes it off the other.
   */
  readonly told: "fork" | "against" | null;
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
  const { fork, against, base, told } = await reviewedPair(workspace, word);
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
    told,
    meanwhile: {
      turns: turnsBeyond(against, before, told),
      compactions: filesMissing(against.compactions, before.compactions).length,
    },
    tokens: {
      before: is.meter.countView(was.view, was.live.applied).tokens,
      after: is.meter.countView(is.view, is.live.applied).tokens,
    },
    turns: await readTurns(workspace, fork, { from: shared, known: told === "fork" ? shared : before.turnOids.length }),
    turns_left_out: turnsBeyond(before, fork, told),
    compactions: await readAdded(workspace, { fork, known }, added),
    reverted: await readReverted(workspace, filesMissing(before.compactions, fork.compactions)),
    settings: await readSettings(workspace, before, fork),
    marks: await readMarks(workspace, before, fork),
  };
}

/** Turns of one that the other has not: of a branch that was told, those at the same place are others; else it has them, grown. */
function turnsBeyond(one: BranchTree, other: BranchTree, told: ReviewReport["told"]): number {
  const shared = sharedTurns(one.turnOids, other.turnOids);
  return one.turnOids.length - (told === null ? Math.min(one.turnOids.length, other.turnOids.length) : shared);
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
  const positions = [...fork.turnOids.keys()].slice(from);
  for await (const { index: turn, events } of readTurnFiles(store, fork.commit, turnFiles(fork, positions)))
    turns.push({
      turn,
      continued: turn < known,
      request: requestOf(events),
      messages: events.filter(isMessage).length,
    });
  return turns;
}

function requestOf(events: readonly Event[]): string {
  const request = events.find((event) => event.type === "chat_request" && event.metadata?.origin !== "harness");
  return request === undefined ? "" : eventLines(request).join("\n");
}

async function readReverted({ store }: Workspace, files: readonly TreeFile[]): Promise<ReviewReport["reverted"]> {
  const blobs = await collectBlobs(
    store,
    files.map(({ oid }) => oid),
  );
  const records = files.flatMap(({ path }, at) => {
    const record = readRecord(blobs[at] ?? new Uint8Array(), path);
    return record ?? [];
  });
  return groupsOf(records).map((group) => ({ id: group[0].id, subject: subjectOf(group) }));
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
