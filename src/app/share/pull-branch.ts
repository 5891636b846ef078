// Takes in what stands on a branch elsewhere: goes on with it where one's own is behind, merges records, or makes way where
// both have turns.
import { RECORD_FOLDERS } from "../../core/conversation/branch-files.ts";
import {
  type CommitFiles,
  compareTurns,
  filesBetween,
  type MergeSide,
  mergeFiles,
  orderSides,
  sharedTurns,
  type TurnsOf,
} from "../../core/conversation/merge-sides.ts";
import { branchName, conversationOf, forkOf, slugOf } from "../../core/conversation/name.ts";
import { JpgError, messageOf } from "../../core/errors.ts";
import {
  type BranchTip,
  type BranchWrite,
  type CommitSpec,
  type ConversationStore,
  FALLBACK_IDENTITY,
  type LogEntry,
  type Signature,
  type WriteResult,
} from "../../store/store.ts";
import { isTurnOpen } from "../conversation/journal.ts";
import { readRecordLog } from "../conversation/log.ts";
import { collectBlobs, listTurnOids, loadBranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { branchBases, whyAnother } from "./remotes.ts";

/** What became of a branch. */
export interface PulledBranch {
  readonly branch: string;
  /** `forked`: theirs has the name now, one's own is on `fork`. `kept`: it stays as it was, for `reason`. */
  readonly status: "new" | "updated" | "merged" | "forked" | "kept";
  /** Turns that it did not have here before; >= 0. */
  readonly turns: number;
  readonly fork?: string;
  readonly reason?: string;
}

/** How often a branch is looked at again when others move it at the same time. */
const MAX_ATTEMPTS = 4;

/** A remote, and the branches that it has. */
interface RemoteSide {
  readonly remote: string;
  readonly there: ReadonlySet<string>;
  /** Told of each branch that goes on: the commit that it went on from. */
  readonly movedFrom: Map<string, string>;
}

/** What is known of a branch here and there: where it stands here, and what both have in common. */
export interface ComparedBranch extends BehindBranch {
  readonly bases: readonly string[];
}

/** What a branch of a remote would stand beside. */
interface FamilyCheck {
  readonly remote: string;
  /** A branch here whose name is of the same conversation, where that has to be told; else null. */
  readonly family: BranchTip | null;
}

/** History tells that it is the same conversation. */
const NO_FAMILY: FamilyCheck = { remote: "", family: null };

/** Takes in what a branch is there; null when all of that is here. `compared` counts while the branch has not moved. */
export async function pullBranch(
  workspace: Workspace,
  theirs: BranchTip,
  { remote, there, movedFrom }: RemoteSide,
  compared?: ComparedBranch,
): Promise<PulledBranch | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const own = await workspace.store.readBranch(theirs.name);
    if (own === null || own === theirs.commit) return null;
    const [bases = []] =
      compared?.commit === own ? [compared.bases] : await branchBases(workspace, [{ one: own, other: theirs.commit }]);
    if (bases.includes(theirs.commit)) return null;
    const family = bases.length > 0 ? null : { ...theirs, commit: own };
    const reason = await whyKept(workspace, theirs, { remote, family });
    if (reason !== null) return kept(theirs, reason);
    const pulled = await joinOrKeep(workspace, { own: { ...theirs, commit: own }, theirs, bases, there, movedFrom });
    if (pulled !== null) return pulled;
  }
  return kept(theirs, "others moved it at the same time");
}

async function whyKept(workspace: Workspace, theirs: BranchTip, check: FamilyCheck): Promise<string | null> {
  return (await whyNotTaken(workspace, theirs, check)) ?? (await whyOpen(workspace, theirs.name));
}

/** A branch that is behind one elsewhere: all that it has is there. */
interface BehindBranch {
  /** Where it stands here. */
  readonly commit: string;
  readonly theirs: BranchTip;
}

/**
 * Lets branches go on with what stands elsewhere, all in one write; `movedFrom` as in `RemoteSide`. Gives what became of them, and
 * those that have to be looked at one by one: somebody moved them, or something is in the way of one.
 */
