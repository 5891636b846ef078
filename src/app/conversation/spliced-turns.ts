// Checks that the turns of a branch follow each other, and creates the error if they do not.
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import type { MissingTurn } from "./missing-turns.ts";
import { cacheAtTip, readTip } from "./tip-cache.ts";
import { type BranchTree, listTurnOids } from "./tree.ts";
import { readPrevious } from "./turns.ts";
import type { Workspace } from "./workspace.ts";

/** Refuses a branch whose turns do not follow each other. Throws `spliced_turns`, with hints on how to get each side back. */
export async function refuseSplice({ store }: Pick<Workspace, "store">, tree: Turns): Promise<void> {
  const error = await findSplice(store, tree);
  if (error !== null) throw error;
}

/** Warns, once per call, that the turns of a branch do not follow each other. */
export async function warnOfSplice({ store, warn }: Pick<Workspace, "store" | "warn">, tree: Turns): Promise<void> {
  const error = await findSplice(store, tree).catch((failure: unknown) => {
    // An object that cannot be read is reported by whatever needs it.
    if (failure instanceof JpgError && failure.kind === "repository") return null;
    throw failure;
  });
  if (error !== null) warn([error.message, ...error.hints].join("\n"));
}

/** Returns the error for a branch whose turns do not follow each other; null for any other. */
export async function findSplice(store: ConversationStore, tree: Turns): Promise<JpgError | null> {
  if (tree.missing?.[0] !== undefined) return missingError(tree.branch, tree.missing, tree.missing[0]);
  const broken = await findBrokenLinks(store, tree);
  if (broken.length === 0) return null;
  const sides = await findSides(store, tree);
  const branches = await store.listBranches();
  return repositoryError("spliced_turns", describe(tree.branch, broken), {
    hints: [
      ...sides.map((side, at) => sideHint(side, at + 1, { branch: tree.branch, branches })),
      ...(sides.length === 0 ? ["`jpg git log -- turns` shows the commits that wrote the turns."] : []),
    ],
    data: { branch: tree.branch, turns: broken },
  });
}

/** Creates the error for turns that stock git removed and that are still shown. */
function missingError(branch: string, missing: readonly MissingTurn[], first: MissingTurn): JpgError {
  const listed = missing.slice(0, LISTED).map(({ turn }) => turn);
  const turns = `${missing.length === 1 ? "Turn" : "Turns"} ${listed.join(", ")}${missing.length > LISTED ? " …" : ""}`;
  const was = missing.length === 1 ? "was" : "were";
  const removals = [...new Set(missing.flatMap(({ removedBy }) => (removedBy === null ? [] : [removedBy])))];
  const by = removals.length === 1 && removals[0] !== undefined ? ` by commit ${abbreviateCommit(removals[0])}` : "";
  const back =
    removals.length === 0
      ? `\`jpg git branch ${conversationOf(branch)}/before ${abbreviateCommit(first.commit, SHOWN_DIGITS)}\` makes a fork of what it was before.`
      : `\`jpg git revert ${removals.map((commit) => abbreviateCommit(commit)).join(" ")}\` brings ${missing.length === 1 ? "it" : "them"} back.`;
  const message = `${turns} of ${branch} ${was} removed${by}, but ${was === "was" ? "is" : "are"} still shown here.`;
  return repositoryError("turn_missing", message, {
    hints: [back],
    data: { branch, turns: missing.map(({ turn }) => turn) },
  });
}

const LISTED = 5;

function describe(branch: string, broken: readonly number[]): string {
  const listed = broken.slice(0, LISTED).join(", ") + (broken.length > LISTED ? " …" : "");
  const [first = 0] = broken;
  const which =
    broken.length > 1
      ? `Turns ${listed} of ${branch} do not continue the turns before them`
      : `Turn ${listed} of ${branch} ${first === 0 ? "continues another turn, although it is the first" : `does not continue turn ${first - 1}`}`;
  return `${which}: git joined turns of different histories.`;
}

function sideHint(
  { commit, turns }: Side,
  number: number,
  { branch, branches }: { readonly branch: string; readonly branches: readonly BranchTip[] },
): string {
  const holds = `turns 0..${turns - 1} of one side`;
  const own = branches.find((tip) => tip.commit === commit);
  if (own !== undefined) return `\`jpg use ${own.name}\`: ${holds}.`;
  let name = `${conversationOf(branch)}/side-${number}`;
  for (let more = number + 1; branches.some((tip) => tip.name === name); more++)
    name = `${conversationOf(branch)}/side-${number}-${more}`;
  return `\`jpg git branch ${name} ${commit.slice(0, SHOWN_DIGITS)}\` makes a fork with ${holds}.`;
}

const SHOWN_DIGITS = 12;

// Each `turn_start` names the turn file after which it was said (`prev`). A stock merge, cherry-pick or rebase can join turns that
// no model saw in a row. Results are cached with the tip: after a branch moved, only the first lines of changed turns are read.

type Turns = Pick<BranchTree, "branch" | "commit" | "turnOids" | "missing" | "atTurn">;

