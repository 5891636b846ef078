// Gets what a remote has and takes it in: new branches appear, branches go on where they can, records of both sides merge, and
// where both sides have turns, theirs keeps the name and one's own becomes a fork. Nothing is lost on the way, and a pull that
// is interrupted is gone on with by the next.

import { conversationOf, differingByCase } from "../../core/conversation/name.ts";
import { appendAll } from "../../core/lists.ts";
import type { Remote, TransferOptions } from "../../store/sharing.ts";
import type { BranchTip, BranchWrite } from "../../store/store.ts";
import { bringBranches } from "../branch/branch-tree.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import { makeActive, readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";
import { fetchedPlace, goneFrom, type RemotePlace } from "./fetch.ts";
import { requireSharing } from "./remotes.ts";
import { type ComparedBranch, goForward, type PulledBranch, takeBranch, whyNotTaken } from "./take-branch.ts";

/** What a pull did. */
export interface PullReport extends RemotePlace {
  /** Branches of which something became; the others were the same on both sides. */
  readonly branches: readonly PulledBranch[];
  /** Branches that were removed here and are left out. */
  readonly removed: readonly string[];
  /** Branches that are here, that the remote had when it was last looked at and has no more. */
  readonly gone: readonly string[];
  /** Branches that the remote has. */
  readonly total: number;
  /** The branch that is active; null when there is none. */
  readonly active: string | null;
}

/** Pulls from a remote. Throws `remote_*`, `store_programs`, as `fetch` of `Sharing` does; nothing of one's own changed then. */
export async function pullConversations(
  workspace: Workspace,
  remote: Remote,
  options: TransferOptions,
): Promise<PullReport> {
  const sharing = requireSharing(workspace);
  // One's own are listed meanwhile: each that differs is read again before it is moved. So are theirs, as they were before: most
  // pulls bring nothing.
  const [own, before, { isMoved, there }] = await Promise.all([
    workspace.store.listBranches(),
    sharing.tracked(remote.name),
    sharing.fetch(remote, options),
  ]);
  const all = isMoved ? await sharing.tracked(remote.name) : before;
  const tracked = all.filter(({ name }) => there.has(name));
  const mine = new Map(own.map(({ name, commit }) => [name, commit]));
  const gone = goneFrom(all, there).filter((name) => mine.has(name));
  const wentOn = new Map<string, string>();
  const taken = await takeIn(workspace, {
    remote,
    own: mine,
    tracked,
    wentOn,
  });
  const active = await activeAfter(workspace, taken.branches);
  const fork = (branch: PulledBranch): readonly string[] => (branch.fork === undefined ? [] : [branch.fork]);
  const moved = taken.branches.filter(({ status }) => status !== "kept").flatMap((one) => [one.branch, ...fork(one)]);
  if (moved.length > 0) await refreshViews(workspace, new Set(moved), wentOn);
  return { ...fetchedPlace(remote), total: tracked.length, active, gone, ...taken };
}

type TakenIn = Pick<PullReport, "branches" | "removed">;

async function takeIn(
  workspace: Workspace,
  {
    remote,
    own,
    tracked,
    wentOn,
  }: {
    readonly remote: Remote;
    readonly own: ReadonlyMap<string, string>;
    readonly tracked: readonly BranchTip[];
    readonly wentOn: Map<string, string>;
  },
): Promise<TakenIn> {
  const { store } = workspace;
  const others = tracked.filter(({ name, commit }) => own.get(name) !== commit);
  if (others.length === 0) return { branches: [], removed: [] };
  // Git may have kept the objects of a fetch that it refused for these, and takes them the next time.
  const tips = others.map(({ commit }) => commit);
  const refused = new Set(await requireSharing(workspace).touching({ tips, known: [...own.values()] }, SUBMODULES));
  const differing = others.filter(({ commit }) => !refused.has(commit));
  const reason = `a commit of it has a ${SUBMODULES}, and no conversation has submodules`;
  const left = others.filter(({ commit }) => refused.has(commit));
  const isKnown = differing.every(({ name }) => own.has(name));
  const trashed = new Set((isKnown ? [] : ((await store.trash?.list()) ?? [])).map(({ branch }) => branch));
  const there = new Set(tracked.map(({ name }) => name));
  const isRemoved = ({ name }: BranchTip): boolean => !own.has(name) && trashed.has(name);
  const fresh = differing.filter((tip) => !own.has(tip.name) && !isRemoved(tip));
  const branches: PulledBranch[] = [
    ...left.map(({ name }) => ({ branch: name, status: "kept", turns: 0, reason }) as const),
    ...(await begin(workspace, fresh, { remote, own })),
  ];
  const met = await compare(workspace, own, differing);
  const forward = await goForward(workspace, met.behind, wentOn);
  appendAll(branches, forward.pulled);
  const side = { remote: remote.name, there, wentOn };
  const compared = new Map([...met.behind, ...met.others].map((one) => [one.theirs.name, one]));
  for (const tip of [...forward.left, ...met.others.map(({ theirs }) => theirs)]) {
    const taken = await takeBranch(workspace, tip, side, compared.get(tip.name));
    if (taken !== null) branches.push(taken);
  }
  return { branches, removed: differing.filter(isRemoved).map(({ name }) => name) };
}