export async function fastForward(
  workspace: Workspace,
  behind: readonly BehindBranch[],
  movedFrom: RemoteSide["movedFrom"],
): Promise<{ readonly pulled: readonly PulledBranch[]; readonly remaining: readonly BranchTip[] }> {
  const pulled: PulledBranch[] = [];
  const taken: BehindBranch[] = [];
  for (const branch of behind) {
    const reason = await whyKept(workspace, branch.theirs, NO_FAMILY);
    if (reason === null) taken.push(branch);
    else pulled.push(kept(branch.theirs, reason));
  }
  const writes = taken.map(
    ({ commit, theirs }): BranchWrite => ({
      branch: theirs.name,
      expected: commit,
      parent: theirs.commit,
      commits: [],
    }),
  );
  const moved = writes.length === 0 ? [] : await workspace.store.write(writes).catch(noneIfBlocked);
  const remaining: BranchTip[] = [];
  for (const [at, { commit, theirs }] of taken.entries()) {
    if (moved[at]?.moved !== true) {
      remaining.push(theirs);
      continue;
    }
    movedFrom.set(theirs.name, commit);
    pulled.push({ branch: theirs.name, status: "updated", turns: await moreTurns(workspace, commit, theirs.commit) });
  }
  return { pulled, remaining };
}

function noneIfBlocked(error: unknown): readonly WriteResult[] {
  if (error instanceof JpgError && error.kind !== "internal") return [];
  throw error;
}

async function moreTurns(workspace: Workspace, before: string, after: string): Promise<number> {
  return Math.max(0, (await countTurns(workspace, after)) - (await countTurns(workspace, before)));
}

function kept({ name }: BranchTip, reason: string): PulledBranch {
  return { branch: name, status: "kept", turns: 0, reason };
}

/** Two tips of one branch that differ. */
interface DifferingTips extends Pick<RemoteSide, "there" | "movedFrom"> {
  readonly own: BranchTip;
  readonly theirs: BranchTip;
  readonly bases: readonly string[];
}

/** What one branch cannot do (files of a worktree in the way) keeps no other from being taken in. */
function joinOrKeep(workspace: Workspace, tips: DifferingTips): Promise<PulledBranch | null> {
  return joinSides(workspace, tips).catch((error: unknown) => {
    if (error instanceof JpgError && error.kind !== "internal") return kept(tips.theirs, error.message);
    throw error;
  });
}

/** Null when the branch moved meanwhile. */
async function joinSides(
  workspace: Workspace,
  { own, theirs, bases, there, movedFrom }: DifferingTips,
): Promise<PulledBranch | null> {
  const { store } = workspace;
  const { name: branch, commit: expected } = own;
  const write = async (change: Pick<BranchWrite, "parent" | "commits">): Promise<boolean> => {
    const [written] = await store.write([{ branch, expected, ...change }]);
    if (written?.moved === true) movedFrom.set(branch, expected);
    return written?.moved === true;
  };
  const isBehind = bases.includes(expected);
  const merge = isBehind
    ? ({ turns: "theirs", parent: theirs.commit, commits: [] } as const)
    : await planMerge(store, { ours: expected, theirs: theirs.commit, bases });
  const turns = await moreTurns(workspace, expected, theirs.commit);
  if (merge.turns !== "both") {
    const status = isBehind ? "updated" : "merged";
    return (await write(merge)) ? { branch, status, turns } : null;
  }
  const fork = await renameOurs(workspace, own, there);
  const moved = await write({ parent: theirs.commit, commits: [] });
  return moved ? { branch, status: "forked", turns, fork } : null;
}

async function countTurns({ store }: Workspace, commit: string): Promise<number> {
  return (await listTurnOids(store, commit)).length;
}

/** Why what stands there is not taken in; null when it is a conversation that this jpg reads. */
export async function whyNotTaken(
  { store }: Workspace,
  { name, commit }: BranchTip,
  { remote, family }: FamilyCheck,
): Promise<string | null> {
  try {
    const tree = await loadBranchTree(store, name, commit);
    return await whyAnother({ store }, { tree, remote }, family);
  } catch (error) {
    if (error instanceof JpgError) return messageOf(error);
    throw error;
  }
}

/** A turn that is being talked is committed on its branch first. */
async function whyOpen({ store, runtime }: Workspace, branch: string): Promise<string | null> {
  const open = await isTurnOpen(store.journal(), branch, runtime.now());
  return open ? "a turn of it is still in progress; pull again when it has ended" : null;
}

