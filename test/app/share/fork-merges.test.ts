// Pulls and pushes of a fork that was merged somewhere: its commits are in the history of the branch that it was merged into, but
// its turns and compactions are not on it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { mergeFork } from "../../../src/app/manage/merge.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { type Clone, type Clones, syncAll } from "../../helpers/clones.ts";
import { type PreparedClones, prepareClones } from "../../helpers/prepared-clones.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { importBytes } from "../../helpers/workspace.ts";

let clones: Clones;
let ada: Clone;
let ben: Clone;
let main: string;
let fork: string;
let prepared: PreparedClones<string>;
beforeAll(async () => {
  prepared = await prepareClones(2, "hidden", async ({ all }) => {
    const [first] = all as [Clone];
    return (await importBytes(first.workspace, buildSession(plainTurns(4)).text())).branch;
  });
  main = prepared.made;
  fork = main.replace("/main", "/try");
});
afterAll(() => prepared.remove());
beforeEach(async () => {
  clones = await prepared.open();
  [ada, ben] = clones.all as [Clone, Clone];
});

const beginFork = async (): Promise<void> => {
  await forkConversation(ada.workspace, await ada.tree(main), { activate: false, name: "try" });
  await ada.turn(fork, "first");
  await syncAll([ada, ben]);
};
const merge = async (clone: Clone, of: string, into: string): Promise<void> => {
  const [from, target] = [await clone.tree(of), await clone.tree(into)];
  const request = { into: target, fork: from, text: `of ${of}`, dryRun: false, summary: {} };
  expect((await mergeFork(clone.workspace, request)).commit).not.toBeNull();
};
/** Stock git fetches one branch without the others. */
const takeAlone = (clone: Clone, branch: string): void => {
  clone.git("fetch", "--quiet", "team");
  clone.git("update-ref", `refs/heads/${branch}`, `refs/remotes/team/${branch}`);
};
const statusOf = (report: { branches: readonly { branch: string; status: string }[] }, name: string) =>
  report.branches.find(({ branch }) => branch === name)?.status;
const said = async (clone: Clone, branch: string): Promise<string> => {
  const texts: string[] = [];
  for await (const bytes of clone.workspace.store.readBlobs((await clone.tree(branch)).turnOids))
    texts.push(Buffer.from(bytes).toString());
  return texts.join("");
};
const liveOn = async (clone: Clone, branch: string): Promise<string> =>
  (await clone.tree(branch)).compactions.map(({ path }) => path).join();

/** Ada continues the fork and merges it into main; Ben merges main into his older fork. */
const mergeApart = async (): Promise<void> => {
  await beginFork();
  await ada.turn(fork, "hers");
  await merge(ada, fork, main);
  await ada.push();
  takeAlone(ben, main);
  await merge(ben, main, fork);
};

describe("a fork that was merged into main, and another that main was merged into", () => {
  it("have turns on both sides: a push does not go over the turn, and a pull makes two forks", {
    tags: ["slow"],
  }, async () => {
    await mergeApart();
    expect(statusOf(await ben.push(), fork)).toBe("behind");
    const pulled = await ben.pull();
    expect(pulled.branches).toMatchObject([{ branch: fork, status: "forked", fork: `${fork}-ben-1` }]);
    expect(await said(ben, fork)).toContain("start-hers");
    expect(await said(ben, `${fork}-ben-1`)).toContain(`of ${main}`);
    await syncAll([ada, ben]);
    expect(await ada.branches()).toEqual(await ben.branches());
  });

  it("keep the turn where stock git pushed over it", async () => {
    await mergeApart();
    ben.git("push", "--quiet", "team", `${fork}:refs/jpg/conversations/${fork}`);
    expect((await ada.pull()).branches).toMatchObject([{ branch: fork, status: "forked", fork: `${fork}-ada-1` }]);
    expect(await said(ada, `${fork}-ada-1`)).toContain("start-hers");
    expect(await said(ada, fork)).toContain(`of ${main}`);
  });

  it("merge where all that is missing is a compaction", { tags: ["slow"] }, async () => {
    await beginFork();
    const id = await ada.compact(fork, 1);
    await merge(ada, fork, main);
    await ada.turn(main, "on main");
    await ada.push();
    takeAlone(ben, main);
    await merge(ben, main, fork);
    expect(statusOf(await ben.push(), fork)).toBe("behind");
    expect(statusOf(await ben.pull(), fork)).toBe("merged");
    expect(await liveOn(ben, fork)).toContain(id);
    expect(await said(ben, fork)).toContain(`of ${main}`);
    await syncAll([ada, ben]);
    expect(await ada.branches()).toEqual(await ben.branches());
  });
});

