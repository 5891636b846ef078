// Fetches from a remote and updates branches here: new ones are created, others fast-forwarded, records of both sides merged. Where
// both sides have turns, theirs keeps the name and ours becomes a fork. Nothing is lost, and the next pull continues one that was
// interrupted.
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { conversationOf, differingByCase, unfitBranches } from "../../core/conversation/name.ts";
import { asSentence, codeOf, repositoryError, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { checkRemoteUrl, isLocalPath, type PublishedAs, repositoryName, shownUrl } from "../../core/remote-address.ts";
import type { Remote, TransferOptions } from "../../store/sharing.ts";
import type { BranchTip, BranchWrite } from "../../store/store.ts";
import { makeActive, readCheckedOut } from "../conversation/checked-out.ts";
import { makeStore } from "../conversation/engine.ts";
import { listRefsAt } from "../conversation/git-program.ts";
import { countProgress } from "../conversation/progress.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { listTurnOids, prefetchBranches } from "../conversation/tree.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../conversation/workspace.ts";
import { type ComparedBranch, fastForward, type PulledBranch, pullBranch, whyNotTaken } from "./pull-branch.ts";
import { addRemote, branchBases, findRemote, noRemote, projectOrigin, requireSharing } from "./remotes.ts";

export interface PullReport extends RemotePlace {
  /** Branches that changed or were kept for a reason; the others were the same on both sides. */
  readonly branches: readonly PulledBranch[];
  /** Branches that were removed here, and so were not pulled. */
  readonly removed: readonly string[];
  /** Branches here that the remote had at the last fetch and no longer has. */
  readonly gone: readonly string[];
  /** Branches that the remote has. */
  readonly total: number;
  /** Null when there is none. */
  readonly active: string | null;
}

/** Pulls from a remote. Throws `remote_*`, `store_programs`, as `fetch` of `Sharing` does; then no branch here has changed. */
export async function pullConversations(
  workspace: Workspace,
  remote: Remote,
  options: TransferOptions,
): Promise<PullReport> {
  const sharing = requireSharing(workspace);
  // Lists ours and what was tracked while git fetches: most pulls bring nothing, and a branch that differs is read again before it
  // is moved.
  const [own, before, { isMoved, remoteBranches: there, unfit }] = await Promise.all([
    workspace.store.listBranches(),
    sharing.tracked(remote.name),
    sharing.fetch(remote, options),
  ]);
  const all = isMoved ? await sharing.tracked(remote.name) : before;
  const tracked = all.filter(({ name }) => there.has(name));
  const mine = new Map(own.map(({ name, commit }) => [name, commit]));
  const gone = goneFrom(all, there).filter((name) => mine.has(name));
  const movedFrom = new Map<string, string>();
  const taken = await pullBranches(workspace, {
    remote,
    own: mine,
    tracked,
    movedFrom,
  });
  const active = await activeAfter(workspace, taken.branches);
  const fork = (branch: PulledBranch): readonly string[] => (branch.fork === undefined ? [] : [branch.fork]);
  const moved = taken.branches.filter(({ status }) => status !== "kept").flatMap((one) => [one.branch, ...fork(one)]);
  if (moved.length > 0) await refreshViews(workspace, new Set(moved), movedFrom);
  return {
    ...fetchedPlace(remote),
    total: tracked.length,
    active,
    gone,
    ...taken,
    branches: [...taken.branches, ...unfit.map(keptUnfit)],
  };
}

/** A branch of the remote that git cannot make here. */
function keptUnfit(branch: string): PulledBranch {
  return { branch, status: "kept", turns: 0, reason: UNFIT };
}

const UNFIT =
  "its name is that of a device on this system, or differs only by case from another; somebody with another system can give it a new one";

type PulledBranches = Pick<PullReport, "branches" | "removed">;

async function pullBranches(
  workspace: Workspace,
  {
    remote,
    own,
    tracked,
    movedFrom,
  }: {
    readonly remote: Remote;
    readonly own: ReadonlyMap<string, string>;
    readonly tracked: readonly BranchTip[];
    readonly movedFrom: Map<string, string>;
  },
): Promise<PulledBranches> {
  const { store } = workspace;
  const others = tracked.filter(({ name, commit }) => own.get(name) !== commit);
  if (others.length === 0) return { branches: [], removed: [] };
  // Git may have kept the objects of a fetch that it refused for these, and would accept them the next time.
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
    ...(await createBranches(workspace, fresh, { remote, own })),
  ];
  const met = await compare(workspace, own, differing);
  const forward = await fastForward(workspace, met.behind, movedFrom);
  appendAll(branches, forward.pulled);
  const side = { remote: remote.name, there, movedFrom };
  const compared = new Map([...met.behind, ...met.others].map((one) => [one.theirs.name, one]));
  const joined = [...forward.remaining, ...met.others.map(({ theirs }) => theirs)];
  for (const tip of countProgress(workspace, "joining conversations", joined)) {
    const taken = await pullBranch(workspace, tip, side, compared.get(tip.name));
    if (taken !== null) branches.push(taken);
  }
  return { branches, removed: differing.filter(isRemoved).map(({ name }) => name) };
}

