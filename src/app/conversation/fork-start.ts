// Finds the commit at which a branch with the first turns of another begins: one whose own tree holds exactly these turns. If
// history was squashed and none does, later turns are removed.
import { type ForkPlan, planFork } from "../../core/compact/fork.ts";
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { commentOf, turnOfPin } from "../../core/conversation/marks.ts";
import { turnIndexOfPath, turnIndexOfSource, turnPath } from "../../core/conversation/turn-file.ts";
import { repositoryError } from "../../core/errors.ts";
import type { ConversationStore, FileChange, TreeFile } from "../../store/store.ts";
import { clampedRecords, compactionIdOfPath } from "./append.ts";
import { commentsToCarry, readDeltas } from "./marks.ts";
import { type BranchTree, collectBlobs, listTurnOids, loadBranchTree, readMetaRecords } from "./tree.ts";
import type { MetaRecord } from "./turns.ts";
import { loadCompactions } from "./view.ts";

export interface ForkStart {
  readonly commit: string;
  /** Number of turns the branch begins with. */
  readonly turnCount: number;
  /** Changes to that commit's tree. */
  readonly changes: readonly FileChange[];
  /** Whether `changes` remove later turns, since no commit holds the first ones alone. */
  readonly isCut: boolean;
}

/** The branch whose first turns are taken. */
type ForkSource = Pick<BranchTree, "branch" | "commit" | "turnOids">;

/**
 * Finds the start of a fork that holds the first turns of a branch, with the effect of the tip's compactions on them. It is the tip
 * itself if that has no more turns. Throws `shallow_history`.
 */
export async function startOfFork(store: ConversationStore, tip: BranchTree, turnCount: number): Promise<ForkStart> {
  const isWhole = turnCount < 1 || turnCount >= tip.turnOids.length;
  if (isWhole && tip.atTurn === undefined)
    return { commit: tip.commit, turnCount: tip.turnOids.length, changes: [], isCut: false };
  const count = isWhole ? tip.turnOids.length : turnCount;
  return withCompactionsOf(store, await startOfTurns(store, tip, count), {
    tip,
    plan: await planFirstTurns(store, tip, count),
  });
}

/** A start, and the records of its tree after its changes. */
export interface BranchAtTurn extends ForkStart {
  readonly compactions: readonly TreeFile[];
  readonly metas: readonly TreeFile[];
}

/**
 * Finds the commit whose tree holds exactly the first turns of a branch; else the one with the fewest more, and changes that remove
 * these with all that belongs to them. Throws `shallow_history` where a shallow clone lacks the commit.
 */
export async function startOfTurns(
  store: ConversationStore,
  source: ForkSource,
  turnCount: number,
): Promise<BranchAtTurn> {
  const wanted = source.turnOids.slice(0, turnCount);
  const path = turnCount === 0 ? "conversation.json" : turnPath(turnCount - 1);
  const commits = (await store.readLog({ from: source.commit, paths: [path] })).map(({ commit }) => commit);
  let nearest = { commit: source.commit, count: Number.POSITIVE_INFINITY };
  for (const commit of commits) {
    const oids = await listTurnOids(store, commit);
    if (oids.length >= nearest.count || wanted.some((oid, turn) => oids[turn] !== oid)) continue;
    nearest = { commit, count: oids.length };
    if (oids.length === turnCount) break;
  }
  const tree = await loadBranchTree(store, source.branch, nearest.commit);
  const { commit, compactions, metas } = tree;
  if (nearest.count === turnCount) return { commit, turnCount, changes: [], isCut: false, compactions, metas };
  const shallow = await store.cutOffCommits();
  if (commits.some((candidate) => shallow.has(candidate)))
    throw shallowHistory(`The commit that ends with turn ${turnCount - 1} of ${source.branch}`);
  const changes = await removeLaterTurns(store, tree, turnCount);
  const removed = new Set(changes.map((change) => change.path));
  return {
    commit,
    turnCount,
    changes,
    isCut: true,
    compactions: compactions.filter((file) => !removed.has(file.path)),
    metas: metas.filter((file) => !removed.has(file.path)),
  };
}

type KeptCompactions = Pick<ForkPlan, "compactions" | "clamped">;

/**
 * Adds to a start exactly those live compactions of the tip that the plan names, whole or clamped, and the comments on its turns.
 */
