// Puts two sides of a branch together where only one of them has turns of its own: one commit with both as parents, a function
// of nothing but the two, so that whoever merges them makes the same commit. Histories that share no commit (a session that
// two versions of jpg imported) are not tied together: ours is told again on top of theirs.
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
import { type CommitSpec, type ConversationStore, FALLBACK_IDENTITY, type Signature } from "../../store/store.ts";
import { collectBlobs } from "../branch/branch-tree.ts";
import { readRecordLog } from "../branch/record-log.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import { tellAgain } from "./tell-again.ts";

/** Two tips of a branch, and the commits at which they parted; none of unrelated histories. */
export interface MeetingTips {
  readonly ours: string;
  readonly theirs: string;
  readonly bases: readonly string[];
}

/** What puts the sides together: commits on top of a parent, none where theirs has everything; `both` = turns forbid it. */
export type Merge =
  | { readonly turns: "both" }
  | {
      readonly turns: Exclude<TurnsOf, "both">;
      readonly parent: string;
      readonly commits: readonly CommitSpec[];
    };

/** Plans the merge of two sides, of which neither is an ancestor of the other. */
export async function planMerge(store: ConversationStore, tips: MeetingTips): Promise<Merge> {
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
    return { turns, parent: tips.theirs, commits: await tellAgain(store, { ours, theirs, merged }) };
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