const SUBMODULES = ".gitmodules";

/** Splits branches into those that are behind and those to join one by one; leaves out those of which all is here. */
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

/** Creates the branches that only the remote has, in one write. */
async function createBranches(
  workspace: Workspace,
  tips: readonly BranchTip[],
  { remote, own }: { readonly remote: Remote; readonly own: ReadonlyMap<string, string> },
): Promise<readonly PulledBranch[]> {
  const families = new Map([...own].map(([name, commit]) => [conversationOf(name), { name, commit }]));
  const report: PulledBranch[] = [];
  await prefetchBranches(workspace.store, tips);
  const writes: BranchWrite[] = [];
  for (const tip of countProgress(workspace, "reading new conversations", tips)) {
    const other = differingByCase(tip.name, [...own.keys(), ...writes.map(({ branch }) => branch)]);
    const isUnfit = unfitBranches([tip.name], workspace.runtime.platform).length > 0;
    const reason = isUnfit
      ? UNFIT
      : other === undefined
        ? await whyNotTaken(workspace, tip, {
            remote: remote.name,
            family: families.get(conversationOf(tip.name)) ?? null,
          })
        : `it differs only by case from ${other}, and macOS and Windows cannot keep both`;
    if (reason !== null) report.push({ branch: tip.name, status: "kept", turns: 0, reason });
    else writes.push({ branch: tip.name, expected: null, parent: tip.commit, commits: [] });
  }
  if (writes.length === 0) return report;
  // If somebody else has just created one, the next pull compares it.
  const begun = (await workspace.store.write(writes)).filter(({ moved }) => moved);
  const names = begun.map(({ branch }) => branch);
  await requireSharing(workspace).follow(remote, names);
  for (const { branch, commit } of begun)
    report.push({ branch, status: "new", turns: (await listTurnOids(workspace.store, commit)).length });
  return report;
}