const SUBMODULES = ".gitmodules";

/** Tells those that are behind from those that are to be looked at one by one; what is all here already is left out. */
async function compare(
  workspace: Workspace,
  own: ReadonlyMap<string, string>,
  tips: readonly BranchTip[],
): Promise<{ readonly behind: readonly ComparedBranch[]; readonly others: readonly ComparedBranch[] }> {
  const known = tips.flatMap((theirs) => {
    const commit = own.get(theirs.name);
    return commit === undefined ? [] : [{ commit, theirs }];
  });
  const bases = await branchBases(
    workspace,
    known.map(({ commit, theirs }) => ({ one: commit, other: theirs.commit })),
  );
  const compared = known.map((one, at): ComparedBranch => ({ ...one, bases: bases[at] ?? [] }));
  const isBehind = ({ commit, bases: common }: ComparedBranch): boolean => common.includes(commit);
  const isHere = ({ theirs, bases: common }: ComparedBranch): boolean => common.includes(theirs.commit);
  return {
    behind: compared.filter(isBehind),
    others: compared.filter((one) => !isBehind(one) && !isHere(one)),
  };
}

/** Begins branches that are only there, all in one write. */
async function begin(
  workspace: Workspace,
  tips: readonly BranchTip[],
  { remote, own }: { readonly remote: Remote; readonly own: ReadonlyMap<string, string> },
): Promise<readonly PulledBranch[]> {
  const families = new Map([...own].map(([name, commit]) => [conversationOf(name), { name, commit }]));
  const report: PulledBranch[] = [];
  await bringBranches(workspace.store, tips);
  const writes: BranchWrite[] = [];
  for (const tip of tips) {
    const other = differingByCase(tip.name, [...own.keys(), ...writes.map(({ branch }) => branch)]);
    const reason =
      other === undefined
        ? await whyNotTaken(workspace, tip, {
            remote: remote.name,
            family: families.get(conversationOf(tip.name)) ?? null,
          })
        : `it differs only by case from ${other}, and macOS and Windows cannot keep both`;
    if (reason !== null) report.push({ branch: tip.name, status: "kept", turns: 0, reason });
    else writes.push({ branch: tip.name, expected: null, parent: tip.commit, commits: [] });
  }
  if (writes.length === 0) return report;
  // One that somebody else has just begun is looked at by the next pull.
  const begun = (await workspace.store.write(writes)).filter(({ moved }) => moved);
  const names = begun.map(({ branch }) => branch);
  await requireSharing(workspace).follow(remote, names);
  for (const { branch, commit } of begun)
    report.push({ branch, status: "new", turns: (await listTurnOids(workspace.store, commit)).length });
  return report;
}

/** In a store without an active conversation, the one that was worked on last becomes it. */
async function activeAfter(workspace: Workspace, branches: readonly PulledBranch[]): Promise<string | null> {
  const { store } = workspace;
  const { branch, commit } = await readStanding(workspace);
  if (commit !== null) return null;
  if (branch !== null && (await store.readBranch(branch)) !== null) return branch;
  const names = branches.filter(({ status }) => status === "new").map((one) => one.branch);
  if (names.length === 0) return null;
  const tips = (await store.listBranches()).filter(({ name }) => names.includes(name));
  const times = await store.readCommitTimes(tips.map((tip) => tip.commit));
  const newest = tips[times.indexOf(Math.max(...times))];
  if (newest === undefined) return null;
  await makeActive(workspace, newest.name);
  return newest.name;
}
