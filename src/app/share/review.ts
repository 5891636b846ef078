// Reviews what merging a fork would change for the model: turns, compactions, reverts, settings and marks since it parted from the
// branch that it is compared with. Compares the two trees; commits are used only to find the merge base, and there may be none.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type Event, isMessage } from "../../core/conversation/event.ts";
import { type CompactionGroup, groupOf, groupsOf } from "../../core/conversation/group.ts";
import { sharedTurns } from "../../core/conversation/merge-sides.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { formatCount, formatTokens } from "../../core/conversation/token-estimate.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { type FencedLine, fence, hostLine } from "../../core/safe-text.ts";
import { compactionBody, cutLine, groupBody, type LargestChanges, revertCommand } from "../../store/compaction-body.ts";
import { subjectOf } from "../../store/messages.ts";
import type { CommitPair, Sharing } from "../../store/sharing.ts";
import type { TreeFile } from "../../store/store.ts";
import { compactionIdOfPath, groupPaths, readRecord } from "../conversation/append.ts";
import { loadCounted } from "../conversation/counted-view.ts";
import { readDeltas } from "../conversation/marks.ts";
import { conversationTitle } from "../conversation/title.ts";
import { type BranchTree, collectBlobs, loadBranchTree, loadTip } from "../conversation/tree.ts";
import { readMetas, readTurnFiles, turnFiles } from "../conversation/turns.ts";
import { type KnownTurns, loadCompactions, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { largestChanges } from "../diff/diff-hunks.ts";
import { eventLines } from "../diff/view-text.ts";
import { readCompactionLog } from "../look/log.ts";
import { resolveForkRevision } from "../names/resolve-id.ts";
import { branchBases } from "./remotes.ts";

type CompactionFile = BranchTree["compactions"][number];

/** A turn that the fork has and the other branch does not. */
export interface ReviewedTurn {
  /** 0-based. */
  readonly turn: number;
  /** Whether the other branch has the beginning of it. */
  readonly continued: boolean;
  /** The text of its request; may be empty. */
  readonly request: string;
  readonly messages: number;
}

export interface ReviewReport {
  readonly conversation: string;
  readonly title: { readonly before: string; readonly after: string };
  readonly fork: string;
  readonly against: string;
  /** The merge base; null = there is none, and the fork is compared with the other's tip. */
  readonly base: string | null;
  /**
   * Which of the two merged the other up to the base (`jpg merge`): git counts that as history, but its files have only a summary
   * of it. If `fork` did, merging it by git would remove the other's turns.
   */
  readonly told: "fork" | "against" | null;
  /** What was added to the other branch since. */
  readonly meanwhile: { readonly turns: number; readonly compactions: number };
  readonly tokens: { readonly before: number; readonly after: number };
  readonly turns: readonly ReviewedTurn[];
  /** Turns of the other that the fork does not have. */
  readonly turns_left_out: number;
  /** Oldest first. */
  readonly compactions: readonly ReviewedCompaction[];
  /** Compactions that the fork reverts. */
  readonly reverted: readonly { readonly id: string; readonly subject: string }[];
  /** Settings that the fork adds, as `name = value`. */
  readonly settings: readonly string[];
  /** Its labels, pins and other marks, as `name = value`. */
  readonly marks: readonly string[];
}

/**
 * Reviews a fork against its conversation's main fork, or main against its fetched state. Throws `not_a_fork`, and as `resolveId`
 * does.
 */
export async function reviewFork(workspace: Workspace, word: string | undefined): Promise<ReviewReport> {
  const { store } = workspace;
  const { fork, against, base, told } = await reviewedPair(workspace, word);
  const before = base === null ? against : await loadBranchTree(store, against.branch, base);
  const shared = sharedTurns(before.turnOids, fork.turnOids);
  const known: KnownTurns = new Map();
  const [was, is] = [await loadCounted(store, before, known), await loadCounted(store, fork, known)];
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

/**
 * Counts the turns of one that the other does not have. After `jpg merge`, turns at the same positions are different ones;
 * otherwise one is a longer state of the other.
 */
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

function filesMissing(files: readonly CompactionFile[], others: readonly CompactionFile[]): readonly CompactionFile[] {
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

async function readReverted({ store }: Workspace, files: readonly CompactionFile[]): Promise<ReviewReport["reverted"]> {
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

/** A compaction that the fork has and the other branch does not. */
export interface ReviewedCompaction {
  /** The first one of a group. */
  readonly compaction: Compaction;
  /** All compactions of the group; absent = only this one. */
  readonly group?: CompactionGroup;
  readonly subject: string;
  /** The subject of the commit that added it, where that differs from what the record does. */
  readonly message?: string;
  /** How it changes the view of the fork's turns, on top of the compactions made before it. */
  readonly changes: LargestChanges;
  /** Why it has no effect on the fork; absent = it has one. */
  readonly not_applied?: string;
}

/** Reads compactions, each applied on top of the earlier ones: their names begin with the time. */
export async function readAdded(
  workspace: Workspace,
  { fork, known }: { readonly fork: BranchTree; readonly known: KnownTurns },
  added: readonly TreeFile[],
): Promise<readonly ReviewedCompaction[]> {
  const { store } = workspace;
  const messages = added.length === 0 ? new Map<string, string>() : await readMessages(workspace, fork);
  const wanted = new Set(added.map(({ path }) => path));
  const present = fork.compactions.filter(({ path }) => !wanted.has(path));
  const { live, meter } = await loadCounted(store, fork, known);
  const reviewed: ReviewedCompaction[] = [];
  let { view } = await loadView(store, { ...fork, compactions: present }, { known });
  for (const files of await orderByGroup(workspace, fork, added)) {
    appendAll(present, files);
    const compactions = [...present].sort((a, b) => (a.path < b.path ? -1 : 1));
    const after = await loadView(store, { ...fork, compactions }, { known });
    const own = new Set(files.map(({ path }) => compactionIdOfPath(path)));
    const [compaction, ...others] = after.live.all.filter(({ id }) => own.has(id));
    // `jpg fsck` reports a damaged record.
    if (compaction !== undefined) {
      const group = groupOf(compaction, [compaction, ...others]);
      const message = messages.get(group[0].id);
      const reason = live.unapplied.find((other) => own.has(other.compaction.id))?.reason;
      reviewed.push({
        compaction: group[0],
        ...(group.length === 1 ? {} : { group }),
        subject: subjectOf(group),
        changes: largestChanges({ before: view, after: after.view, meter }, new Set(group.map(({ id }) => id))),
        message,
        not_applied: reason,
      });
    }
    view = after.view;
  }
  return reviewed;
}

/** Sorts the files of compactions by time and keeps groups together. */
async function orderByGroup(
  workspace: Workspace,
  fork: BranchTree,
  added: readonly TreeFile[],
): Promise<readonly (readonly TreeFile[])[]> {
  const sorted = [...added].sort((a, b) => (a.path < b.path ? -1 : 1));
  const together = await groupPaths(workspace, fork, await loadCompactions(workspace.store, fork));
  const seen = new Set<string>();
  return sorted.flatMap((file) => {
    if (seen.has(file.path)) return [];
    const paths = new Set(together(file.path));
    for (const path of paths) seen.add(path);
    return [sorted.filter(({ path }) => paths.has(path))];
  });
}

/** Reads the messages of commits that describe their compaction wrongly, by its id; of several, the newest. */
async function readMessages(workspace: Workspace, fork: BranchTree): Promise<ReadonlyMap<string, string>> {
  const rows = (await readCompactionLog(workspace, fork)).toReversed();
  return new Map(
    rows.flatMap(({ kind, compaction, message }) =>
      kind === "revert" || message === undefined ? [] : [[compaction, message]],
    ),
  );
}

// Finds what a review compares: a fork, the branch to merge into, and their merge base. After `jpg merge` of one into the other,
// that is the merged tip, as for git and every host.

/** The fork that others are merged into. */
const MAIN = "main";

export interface ReviewedPair {
  readonly fork: BranchTree;
  readonly against: BranchTree;
  /** Null = the histories share nothing, or jpg has no git to ask. */
  readonly base: string | null;
  /** Which of the two merged the other up to the base, and has only a summary of it; null = neither. */
  readonly told: "fork" | "against" | null;
}

/**
 * Finds the two branches: a fork is compared with `main` of its conversation, `main` with its last fetched state. Throws `not_a_fork` where
 * there is nothing to compare with, and as `resolveId` does.
 */
export async function reviewedPair(workspace: Workspace, word: string | undefined): Promise<ReviewedPair> {
  const fork = await resolveForkRevision(workspace, word);
  const against = await findAgainst(workspace, fork);
  return { fork, against, ...(await mergeBaseOf(workspace, { one: fork.commit, other: against.commit })) };
}

async function mergeBaseOf(
  workspace: Workspace,
  { one, other }: CommitPair,
): Promise<Pick<ReviewedPair, "base" | "told">> {
  const { sharing } = workspace.store;
  if (sharing === null) return { base: null, told: null };
  const [[bases = []], [own = []]] = await Promise.all([
    sharing.mergeBases([{ one, other }]),
    branchBases(workspace, [{ one, other }]),
  ]);
  const [base = null] = bases;
  if (base === null || own.includes(base)) return { base, told: null };
  const [onFork = [], onAgainst = []] = await branchBases(workspace, [
    { one: base, other: one },
    { one: base, other },
  ]);
  if (onFork.includes(base)) return { base, told: "against" };
  if (onAgainst.includes(base)) return { base, told: "fork" };
  // Both merged a third branch.
  return { base: own[0] ?? null, told: null };
}

async function findAgainst(workspace: Workspace, { branch }: BranchTree): Promise<BranchTree> {
  const main = `${conversationOf(branch)}/${MAIN}`;
  const here = forkOf(branch) === MAIN ? null : await loadTip(workspace.store, main);
  const there = here === null ? await findFetched(workspace, main) : null;
  const against = here ?? there;
  if (against !== null) return against;
  const reason =
    forkOf(branch) === MAIN ? "is not a fork, and no remote is known to have it" : `has no ${MAIN} to compare with`;
  throw userError("not_a_fork", `${branch} ${reason}, so there is nothing to compare it with.`, {
    hints: [
      "`jpg diff --stat` shows what compactions changed for the model.",
      "`jpg review FORK` reviews a fork of the conversation, which `jpg ls --branches` lists.",
      "`jpg fetch` downloads what a remote has of it.",
    ],
  });
}

async function findFetched({ store }: Workspace, branch: string): Promise<BranchTree | null> {
  const { sharing } = store;
  if (sharing === null) return null;
  for (const { name } of await sharing.remotes()) {
    const tip = await trackedTip(sharing, name, branch);
    if (tip !== null) return { ...(await loadBranchTree(store, branch, tip)), branch: `${name}/${branch}` };
  }
  return null;
}

async function trackedTip(sharing: Sharing, remote: string, branch: string): Promise<string | null> {
  const tips = await sharing.tracked(remote);
  return tips.find(({ name }) => name === branch)?.commit ?? null;
}

// Renders a review as the description of a pull request. All text that is not jpg's own is in fences or code, where no host renders
// it or acts on it. At most 60,000 bytes: hosts accept 65,536 characters.

const MAX_BYTES = 60_000;
/** Bytes: with less room left, a compaction is left out. */
const MIN_BYTES = 2000;
/** Most entries of a list; the rest is only counted. */
const MAX_LISTED = 20;
/** Longest line of a list, bytes. */
const LINE_BYTES = 160;

/** Renders a review as Markdown that ends in a line feed. */
export function reviewMarkdown(report: ReviewReport): string {
  const { turns, compactions, reverted, settings, marks, title } = report;
  const parts = [
    headPart(report),
    ...listPart(`Turns added (${turns.length})`, turns.map(turnLine)),
    ...listPart(
      "Compactions reverted",
      reverted.map(({ id, subject }) => `${id}: ${subject}`),
    ),
    ...(title.before === title.after ? [] : listPart("Title", [`- ${title.before}`, `+ ${title.after}`])),
    ...listPart("Settings", settings),
    ...listPart("Marks", marks),
  ];
  let room = MAX_BYTES - Buffer.byteLength(parts.join("\n\n")) - MIN_BYTES;
  // The newest compactions decide most, so they get room first.
  const newest = [...compactions].reverse().map((one) => {
    const text = compactionPart(one, room);
    room -= Buffer.byteLength(text) + 2;
    return text;
  });
  const all = newest.reverse().filter((text) => text !== "");
  const omitted = compactions.length - all.length;
  const rest = omitted === 0 ? [] : [`${omitted} older compactions are not shown: \`jpg log\` lists them.`];
  return `${[...parts, ...rest, ...all].join("\n\n")}\n`;
}

function headPart(report: ReviewReport): string {
  const { fork, against, meanwhile, tokens, compactions, turns_left_out } = report;
  const moved = [
    ...(meanwhile.turns === 0 ? [] : [formatCount(meanwhile.turns, "turn")]),
    ...(meanwhile.compactions === 0 ? [] : [formatCount(meanwhile.compactions, "compaction")]),
  ];
  return [
    `# What ${code(fork)} changes for the model`,
    `Compared with ${code(against)}${mergeBaseWords(report)}. What was said in the conversation is only in code blocks.`,
    ...removalWarning(report),
    [
      `* tokens that the model reads: ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} (estimate)`,
      `* compactions added: ${compactions.length}`,
      ...(turns_left_out === 0 ? [] : [`* turns left out: ${turns_left_out}`]),
      ...(moved.length === 0 ? [] : [`* added to ${code(against)} since: ${moved.join(", ")}`]),
    ].join("\n"),
  ].join("\n\n");
}

function mergeBaseWords({ base, told }: ReviewReport): string {
  if (base === null) return "";
  const commit = code(base.slice(0, 9));
  if (told === null) return ` where they parted (${commit})`;
  return told === "against"
    ? `, which has a summary of it up to ${commit}`
    : `, of which it has a summary up to ${commit}`;
}

function removalWarning({ fork, against, told }: ReviewReport): readonly string[] {
  if (told !== "fork") return [];
  return [
    `**Merging this here or by git would remove from ${code(against)} what it did since the two parted**: ${code(fork)} has only a summary of that. ${code(`jpg merge ${fork} --into ${against}`)} keeps it.`,
  ];
}

/** One list line for a turn with its request, cut. */
export function turnLine({ turn, continued, request, messages }: ReviewedTurn): string {
  const said = request
    .slice(0, 4 * LINE_BYTES)
    .replace(/\s+/g, " ")
    .trim();
  return `${turn}${continued ? " (grown or replaced)" : ""}: ${said === "" ? "(no request)" : said} [${formatCount(messages, "message")}]`;
}

function compactionPart(
  { compaction, group, subject, message, changes, not_applied }: ReviewedCompaction,
  room: number,
): string {
  if (room < MIN_BYTES) return "";
  const head = [
    `## ${code(subject)}`,
    ...(message === undefined
      ? []
      : [`Its commit message says something else: ${code(message)}. This text says what the record does.`]),
    ...((group ?? [compaction]).some(({ summary }) => summary?.source === "imported")
      ? ["Its summary was imported with a session; nobody checked it."]
      : []),
    `To undo it: ${revertCommand(compaction)}.`,
    ...(not_applied === undefined ? [] : [`It has no effect here: ${code(not_applied)}`]),
  ].join("\n\n");
  const left = room - Buffer.byteLength(head) - 2;
  const whole =
    group === undefined
      ? compactionBody(compaction, { hidden: null, changes }, left)
      : groupBody(group, { hidden: null, changes, pinned: [], unpinned: [] }, left);
  if (Buffer.byteLength(whole) <= left) return `${head}\n\n${whole}`;
  const brief = `There is no room for more here: see its commit message, or \`jpg show\`.`;
  return `${head}\n\n${brief}`;
}

function listPart(title: string, entries: readonly string[]): readonly string[] {
  if (entries.length === 0) return [];
  const rest = entries.length - MAX_LISTED;
  const lines = entries.slice(0, MAX_LISTED).map((entry): FencedLine => ({ mark: "  ", text: cut(entry) }));
  const more: readonly FencedLine[] = rest > 0 ? [{ mark: "  ", text: `… and ${rest} more` }] : [];
  return [`## ${title}\n\n${fence([...lines, ...more])}`];
}

/** Renders a name as a code span, with more backticks around it than it has in a row. */
function code(text: string): string {
  const name = cut(text) || "(none)";
  const longest = Math.max(0, ...[...name.matchAll(/`+/g)].map(([run]) => run.length));
  const marker = "`".repeat(longest + 1);
  return longest === 0 ? `${marker}${name}${marker}` : `${marker} ${name} ${marker}`;
}

function cut(text: string): string {
  return cutLine(hostLine(text.replace(/\s+/g, " ")), { bytes: LINE_BYTES, width: LINE_BYTES }) ?? "";
}