describe("a push while somebody else pushes to the fork", () => {
  const commitOf = async (clone: Clone, branch: string): Promise<string> => (await clone.branches())[branch] ?? "";

  it("sends the main that it was merged into, and the next merge adds what is new there", {
    tags: ["slow"],
  }, async () => {
    await beginFork();
    await ben.turn(fork, "his");
    await merge(ada, fork, main);
    const meanwhile = async (): Promise<void> => void (await ben.push());
    const report = await ada.push({ meanwhile });
    expect([statusOf(report, main), statusOf(report, fork)]).toEqual(["updated", "unchanged"]);
    await syncAll([ada, ben]);
    expect(await ada.branches()).toEqual(await ben.branches());
    expect(await said(ada, fork)).toContain("start-his");
    expect(await said(ada, main)).not.toContain("start-his");
    await merge(ada, fork, main);
  });

  it("says whose turns it went over where git took them for a part of it, and nobody loses them", {
    tags: ["slow"],
  }, async () => {
    await beginFork();
    await ada.turn(fork, "hers");
    await merge(ada, fork, main);
    await ada.push({ id: main });
    takeAlone(ben, main);
    await merge(ben, main, fork);
    const meanwhile = async (): Promise<void> => void (await ada.push());
    const report = await ben.push({ meanwhile });
    expect(report.branches.filter(({ status }) => status !== "unchanged")).toEqual([
      { branch: fork, status: "updated", turns: 1, passed_over: { commit: await commitOf(ada, fork), turns: 1 } },
    ]);
    expect(clones.remote).toSatisfy((remote: string) => ada.git("ls-remote", remote).includes(fork));
    // Ben may keep them himself; else Ada's next pull does.
    expect((await ada.pull()).branches).toMatchObject([{ branch: fork, status: "forked", fork: `${fork}-ada-1` }]);
    expect(await said(ada, `${fork}-ada-1`)).toContain("start-hers");
    await syncAll([ada, ben]);
    expect(await ada.branches()).toEqual(await ben.branches());
    expect(await said(ben, `${fork}-ada-1`)).toContain("start-hers");
  });

  it("says nothing where they are in it", async () => {
    await beginFork();
    await ada.turn(fork, "one");
    await ada.push();
    await ben.pull();
    await ben.turn(fork, "two");
    const before = await commitOf(ada, fork);
    ada.git("push", "--quiet", "--force", "team", `${before}~1:refs/jpg/conversations/${fork}`);
    const meanwhile = async (): Promise<void> =>
      void ada.git("push", "--quiet", "team", `${before}:refs/jpg/conversations/${fork}`);
    expect((await ben.push({ meanwhile })).branches).toContainEqual({ branch: fork, status: "updated", turns: 2 });
  });
});

describe("a compaction that was taken back on main, and by stock git on a fork", () => {
  it("is gone on the fork, even where main was merged into it elsewhere", async () => {
    const id = await ada.compact(main, 1);
    await beginFork();
    await revertCompactions(ada.workspace, [id], main);
    await ada.push();
    await ben.pull();
    await ben.workspace.store.useBranch(fork);
    ben.git("merge", "--quiet", "--no-edit", main);
    expect(await liveOn(ben, fork)).toBe("");
    await ada.turn(main, "on main");
    await merge(ada, main, fork);
    expect(await liveOn(ada, fork)).toContain(id);
    await ben.push();
    expect(statusOf(await ada.pull(), fork)).toBe("merged");
    expect(await liveOn(ada, fork)).toBe("");
    expect(await said(ada, fork)).toContain(`of ${main}`);
  });
});
