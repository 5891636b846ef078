// Whether the turns of a branch follow each other, and what is said where they do not.
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import type { MissingTurn } from "./missing-turns.ts";
import { cacheAtTip, readTip } from "./tip-cache.ts";
import { type BranchTree, listTurnOids } from "./tree.ts";
import { readPrevious } from "./turns.ts";
import type { Workspace } from "./workspace.ts";

/** Refuses a branch whose turns do not follow each other. Throws `spliced_turns`, with what gives each side back. */
export async function refuseSplice({ store }: Pick<Workspace, "store">, tree: Turns): Promise<void> {
  const error = await findSplice(store, tree);
  if (error !== null) throw error;
}

/** Says once a call that the turns of a branch do not follow each other. */
export async function warnOfSplice({ store, warn }: Pick<Workspace, "store" | "warn">, tree: Turns): Promise<void> {
  const error = await findSplice(store, tree).catch((failure: unknown) => {
    // What cannot be read is named where it is read.
    if (failure instanceof JpgError && failure.kind === "repository") return null;
    throw failure;
  });
  if (error !== null) warn([error.message, ...error.hints].join("\n"));
}

/** The error that a branch is refused with; null when its turns follow each other. */
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

/** Of turns that stock git took out, and that are shown as they were. */
function missingError(branch: string, missing: readonly MissingTurn[], first: MissingTurn): JpgError {
  const listed = missing.slice(0, LISTED).map(({ turn }) => turn);
  const turns = `${missing.length === 1 ? "Turn" : "Turns"} ${listed.join(", ")}${missing.length > LISTED ? " …" : ""}`;
  const was = missing.length === 1 ? "was" : "were";
  const removals = [...new Set(missing.flatMap(({ removedBy }) => (removedBy === null ? [] : [removedBy])))];
  const by = removals.length === 1 && removals[0] !== undefined ? ` by commit ${abbreviateCommit(removals[0])}` : "";
  const back =
    removals.length === 0
      ? `\`jpg git branch ${conversationOf(branch)}/before ${abbreviateCommit(first.commit, SHOWN_DIGITS)}\` makes a fork of what it was before.`
      : `\`jpg git revert ${removals.map((commit) => abbreviateCommit(commit)).join(" ")}\` gives ${missing.length === 1 ? "it" : "them"} back.`;
  const message = `${turns} of ${branch} ${was} taken out${by}, and ${was === "was" ? "is" : "are"} shown here as before.`;
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
      : `Turn ${listed} of ${branch} does not continue ${first === 0 ? "nothing, but another turn" : `turn ${first - 1}`}`;
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

// Whether the turns of a branch follow each other. Each `turn_start` names the turn file that it was said after (`prev`); a
// stock merge, cherry-pick or rebase can put turns together that no model ever saw in a row. What was found is kept with the tip:
// of a branch that moved only the turns that changed are read, and only their first lines.

/** The turns of a branch at a commit. */
type Turns = Pick<BranchTree, "branch" | "commit" | "turnOids" | "missing" | "atTurn">;

/** Positions of the turns that were said after another turn than the one before them here, ascending; none = all follow. */
export async function findBrokenLinks(store: ConversationStore, tree: Turns): Promise<readonly number[]> {
  if (tree.turnOids.length < 2) return [];
  if (tree.atTurn !== undefined) return checkLinks(store, tree.turnOids);
  const { broken: known } = readTip(store, tree.branch);
  if (known?.commit === tree.commit) return known.value;
  const broken = await checkAfter(store, tree.turnOids, known);
  // Turns of a partial clone that are not here are not fetched for this.
  if ((store.partial?.missing(tree.turnOids).length ?? 0) === 0) await cacheAtTip(store, tree, "broken", broken);
  return broken;
}

/**
 * Checks turns, all or those at some positions, and gives the positions that do not follow. `previous` = what turn files
 * name, by object id; what is read is added to it.
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

/** Whether a turn that names `previous` was said after another turn than the one before it. One that names none may follow any. */
export function isBrokenLink(previous: string | null, before: string | undefined): boolean {
  return previous !== null && previous !== before;
}

interface CheckedPositions {
  readonly positions?: readonly number[];
  readonly previous?: Map<string, string | null>;
}

/** Checks the turns that differ from those of a tree that was checked before, and those after them. */
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

/** None when the commit is gone: then everything is checked again. */
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
  /** How many turns it has, at least one. */
  readonly turns: number;
}

/** Commits looked at in history. */
const MOST_COMMITS = 500;
/** Former tips looked at where history alone does not have two sides. */
const MOST_TIPS = 50;

/**
 * The newest commits behind the tip whose turns follow each other, on every line of history that leads to it. A rebase or an
 * amended turn leaves one: what was there before is the last such commit that the branch stood at.
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

/** Gives a commit as a side, or null when its turns do not follow each other. */
type FindSide = (commit: string) => Promise<Side | null>;

/** Commits share turns: each turn file is read once. */
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
  // A set also gives what is added to it while it is gone through.
  for (const commit of seen) {
    const side = commit === tip ? null : await findSide(commit);
    if (side !== null) sides.push(side);
    else for (const parent of parents.get(commit) ?? []) if (parents.has(parent)) seen.add(parent);
  }
  return { sides, seen };
}