/** Names what a branch holds as a fork of one's own; gives its name. An earlier try that was interrupted is gone on with. */
async function renameOurs(workspace: Workspace, own: BranchTip, taken: ReadonlySet<string>): Promise<string> {
  const { store } = workspace;
  const user = slugOf((await store.identity()).name);
  const stem = `${stemOf(forkOf(own.name), user)}-${user}`;
  const fork = await nameFork(workspace, own, { stem, taken });
  for (const worktree of (await store.worktrees?.list()) ?? [])
    if (worktree.branch === own.name) await store.useBranch(fork, worktree);
  return fork;
}

/** The first name of `<stem>-1`, `<stem>-2` … that is free here and on the remote, or has this very commit already. */
async function nameFork(
  { store }: Workspace,
  { name, commit }: BranchTip,
  { stem, taken }: { readonly stem: string; readonly taken: ReadonlySet<string> },
): Promise<string> {
  for (let count = 1; ; count++) {
    const fork = branchName(conversationOf(name), `${stem}-${count}`);
    if (fork === name) continue;
    const there = await store.readBranch(fork);
    if (there === commit) return fork;
    if (there !== null || taken.has(fork)) continue;
    if (await store.createBranch(fork, commit)) return fork;
    // Another pull was faster, with the same commit perhaps.
    if ((await store.readBranch(fork)) === commit) return fork;
  }
}

/** The fork that one of the user's own was made from: `main` of `main-ada-2`. */
function stemOf(fork: string, user: string): string {
  const stem = fork.replace(/-\d+$/, "");
  return stem !== fork && stem.endsWith(`-${user}`) ? stem.slice(0, -user.length - 1) : fork;
}

// Puts two sides of a branch together where only one of them has turns of its own: one commit with both as parents, a function
// of nothing but the two, so that whoever merges them makes the same commit. Histories that share no commit (a session that
// two versions of jpg imported) are not tied together: ours is told again on top of theirs.

/** Two tips of a branch, and the commits at which they parted; none of unrelated histories. */
interface MergeTips {
  readonly ours: string;
  readonly theirs: string;
  readonly bases: readonly string[];
}

/** What puts the sides together: commits on top of a parent, none where theirs has everything; `both` = turns forbid it. */
type Merge =
  | { readonly turns: "both" }
  | {
      readonly turns: Exclude<TurnsOf, "both">;
      readonly parent: string;
      readonly commits: readonly CommitSpec[];
    };

/** Plans the merge of two sides, of which neither is an ancestor of the other. */
export async function planMerge(store: ConversationStore, tips: MergeTips): Promise<Merge> {
  const bases = await Promise.all(tips.bases.map((commit) => loadFiles(store, commit)));
  const [ours, theirs] = [await loadSide(store, tips.ours, tips.bases), await loadSide(store, tips.theirs, tips.bases)];
  const hasGrown = await growthBetween(store, ours.turnOids, theirs.turnOids);
  const turns = compareTurns(ours.turnOids, theirs.turnOids, { bases, hasGrown });
  if (turns === "both") return { turns };
  const order = orderSides(ours, theirs, turns);
  const merged = mergeFiles(order, bases);
  const missing = [...ours.touched].filter(
    (path) => !theirs.touched.has(path) && !bases.some(({ files }) => files.has(path)),
  );
  if (missing.length === 0 && filesBetween(theirs.files, merged).length === 0)
    return { turns, parent: tips.theirs, commits: [] };
  if (tips.bases.length === 0)
    return { turns, parent: tips.theirs, commits: await replay(store, { ours, theirs, merged }) };
  return { turns, parent: order[0].commit, commits: [await mergeCommit(store, order, merged)] };
}

async function mergeCommit(
  store: ConversationStore,
  [first, second]: readonly [MergeSide, MergeSide],
  merged: ReadonlyMap<string, string>,
): Promise<CommitSpec> {
  const times = await store.readCommitTimes([first.commit, second.commit]);
  const signature: Signature = { ...FALLBACK_IDENTITY, seconds: Math.max(...times) };
  const message = `merge ${second.commit.slice(0, 9)} into ${first.commit.slice(0, 9)}\n\nBoth sides' compactions, settings and marks; the turns of one.\n`;
  return {
    message,
    author: signature,
    committer: signature,
    changes: filesBetween(first.files, merged),
    merges: [second.commit],
  };
}

