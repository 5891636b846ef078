// Takes in what stands on a branch elsewhere: goes on with it where one's own is behind, merges records, or makes way where
// both have turns.
import { JpgError, messageOf } from "../../core/errors.ts";
import type { BranchTip, BranchWrite, WriteResult } from "../../store/store.ts";
import { loadBranchTree } from "../branch/branch-tree.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import { isBeingTalked } from "../journal/journal-files.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";
import { makeWay } from "./make-way.ts";
import { planMerge } from "./merge-sides.ts";
import { whyAnother } from "./same-conversation.ts";

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
export interface RemoteSide {
  readonly remote: string;
  readonly there: ReadonlySet<string>;
  /** Told of each branch that goes on: the commit that it went on from. */
  readonly wentOn: Map<string, string>;
}

/** What is known of a branch here and there: where it stands here, and what both have in common. */
export interface ComparedBranch extends BehindBranch {
  readonly bases: readonly string[];
}

/** What a branch of a remote would stand beside. */
export interface BesideBranch {
  readonly remote: string;
  /** A branch here whose name is of the same conversation, where that has to be told; else null. */
  readonly family: BranchTip | null;
}

/** History tells that it is the same conversation. */
const NO_FAMILY: BesideBranch = { remote: "", family: null };

/** Takes in what a branch is there; null when all of that is here. `compared` counts while the branch has not moved. */
export async function takeBranch(
  workspace: Workspace,
  theirs: BranchTip,
  { remote, there, wentOn }: RemoteSide,
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
    const pulled = await meet(workspace, { own: { ...theirs, commit: own }, theirs, bases, there, wentOn });
    if (pulled !== null) return pulled;
  }
  return kept(theirs, "others moved it at the same time");
}

async function whyKept(workspace: Workspace, theirs: BranchTip, beside: BesideBranch): Promise<string | null> {
  return (await whyNotTaken(workspace, theirs, beside)) ?? (await whyOpen(workspace, theirs.name));
}

/** A branch that is behind one elsewhere: all that it has is there. */
export interface BehindBranch {
  /** Where it stands here. */
  readonly commit: string;
  readonly theirs: BranchTip;
}

/**
 * Lets branches go on with what stands elsewhere, all in one write; `wentOn` as in `RemoteSide`. Gives what became of them, and
 * those that have to be looked at one by one: somebody moved them, or something is in the way of one.
 */
export async function goForward(
  workspace: Workspace,
  behind: readonly BehindBranch[],
  wentOn: RemoteSide["wentOn"],
): Promise<{ readonly pulled: readonly PulledBranch[]; readonly left: readonly BranchTip[] }> {
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
  const moved = writes.length === 0 ? [] : await workspace.store.write(writes).catch(unlessInTheWay);
  const left: BranchTip[] = [];
  for (const [at, { commit, theirs }] of taken.entries()) {
    if (moved[at]?.moved !== true) {
      left.push(theirs);
      continue;
    }
    wentOn.set(theirs.name, commit);
    pulled.push({ branch: theirs.name, status: "updated", turns: await moreTurns(workspace, commit, theirs.commit) });
  }
  return { pulled, left };
}

function unlessInTheWay(error: unknown): readonly WriteResult[] {
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
interface Meeting extends Pick<RemoteSide, "there" | "wentOn"> {
  readonly own: BranchTip;
  readonly theirs: BranchTip;
  readonly bases: readonly string[];
}

/** What one branch cannot do (files of a worktree in the way) keeps no other from being taken in. */
function meet(workspace: Workspace, meeting: Meeting): Promise<PulledBranch | null> {
  return joinSides(workspace, meeting).catch((error: unknown) => {
    if (error instanceof JpgError && error.kind !== "internal") return kept(meeting.theirs, error.message);
    throw error;
  });
}

/** Null when the branch moved meanwhile. */
async function joinSides(
  workspace: Workspace,
  { own, theirs, bases, there, wentOn }: Meeting,
): Promise<PulledBranch | null> {
  const { store } = workspace;
  const { name: branch, commit: expected } = own;
  const write = async (change: Pick<BranchWrite, "parent" | "commits">): Promise<boolean> => {
    const [written] = await store.write([{ branch, expected, ...change }]);
    if (written?.moved === true) wentOn.set(branch, expected);
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
  const fork = await makeWay(workspace, own, there);
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
  { remote, family }: BesideBranch,
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
  const open = await isBeingTalked(store.journal(), branch, runtime.now());
  return open ? "a turn of it is still in progress; pull again when it has ended" : null;
}