export async function withCompactionsOf(
  store: ConversationStore,
  start: BranchAtTurn,
  { tip, plan }: { readonly tip: BranchTree; readonly plan: KeptCompactions },
): Promise<ForkStart> {
  const { compactions: there, metas: _, ...rest } = start;
  const wanted = tip.compactions.filter((file) => plan.compactions.includes(compactionIdOfPath(file.path) ?? ""));
  const [has, keep] = [there, wanted].map((files) => new Set(files.map((file) => file.path)));
  return {
    ...rest,
    changes: [
      ...start.changes,
      ...(await commentsToCarry({ store }, tip, start)),
      ...there.filter((file) => keep?.has(file.path) === false).map(removal),
      ...wanted.filter((file) => has?.has(file.path) === false).map(({ path, oid }): FileChange => ({ path, oid })),
      ...(await clampedRecords(store, tip.turnOids.slice(0, start.turnCount), plan.clamped)),
    ],
  };
}

export async function planFirstTurns(store: ConversationStore, tip: BranchTree, turnCount: number): Promise<ForkPlan> {
  const { applied } = await loadCompactions(store, tip);
  const facts = { turnCount: tip.turnOids.length, turnTimes: [], compactions: applied, turns: new Map(), now: "" };
  return planFork({ first: turnCount }, facts);
}

/** Removes what came with later turns: their files, source pieces, records about them, and attachments. */
async function removeLaterTurns(
  store: ConversationStore,
  tree: BranchTree,
  turnCount: number,
): Promise<readonly FileChange[]> {
  const files = await store.listTree(tree.commit, { under: ["turns", "sources"] });
  const isLater = ({ path }: TreeFile): boolean => (turnOfFile(path) ?? turnCount) >= turnCount;
  const { all } = await loadCompactions(store, tree);
  const past = new Set(all.filter(({ to_turn }) => to_turn >= turnCount).map(({ id }) => id));
  const records = tree.compactions.filter((file) => past.has(compactionIdOfPath(file.path) ?? ""));
  const others = await recordsOfLaterTurns(store, tree, turnCount);
  const stay = [
    ...files.filter((file) => !isLater(file)),
    ...tree.compactions.filter((file) => !records.includes(file)),
    ...tree.configs.filter((file) => !others.includes(file.path)),
  ];
  return [
    ...[...files.filter(isLater), ...records].map(removal),
    ...others.map((path) => removal({ path })),
    ...(await unusedAttachments(store, tree.commit, stay)).map(removal),
  ];
}

/** Lists the paths of settings, pins and comments of later turns. */
async function recordsOfLaterTurns(
  store: ConversationStore,
  tree: BranchTree,
  turnCount: number,
): Promise<readonly string[]> {
  const deltas = (await readDeltas({ store }, tree)).filter(({ at_turn }) => at_turn >= turnCount);
  const { records } = await readMetaRecords(store, tree);
  const marks = records.filter(({ record }) => (turnOfMark(record as unknown as MetaRecord) ?? -1) >= turnCount);
  return [...deltas.map(({ file }) => file), ...marks.map(({ path }) => path)];
}

function turnOfMark(record: MetaRecord): number | null {
  return turnOfPin(record) ?? commentOf(record)?.turn ?? null;
}

/** Returns the turn that a file belongs to; null for other files: those next to a session came with its newest turn. */
function turnOfFile(path: string): number | null {
  return turnIndexOfPath(path) ?? turnIndexOfSource(path);
}

/** Lists the attachments that none of the files names. */
async function unusedAttachments(
  store: ConversationStore,
  commit: string,
  files: readonly TreeFile[],
): Promise<readonly TreeFile[]> {
  const attachments = await store.listTree(commit, { under: ["attachments"] });
  const unused = new Map(attachments.map((file) => [file.path, file]));
  if (unused.size === 0) return [];
  for (const bytes of await collectBlobs(
    store,
    files.map((file) => file.oid),
  )) {
    for (const [name] of new TextDecoder().decode(bytes).matchAll(/\b[0-9a-f]{64}(\.[a-z0-9]{1,16})?/g))
      unused.delete(attachmentPath(name));
  }
  return [...unused.values()];
}

function removal({ path }: Pick<TreeFile, "path">): FileChange {
  return { path, remove: true };
}

/** Refuses a commit whose parents a shallow clone lacks. Throws `shallow_history`. */
export async function requireWholeHistory(store: ConversationStore, commit: string): Promise<void> {
  const isCutOff = (await store.cutOffCommits()).has(commit);
  if (isCutOff) throw shallowHistory(`The commit before ${commit.slice(0, 9)}`);
}

function shallowHistory(what: string): Error {
  return repositoryError("shallow_history", `${what} is not here: this is a shallow clone.`, {
    hints: ["`jpg git fetch --unshallow` fetches the whole history; then try again."],
  });
}