/** Lists the turns whose `prev` is not the turn before them, ascending; empty = all follow. */
export async function findBrokenLinks(store: ConversationStore, tree: Turns): Promise<readonly number[]> {
  if (tree.turnOids.length < 2) return [];
  if (tree.atTurn !== undefined) return checkLinks(store, tree.turnOids);
  const { broken: known } = readTip(store, tree.branch);
  if (known?.commit === tree.commit) return known.value;
  const broken = await checkAfter(store, tree.turnOids, known);
  // Missing turns of a partial clone are not fetched for this check, so its result is not cached.
  if ((store.partial?.missing(tree.turnOids).length ?? 0) === 0) await cacheAtTip(store, tree, "broken", broken);
  return broken;
}

/**
 * Checks all turns, or those at some positions, and returns the positions that do not follow. `previous` = `prev` by object id;
 * what is read is added to it.
 */
async function checkLinks(
  store: ConversationStore,
  oids: readonly string[],
  { positions = [...oids.keys()], previous = new Map() }: CheckedPositions = {},
): Promise<readonly number[]> {
  const absent = new Set(store.partial?.missing(oids));
  const unread = positions.flatMap((turn) => oids[turn] ?? []).filter((oid) => !previous.has(oid) && !absent.has(oid));
  for (const [at, name] of (await readPrevious(store, unread)).entries()) previous.set(unread[at] ?? "", name);
  return positions.filter((turn) => isBrokenLink(previous.get(oids[turn] ?? "") ?? null, oids[turn - 1]));
}

/** Returns whether a turn with `prev` was said after another turn than the one before it. A turn without `prev` may follow any. */
export function isBrokenLink(previous: string | null, before: string | undefined): boolean {
  return previous !== null && previous !== before;
}

interface CheckedPositions {
  readonly positions?: readonly number[];
  readonly previous?: Map<string, string | null>;
}

/** Checks the turns that differ from an already checked tree, and the turn after each. */
async function checkAfter(
  store: ConversationStore,
  oids: readonly string[],
  before: { readonly commit: string; readonly value: readonly number[] } | undefined,
): Promise<readonly number[]> {
  const old = before === undefined ? [] : await listCheckedTurns(store, before.commit);
  const isOpen = (turn: number): boolean => oids[turn] !== old[turn] || oids[turn - 1] !== old[turn - 1];
  const positions = [...oids.keys()].filter(isOpen);
  const still = (before?.value ?? []).filter((turn) => turn < oids.length && !isOpen(turn));
  return [...still, ...(await checkLinks(store, oids, { positions }))].sort((a, b) => a - b);
}

/** Empty when the commit is gone: then everything is checked again. */
async function listCheckedTurns(store: ConversationStore, commit: string): Promise<readonly (string | undefined)[]> {
  try {
    return await listTurnOids(store, commit);
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

/** A commit whose turns follow each other. */
interface Side {
  readonly commit: string;
  /** Number of turns, at least one. */
  readonly turns: number;
}

/** Commits of history that are searched. */
const MOST_COMMITS = 500;
/** Former tips that are searched if history alone does not have two sides. */
const MOST_TIPS = 50;

/**
 * Finds the newest ancestors whose turns follow each other, on every line of history. A rebase or an amended turn leaves only one;
 * then the newest such former tip is the other side.
 */
async function findSides(store: ConversationStore, tree: Turns): Promise<readonly Side[]> {
  const findSide = createFindSide(store);
  const { sides, seen } = await searchHistory(store, tree.commit, findSide);
  if (sides.length > 1) return sides;
  for (const tip of (await store.formerTips(tree.branch)).slice(0, MOST_TIPS)) {
    const side = seen.has(tip) || (await store.resolveCommit(tip)) === null ? null : await findSide(tip);
    if (side !== null) return [...sides, side];
  }
  return sides;
}

/** Returns a commit as a side; null when its turns do not follow each other. */
type FindSide = (commit: string) => Promise<Side | null>;

/** Reads each turn file once, since commits share turns. */
function createFindSide(store: ConversationStore): FindSide {
  const previous = new Map<string, string | null>();
  return async (commit) => {
    const oids = await listTurnOids(store, commit);
    const present = oids.filter((oid) => oid !== undefined);
    if (present.length === 0 || present.length < oids.length) return null;
    return (await checkLinks(store, present, { previous })).length === 0 ? { commit, turns: oids.length } : null;
  };
}

async function searchHistory(
  store: ConversationStore,
  tip: string,
  findSide: FindSide,
): Promise<{ readonly sides: readonly Side[]; readonly seen: ReadonlySet<string> }> {
  const log = await store.readLog({ from: tip, limit: MOST_COMMITS });
  const parents = new Map(log.map((entry) => [entry.commit, entry.parents]));
  const sides: Side[] = [];
  const seen = new Set([tip]);
  // Iterating over a set also visits what is added meanwhile.
  for (const commit of seen) {
    const side = commit === tip ? null : await findSide(commit);
    if (side !== null) sides.push(side);
    else for (const parent of parents.get(commit) ?? []) if (parents.has(parent)) seen.add(parent);
  }
  return { sides, seen };
}
