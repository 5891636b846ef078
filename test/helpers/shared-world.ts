// Three people's stores, a plain clone and their remote, all with a compacted conversation and a fork of it: made once, and put back as it
// was for each example of a law.
import { forkConversation } from "../../src/app/manage/fork.ts";
import type { PullReport } from "../../src/app/share/pull.ts";
import type { Clone } from "./clones.ts";
import { createPlainClone, openPlainClone, type PlainClone, remoteRefs } from "./plain-clone.ts";
import { prepareClones } from "./prepared-clones.ts";
import { readHeadBranch, readRefs } from "./ref-files.ts";
import { buildSession, plainTurns, type SessionStep } from "./session-builder.ts";
import { importBytes } from "./workspace.ts";

const PEOPLE = 3;

/** Steps of the agent's session that everybody has. */
export const SHARED_SESSION: readonly SessionStep[] = [...plainTurns(2), "prompt", "think", "say"];

/** What stands where it is shared. */
export interface World {
  readonly all: readonly Clone[];
  readonly plain: PlainClone;
  /** Conversations' refs of the remote. */
  remote(): ReadonlyMap<string, string>;
  /** Commits that were seen there, by branch. */
  readonly published: ReadonlyMap<string, ReadonlySet<string>>;
  /** All refs of everybody as one text: what changed something changed it. */
  state(): string;
  close(): Promise<void>;
}

/** Makes it; the function opens it as it was made, one at a time. */
export async function prepareWorld(
  as: "branches" | "hidden",
): Promise<{ readonly open: () => Promise<World>; readonly remove: () => Promise<void> }> {
  const prepared = await prepareClones(PEOPLE, as, async (clones, folder, pack) => {
    const [first, ...others] = clones.all as [Clone, ...Clone[]];
    await importBytes(first.workspace, buildSession(SHARED_SESSION).text());
    const [main = ""] = Object.keys(await first.branches());
    // There is something to take back, and a fork that an earlier pull may have made: its name is taken.
    await first.compact(main, 0);
    const fork = { activate: false, first: 2, name: "main-ada-1" };
    await forkConversation(first.workspace, await first.tree(main), fork);
    await first.push();
    for (const other of others) await other.pull();
    createPlainClone(folder, clones.remote, as);
    pack(openPlainClone(folder, clones.remote, as).gitDir);
  });
  const open = async (): Promise<World> => {
    const { all, remote, remove: close } = await prepared.open();
    const plain = openPlainClone(prepared.folder, remote, as);
    const published = new Map<string, Set<string>>();
    const gitDirs = [...all.map(({ gitDir }) => gitDir), plain.gitDir, remote];
    return {
      all,
      plain,
      remote() {
        const refs = remoteRefs(remote, as);
        for (const [name, commit] of refs) published.set(name, (published.get(name) ?? new Set()).add(commit));
        return refs;
      },
      published,
      state: () => JSON.stringify(gitDirs.map((gitDir) => [...readRefs(gitDir)].sort())),
      close,
    };
  };
  return { open, remove: prepared.remove };
}

/**
 * Everybody pulls and pushes until all have the same; throws when it goes on for ever. First those who have something of their own,
 * then those who only wait for it: so nobody pulls more often than it takes.
 */
export async function settle(world: World): Promise<void> {
  const { all, plain } = world;
  for (let round = 0; round < 12; round++) {
    if (plain.isAhead()) {
      plain.pull();
      plain.push();
    }
    if (!plain.isAhead() && all.every((clone) => hasAll(world, clone))) return;
    for (const clone of [...all.filter(hasOwn), ...all.filter((one) => !hasOwn(one))]) {
      if (hasAll(world, clone)) continue;
      if (!hasFetched(world, clone)) await pullAll(clone);
      if (!hasAll(world, clone)) await clone.push();
    }
    // What was fetched and left lying is not on the way any more.
    for (const clone of all) if (hasFetched(world, clone) && !hasAll(world, clone)) await pullAll(clone);
  }
  throw new Error("the stores did not come to rest in 12 rounds");
}

/** Pulls; throws when somebody does not stand on all turns afterwards that they stood on. */
export async function pullInPlace(clone: Clone): Promise<PullReport> {
  const before = await standingTurns(clone);
  const report = await clone.pull();
  const after = await standingTurns(clone);
  if (!before.every((start, turn) => after[turn] === start))
    throw new Error(`a pull took turns from where somebody stood: ${before.join()} became ${after.join()}`);
  return report;
}

/** What each turn of the active branch begins with: a turn that grew is the same. */
async function standingTurns({ gitDir, tree, workspace }: Clone): Promise<readonly string[]> {
  const { turnOids } = await tree(readHeadBranch(gitDir));
  const starts: string[] = [];
  for await (const bytes of workspace.store.readBlobs(turnOids))
    starts.push(/"id":"([^"]*)"/.exec(Buffer.from(bytes).toString())?.[1] ?? "");
  return starts;
}

async function pullAll(clone: Clone): Promise<void> {
  const { branches } = await pullInPlace(clone);
  const kept = branches.filter(({ status }) => status === "kept");
  if (kept.length > 0) throw new Error(`a pull left something: ${JSON.stringify(kept)}`);
}

/** A person's branches, and the remote's as they were fetched last: from git's files. */
export function branchesOf({ gitDir }: Clone): {
  readonly own: ReadonlyMap<string, string>;
  readonly tracked: ReadonlyMap<string, string>;
} {
  const [own, tracked] = ["refs/heads/", "refs/remotes/team/"].map(
    (prefix) => new Map([...readRefs(gitDir, prefix)].filter(([name]) => name.includes("/"))),
  ) as [Map<string, string>, Map<string, string>];
  return { own, tracked };
}

/** Whether a branch stands elsewhere than where the remote's was last seen. */
function hasOwn(clone: Clone): boolean {
  const { own, tracked } = branchesOf(clone);
  return !isSame(own, tracked);
}

function hasFetched({ remote }: World, clone: Clone): boolean {
  return isSame(branchesOf(clone).tracked, remote());
}

function hasAll({ remote }: World, clone: Clone): boolean {
  return isSame(branchesOf(clone).own, remote());
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, commit]) => other.get(name) === commit);
}