/** The active branch; in a store without one, the branch with the newest commit becomes active. */
async function activeAfter(workspace: Workspace, branches: readonly PulledBranch[]): Promise<string | null> {
  const { store } = workspace;
  const { branch, commit } = await readCheckedOut(workspace);
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

/** Where conversations are fetched from or sent to. */
export interface RemotePlace {
  readonly remote: string;
  /** Without credentials. */
  readonly url: string;
  readonly as: PublishedAs;
}

export function fetchedPlace({ name, url, as }: Remote): RemotePlace {
  return { remote: name, url: shownUrl(url), as };
}

export interface FetchReport extends RemotePlace {
  readonly branches: readonly { readonly branch: string; readonly status: "new" | "updated" }[];
  /** Branches that the remote had at the last fetch and no longer has. */
  readonly gone: readonly string[];
  /** Branches that the remote has, new ones among them. */
  readonly total: number;
}

/** Fetches from a remote. Throws `remote_*`, `store_programs`. */
export async function fetchConversations(
  workspace: Workspace,
  remote: Remote,
  options: TransferOptions,
): Promise<FetchReport> {
  const sharing = requireSharing(workspace);
  const before = byName(await sharing.tracked(remote.name));
  const { remoteBranches: there, unfit } = await sharing.fetch(remote, options);
  for (const branch of unfit) workspace.warn(`${branch} was not fetched: ${UNFIT}.`);
  const after = await sharing.tracked(remote.name);
  const gone = goneFrom(after, there);
  return {
    ...fetchedPlace(remote),
    branches: after.flatMap(({ name, commit }) => {
      const old = before.get(name);
      return old === commit ? [] : [{ branch: name, status: old === undefined ? "new" : "updated" } as const];
    }),
    gone,
    total: after.length - gone.length,
  };
}

/** Names of the branches that a remote had and no longer has; `there` = what it has. */
function goneFrom(tracked: readonly BranchTip[], there: ReadonlySet<string>): readonly string[] {
  return tracked.flatMap(({ name }) => (there.has(name) ? [] : [name]));
}

function byName(tips: readonly BranchTip[]): ReadonlyMap<string, string> {
  return new Map(tips.map(({ name, commit }) => [name, commit]));
}

// Makes a new store from a remote: all conversations as branches, one of them active. A clone that fails leaves nothing on the
// disk.

interface CloneRequest {
  readonly url: string;
  /** Default: a folder here named after the repository. */
  readonly directory?: string;
  /** `blob:none` fetches contents of files only when they are read. Default: everything. */
  readonly filter?: "blob:none";
}

export interface CloneReport extends PullReport {
  /** The path of the store, absolute. */
  readonly path: string;
}

/** Clones. Throws `directory_not_empty`, `no_conversations`, `bad_remote_url`, `remote_*`. */
export async function cloneConversations(
  runtime: Runtime,
  request: CloneRequest,
  { transfer, voice }: { readonly transfer: TransferOptions; readonly voice: WorkspaceOptions },
): Promise<CloneReport> {
  const { cwd } = runtime;
  const url = isLocalPath(checkRemoteUrl(request.url)) ? resolve(cwd, request.url) : request.url;
  const path = resolve(cwd, request.directory ?? repositoryName(url));
  const isNew = await requireFree(path);
  const refs = await listRefsAt(runtime, url, transfer);
  const as: PublishedAs = refs.hidden.length > 0 ? "hidden" : "branches";
  if (refs[as].length === 0) throw noConversations(url);
  try {
    await makeStore(runtime, path);
    return { path, ...(await fillStore(runtime, { ...request, path, url, as, head: refs.head }, { transfer, voice })) };
  } catch (error) {
    await rm(isNew ? path : join(path, ".git"), { recursive: true, force: true });
    throw error;
  }
}

interface NewStore extends CloneRequest {
  readonly path: string;
  readonly as: PublishedAs;
  readonly head: string | null;
}

async function fillStore(
  runtime: Runtime,
  { path, url, as, head, filter }: NewStore,
  { transfer, voice }: { readonly transfer: TransferOptions; readonly voice: WorkspaceOptions },
): Promise<PullReport> {
  const empty = await openWorkspace(runtime, { ...voice, store: path });
  await addRemote(empty, { name: "origin", url, as, filter });
  await empty.close();
  // Only a store that is opened anew knows whether it is a partial clone.
  const workspace = await openWorkspace(runtime, { ...voice, store: path });
  try {
    const report = await pullConversations(workspace, await findRemote(workspace, "origin"), transfer);
    const begun = report.branches.filter(({ status }) => status === "new").map(({ branch }) => branch);
    if (begun.length === 0) throw noConversations(url, report.branches[0]);
    if (head === null || !begun.includes(head) || report.active === head) return report;
    await makeActive(workspace, head);
    return { ...report, active: head };
  } finally {
    await workspace.close();
  }
}

/** Whether a folder does not exist yet. Throws `directory_not_empty`. */
async function requireFree(path: string): Promise<boolean> {
  const names = await readdir(path).catch((error: unknown) => (codeOf(error) === "ENOENT" ? null : ["?"]));
  if (names === null || names.length === 0) return names === null;
  throw userError("directory_not_empty", `${path} exists and is not empty.`, {
    hints: ["Name a directory that does not exist yet: `jpg clone URL DIR`."],
  });
}

/** `kept` = a branch that was not pulled, and why. */
function noConversations(url: string, kept?: PullReport["branches"][number]): Error {
  if (kept?.reason !== undefined)
    return repositoryError(
      "no_conversations",
      `No conversation at ${shownUrl(url)} can be read; ${kept.branch}: ${asSentence(kept.reason)}`,
      {
        hints: ["Ask its author to run `jpg fsck`, which says what is wrong."],
      },
    );
  return repositoryError("no_conversations", `There is no conversation at ${shownUrl(url)}.`, {
    hints: ["Check the address; `jpg push` sends conversations there."],
  });
}

/**
 * Adds the project's origin as the remote if it has conversations as hidden refs; makes the store where there is none. Null if it
 * has none. Throws `no_remote`, `remote_*`.
 */
export async function adoptOrigin(workspace: Workspace, options: TransferOptions): Promise<Remote | null> {
  const origin = await projectOrigin(workspace);
  if (origin === null) throw noRemote(origin);
  // There may be no store until the remote is added.
  const { hidden } = await listRefsAt(workspace.runtime, origin.url, options);
  if (hidden.length === 0) return null;
  const { name } = await addRemote(workspace, { ...origin, as: "hidden" });
  return findRemote(workspace, name);
}

/** The notice for a project whose origin has no conversations. */
export async function nothingThereNotice(workspace: Workspace): Promise<string> {
  const origin = await projectOrigin(workspace);
  return `There is no conversation on ${origin?.name ?? "the remote"} (${shownUrl(origin?.url ?? "")}) yet: \`jpg push\` sends some.`;
}
