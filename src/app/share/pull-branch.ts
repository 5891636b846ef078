// Brings one branch of a remote into the store: fast-forwards ours, merges records, or keeps ours as a fork where both sides have
// turns.
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

export interface PulledBranch {
  readonly branch: string;
  /** `forked`: theirs has the name now, ours is on `fork`. `kept`: ours did not change, for `reason`. */
  readonly status: "new" | "updated" | "merged" | "forked" | "kept";
  /** Turns that were not here before; >= 0. */
  readonly turns: number;
  readonly fork?: string;
  readonly reason?: string;
}

/** How often a branch is tried again when others move it at the same time. */
const MAX_ATTEMPTS = 4;

/** A remote, and the branches that it has. */
interface RemoteSide {
  readonly remote: string;
  readonly there: ReadonlySet<string>;
  /** Collects the branches that moved: by name, the commit that each was on before. */
  readonly movedFrom: Map<string, string>;
}

/** A branch here and on a remote: its tip here, and the merge bases of the two. */
export interface ComparedBranch extends BehindBranch {
  readonly bases: readonly string[];
}

/** Input of the check whether a remote's branch is of the same conversation as one here. */
interface FamilyCheck {
  readonly remote: string;
  /** A branch here of the same conversation name, where the headers have to be compared; else null. */
  readonly family: BranchTip | null;
}

/** For a branch whose history shows that it is the same conversation. */
const NO_FAMILY: FamilyCheck = { remote: "", family: null };

/** Pulls one branch; null when all of it is here. `compared` is used only while the branch has not moved. */
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
  return (await whyNotTaken(workspace, theirs, check)) ?? (await whyInProgress(workspace, theirs.name));
}

/** A branch that is an ancestor of the one on a remote. */
interface BehindBranch {
  /** Its tip here. */
  readonly commit: string;
  readonly theirs: BranchTip;
}

/**
 * Fast-forwards branches in one write; `movedFrom` as in `RemoteSide`. `remaining` are those to try one by one: somebody moved
 * them, or something blocks one.
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

interface DifferingTips extends Pick<RemoteSide, "there" | "movedFrom"> {
  readonly own: BranchTip;
  readonly theirs: BranchTip;
  readonly bases: readonly string[];
}

/** Joins two sides. If files of a worktree block that, the branch is kept and the others are still pulled. */
function joinOrKeep(workspace: Workspace, tips: DifferingTips): Promise<PulledBranch | null> {
  return joinSides(workspace, tips).catch((error: unknown) => {
    if (error instanceof JpgError && error.kind !== "internal") return kept(tips.theirs, error.message);
    throw error;
  });
}

/** Joins two sides; null when the branch moved meanwhile. */
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

/** Why a branch of a remote is not pulled; null when it is a conversation that this jpg reads. */
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

/** Why a branch has to wait: a turn in progress is committed on it first. */
async function whyInProgress({ store, runtime }: Workspace, branch: string): Promise<string | null> {
  const open = await isTurnOpen(store.journal(), branch, runtime.now());
  return open ? "a turn of it is still in progress; pull again when it has ended" : null;
}

/** Names our side of a branch as a fork and returns its name. Continues an earlier try that was interrupted. */
async function renameOurs(workspace: Workspace, own: BranchTip, taken: ReadonlySet<string>): Promise<string> {
  const { store } = workspace;
  const user = slugOf((await store.identity()).name);
  const stem = `${stemOf(forkOf(own.name), user)}-${user}`;
  const fork = await nameFork(workspace, own, { stem, taken });
  for (const worktree of (await store.worktrees?.list()) ?? [])
    if (worktree.branch === own.name) await store.useBranch(fork, worktree);
  return fork;
}

/** The first of `<stem>-1`, `<stem>-2` … that is free here and on the remote, or is on this very commit already. */
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
    // Another pull was faster, perhaps with the same commit.
    if ((await store.readBranch(fork)) === commit) return fork;
  }
}

/** The name that a fork of the user's own was made from: `main` of `main-ada-2`. */
function stemOf(fork: string, user: string): string {
  const stem = fork.replace(/-\d+$/, "");
  return stem !== fork && stem.endsWith(`-${user}`) ? stem.slice(0, -user.length - 1) : fork;
}

// Merges two sides of a branch of which only one has turns of its own: one commit with both as parents, made from the two alone, so
// that everybody who merges them makes the same commit. Histories without a common commit (a session that two versions of jpg
// imported) are not joined: ours is replayed on top of theirs.

/** Two tips of a branch and their merge bases; none of unrelated histories. */
interface MergeTips {
  readonly ours: string;
  readonly theirs: string;
  readonly bases: readonly string[];
}

/** A planned merge: commits on top of a parent, none where theirs has everything; `both` = both sides have turns. */
type Merge =
  | { readonly turns: "both" }
  | {
      readonly turns: Exclude<TurnsOf, "both">;
      readonly parent: string;
      readonly commits: readonly CommitSpec[];
    };

/** Plans the merge of two sides, neither of which is an ancestor of the other. */
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

/** Reads the first turns that differ, and returns whether one is the beginning of the other. */
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

// Replays our side on top of another history of the same turns: what it added and removed, commit by commit, with authors and
// times. Records that it removed again are replayed, too, because they can be brought back from history.

/** Two sides without a common history, and the files of the result. */
interface ReplaySides {
  readonly ours: MergeSide;
  readonly theirs: MergeSide;
  readonly merged: ReadonlyMap<string, string>;
}

type Changes = ReturnType<typeof filesBetween>;

/** Our commits as new ones on top of theirs: first the turns that only we have, then records. */
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