async function loadSide(store: ConversationStore, commit: string, bases: readonly string[]): Promise<MergeSide> {
  const shared = new Set<string>();
  for (const base of bases)
    for (const entry of await readRecordLog(store, base, RECORD_FOLDERS)) shared.add(entry.commit);
  const own = (await readRecordLog(store, commit, RECORD_FOLDERS)).filter((entry) => !shared.has(entry.commit));
  const touched = new Set(own.flatMap(({ added, removed }) => [...added, ...removed]));
  return { commit, touched, ...(await loadFiles(store, commit)) };
}

async function loadFiles(store: ConversationStore, commit: string): Promise<CommitFiles> {
  const files = new Map((await store.listTree(commit)).map(({ path, oid }) => [path, oid]));
  return { files, turnOids: (await listTurnOids(store, commit)).map((oid) => oid ?? "") };
}

/** Reads the turns at which two sides differ first, where one may be the beginning of the other. */
async function growthBetween(
  store: ConversationStore,
  ours: readonly string[],
  theirs: readonly string[],
): Promise<(from: string, to: string) => boolean> {
  const common = sharedTurns(ours, theirs);
  const [our, their] = [ours[common], theirs[common]];
  if (our === undefined || their === undefined) return () => false;
  const [ourBytes, theirBytes] = (await collectBlobs(store, [our, their])).map((bytes) => Buffer.from(bytes));
  const bytesOf = (oid: string): Buffer => (oid === our ? ourBytes : theirBytes) ?? Buffer.alloc(0);
  return (from, to) => bytesOf(to).subarray(0, bytesOf(from).length).equals(bytesOf(from));
}

// A side of a branch told again on top of another history of the same turns: what it brought and took back, commit by commit, by
// the same authors at the same times. A record that it took back again is told, too, for it can be brought back from history.

/** Two sides without a common history, and the files that both come to. */
interface ReplaySides {
  readonly ours: MergeSide;
  readonly theirs: MergeSide;
  readonly merged: ReadonlyMap<string, string>;
}

type Changes = ReturnType<typeof filesBetween>;

/** Our commits as new ones on top of theirs: turns that only we have, first; then records. */
async function replay(store: ConversationStore, { ours, theirs, merged }: ReplaySides): Promise<readonly CommitSpec[]> {
  const commits: CommitSpec[] = [];
  const current = new Map(theirs.files);
  const add = (
    changes: Changes,
    { message, author, committer }: Pick<LogEntry, "message" | "author" | "committer">,
  ) => {
    if (changes.length === 0) return;
    commits.push({ message, author, committer, changes });
    for (const change of changes) {
      if ("oid" in change) current.set(change.path, change.oid);
      else current.delete(change.path);
    }
  };
  const nobody = { ...FALLBACK_IDENTITY, seconds: 0 };
  const [signed = { author: nobody, committer: nobody }] = await store.readLog({ from: ours.commit, limit: 1 });
  const rest = (): Changes => filesBetween(current, merged);
  const from = sharedTurns(ours.turnOids, theirs.turnOids);
  add(
    rest().filter(({ path }) => !isRecord(path)),
    { ...signed, message: `turns ${from}..${ours.turnOids.length - 1}, from another history of the same turns\n` },
  );
  const isOurs = (path: string): boolean => !theirs.files.has(path) && !theirs.touched.has(path);
  for (const entry of [...(await readRecordLog(store, ours.commit, RECORD_FOLDERS))].reverse()) {
    const named = new Set([...entry.added, ...entry.removed]);
    const met = rest().filter(({ path }) => named.has(path) && !isOurs(path));
    add([...(await changesOf(store, entry, { isOurs, current })), ...met], entry);
  }
  add(rest(), { ...signed, message: "records of another history of the same turns\n" });
  return commits;
}

function isRecord(path: string): boolean {
  return RECORD_FOLDERS.some((folder) => path.startsWith(`${folder}/`));
}

/** What a commit did to records that only our side ever had. */
async function changesOf(
  store: ConversationStore,
  { commit, added, removed }: LogEntry,
  { isOurs, current }: { readonly isOurs: (path: string) => boolean; readonly current: ReadonlyMap<string, string> },
): Promise<Changes> {
  const brought = added.filter((path) => isOurs(path) && !current.has(path));
  const gone = removed.filter((path) => isOurs(path) && current.has(path));
  const oids = brought.length === 0 ? [] : [...(await store.readEntries(commit, brought))];
  return [...gone.map((path) => ({ path, remove: true }) as const), ...oids.map(([path, oid]) => ({ path, oid }))];
}
