// Pulls of a branch that grew in two stores, case by case; `test/helpers/sharing-law.ts` draws them at random.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openJournal } from "../../../src/app/conversation/journal.ts";
import { findBrokenLinks } from "../../../src/app/conversation/spliced-turns.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { removeConversation } from "../../../src/app/manage/trash.ts";
import { markThisProcess } from "../../../src/store/running-process.ts";
import { type Clone, type Clones, syncAll } from "../../helpers/clones.ts";
import { type PreparedClones, prepareClones } from "../../helpers/prepared-clones.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { importBytes } from "../../helpers/workspace.ts";

let clones: Clones;
let ada: Clone;
let ben: Clone;
let branch: string;
let prepared: PreparedClones<string>;
beforeAll(async () => {
  prepared = await prepareClones(3, "hidden", async ({ all }) => {
    const [first, second] = all as [Clone, Clone];
    const report = await importBytes(first.workspace, buildSession(plainTurns(4)).text());
    await first.push();
    await second.pull();
    return report.branch;
  });
  branch = prepared.made;
});
afterAll(() => prepared.remove());
beforeEach(async () => {
  clones = await prepared.open();
  [ada, ben] = clones.all as [Clone, Clone];
});

const conversation = (): string => branch.replace("/main", "");
const statuses = async (clone: Clone): Promise<string[]> =>
  (await clone.pull()).branches.map(({ branch: name, status }) => `${name.slice(conversation().length + 1)} ${status}`);
const live = async (clone: Clone): Promise<string[]> =>
  (await clone.tree(branch)).compactions.map(({ path }) => path).sort();

describe("a pull", () => {
  it("brings new conversations, the newest active, and fast-forwards those that grew", async () => {
    expect((await ben.tree(branch)).commit).toBe((await ada.tree(branch)).commit);
    expect(ben.git("symbolic-ref", "--short", "HEAD")).toBe(branch);
    await ada.turn(branch, "five");
    await ada.compact(branch, 1);
    await ada.push();
    expect(await statuses(ben)).toEqual(["main updated"]);
    expect(await ben.branches()).toEqual(await ada.branches());
    expect(ben.git("status", "--porcelain")).toBe("");
    expect(await statuses(ben)).toEqual([]);
  });

  it("does not change what is ahead", async () => {
    await ben.turn(branch, "mine");
    expect(await statuses(ben)).toEqual([]);
  });

  it("merges compactions of both sides into one commit, which both sides would make", async () => {
    const mine = await ben.compact(branch, 1);
    const theirs = await ada.compact(branch, 2);
    await ada.push();
    expect(await statuses(ben)).toEqual(["main merged"]);
    expect((await live(ben)).map((path) => path.replace(/^.*-(.+)\.jsonl$/, "$1")).sort()).toEqual(
      [mine, theirs].sort(),
    );
    const merged = (await ben.tree(branch)).commit;
    expect(ben.git("log", "-1", "--format=%P").split(" ")).toHaveLength(2);
    expect(ben.git("status", "--porcelain")).toBe("");
    // The same two tips, met in the other store, make the same commit.
    ben.git("push", "--quiet", clones.remote, `${merged}^2:refs/jpg/conversations/${conversation()}/second`);
    await ben.push();
    await ada.pull();
    expect((await ada.tree(branch)).commit).toBe(merged);
  });

  it("has a revert on either side reach the other, and a compaction that is brought back", {
    tags: ["slow"],
  }, async () => {
    const id = await ada.compact(branch, 1);
    await syncAll([ada, ben]);
    await revertCompactions(ben.workspace, [id], branch);
    await ada.compact(branch, 2);
    await syncAll([ada, ben]);
    expect((await live(ada)).some((path) => path.includes(id))).toBe(false);
    const revert =
      ada.git("log", "--format=%H", "--full-history", "--diff-filter=D", branch, "--", "compactions").split("\n")[0] ??
      "";
    await revertCompactions(ada.workspace, [revert], branch);
    await ben.turn(branch, "five");
    await syncAll([ada, ben]);
    expect((await live(ben)).some((path) => path.includes(id))).toBe(true);
    expect(await live(ben)).toEqual(await live(ada));
  });

  it("takes their turns with my compactions, and the other way round", { tags: ["slow"] }, async () => {
    const id = await ben.compact(branch, 1);
    await ada.turn(branch, "five");
    await ada.push();
    expect(await statuses(ben)).toEqual(["main merged"]);
    const tree = await ben.tree(branch);
    expect(tree.turnOids).toHaveLength(5);
    expect(tree.compactions.some(({ path }) => path.includes(id))).toBe(true);
    expect(await findBrokenLinks(ben.workspace.store, tree)).toEqual([]);
    await ben.turn(branch, "six");
    await ada.compact(branch, 2);
    await ada.push();
    expect(await statuses(ben)).toEqual(["main merged"]);
    expect((await ben.tree(branch)).turnOids).toHaveLength(6);
    await syncAll([ada, ben]);
    expect(await ben.branches()).toEqual(await ada.branches());
  });

  it("makes two forks of turns on both sides: theirs keeps the name, mine is active", async () => {
    const mine = await ben.turn(branch, "mine");
    const theirs = await ada.turn(branch, "theirs");
    await ada.push();
    const before = (await ben.tree(branch)).commit;
    const report = await ben.pull();
    const fork = `${conversation()}/main-ben-1`;
    expect(report.branches).toMatchObject([{ branch, status: "forked", fork }]);
    expect(report.active).toBe(fork);
    expect((await ben.tree(fork)).commit).toBe(before);
    expect((await ben.tree(branch)).commit).toBe((await ada.tree(branch)).commit);
    expect(ben.git("status", "--porcelain")).toBe("");
    expect(ben.git("cat-file", "-p", `${fork}:turns/0000/000004.jsonl`)).toContain(mine);
    expect(ben.git("cat-file", "-p", `${branch}:turns/0000/000004.jsonl`)).toContain(theirs);
    expect(await statuses(ben)).toEqual([]);
    await syncAll([ada, ben]);
    expect(await ada.branches()).toEqual(await ben.branches());
  });

  it("gives forks of one person on two machines names of their own", { tags: ["slow"] }, async () => {
    const third = clones.all[2] as Clone;
    await third.pull();
    for (const [clone, said] of [
      [ada, "one"],
      [third, "two"],
      [ben, "three"],
    ] as const)
      await clone.turn(branch, said);
    await ben.push();
    await ada.pull();
    await third.pull();
    await syncAll(clones.all);
    const names = Object.keys(await ada.branches()).map((name) => name.slice(conversation().length + 1));
    expect(names).toEqual(["main", "main-ada-1", "main-ada-2"]);
    expect(await third.branches()).toEqual(await ada.branches());
  });

  it("continues a try that ended midway", async () => {
    await ben.turn(branch, "mine");
    await ada.turn(branch, "theirs");
    await ada.push();
    const own = (await ben.tree(branch)).commit;
    ben.git("branch", `${conversation()}/main-ben-1`, own);
    expect((await ben.pull()).branches).toMatchObject([{ status: "forked", fork: `${conversation()}/main-ben-1` }]);
    expect(Object.keys(await ben.branches())).toHaveLength(2);
  });

  it("takes a turn that grew, also where its commit was replaced", async () => {
    await importBytes(ben.workspace, buildSession(plainTurns(4)).text());
    await importBytes(ada.workspace, buildSession([...plainTurns(4), "say"]).text());
    await ben.compact(branch, 1);
    await ada.push();
    expect(await statuses(ben)).toEqual(["main merged"]);
    expect((await ben.tree(branch)).turnOids).toEqual((await ada.tree(branch)).turnOids);
  });

  it("adopts their history of the same turns and replays my records on top", async () => {
    const id = await ben.compact(branch, 1);
    // The same files, committed by another importer: no commit is shared.
    const tree = ada.git("rev-parse", `${branch}^{tree}`);
    const other = ada.git("commit-tree", tree, "-m", "imported otherwise");
    ada.git("update-ref", `refs/heads/${branch}`, other);
    ada.git("push", "--quiet", "--force", clones.remote, `${other}:refs/jpg/conversations/${branch}`);
    expect(await statuses(ben)).toEqual(["main merged"]);
    const merged = await ben.tree(branch);
    expect(ben.git("rev-parse", `${branch}~1`)).toBe(other);
    expect(merged.compactions.some(({ path }) => path.includes(id))).toBe(true);
    expect(ben.git("log", "-1", "--format=%s%n%an", branch)).toMatch(/^compact 0\.\.1: .*\nBen$/);
  });

  it("adopts their history where mine has more turns, and replays these, too", async () => {
    const [one, two] = [await ben.compact(branch, 1), await ben.compact(branch, 2)];
    await revertCompactions(ben.workspace, [one], branch);
    const start = await ben.turn(branch, "five");
    const other = ada.git("commit-tree", ada.git("rev-parse", `${branch}^{tree}`), "-m", "imported otherwise");
    ada.git("push", "--quiet", "--force", clones.remote, `${other}:refs/jpg/conversations/${branch}`);
    expect(await statuses(ben)).toEqual(["main merged"]);
    const merged = await ben.tree(branch);
    expect(merged.turnOids).toHaveLength(5);
    expect(ben.git("cat-file", "-p", `${branch}:turns/0000/000004.jsonl`)).toContain(start);
    expect(merged.compactions.map(({ path }) => path.includes(two))).toEqual([true]);
    // What was taken back again is in the history, as it was said: it can be brought back.
    const told = ben.git("log", "--format=", "--name-status", `${other}..${branch}`, "--", "compactions");
    expect(told.split("\n").map((line) => line.replace(/^(\w)\t.*-(\w+)\.jsonl$/, "$1 $2"))).toEqual([
      `D ${one}`,
      `A ${two}`,
      `A ${one}`,
    ]);
    await revertCompactions(ben.workspace, [ben.git("rev-parse", branch)], branch);
    expect((await ben.tree(branch)).compactions).toHaveLength(2);
    expect(await findBrokenLinks(ben.workspace.store, merged)).toEqual([]);
    const added = await ben.push();
    expect(added.branches).toMatchObject([{ status: "updated" }]);
  });

  it("keeps another conversation of the same name out, forks of it too, and says how to have it", async () => {
    const { store } = ben.workspace;
    const author = { name: "Eve", email: "eve@example.com", seconds: 1_780_000_000 };
    const { header } = await ben.tree(branch);
    const other = { ...header, source: null, created_at: "2026-02-02T02:02:02.000Z", title: "Something else" };
    const turn = '{"type":"turn_start","id":"other0","timestamp":"2026-02-02T02:02:02.000Z"}\n';
    const changes = Object.entries({
      "conversation.json": `${JSON.stringify(other)}\n`,
      "turns/0000/000000.jsonl": turn,
    }).map(([path, text]) => ({ path, bytes: Buffer.from(text) }));
    const [made] = await store.write([
      {
        branch: "x/y",
        expected: null,
        parent: null,
        commits: [{ message: "x\n", author, committer: author, changes }],
      },
    ]);
    const prefix = `refs/jpg/conversations/${conversation()}`;
    ben.git("push", "--quiet", "--force", clones.remote, `x/y:${prefix}/main`, `x/y:${prefix}/theirs`);
    ben.git("branch", "-D", "x/y");
    ben.git("update-ref", "-d", `refs/remotes/team/${branch}`);
    const before = await ben.branches();
    const { branches } = await ben.pull();
    expect(branches.map(({ branch: name, status }) => `${name} ${status}`)).toEqual([
      `${conversation()}/theirs kept`,
      `${branch} kept`,
    ]);
    const [command = ""] = /jpg git (branch \S+ [^\s`]+)/.exec(branches[1]?.reason ?? "")?.slice(1) ?? [];
    expect(await ben.branches()).toEqual(before);
    ben.git(...command.replace("NAME", "else").split(" "));
    expect(await ben.branches()).toEqual({ ...before, "else/main": made?.commit });
    // Or one's own gets another name: then theirs comes in, and one's own can be pushed.
    const [, rename = ""] = /jpg git (branch -m [^`]+)/.exec(branches[1]?.reason ?? "") ?? [];
    ben.git(...rename.replace("NAME", "mine").split(" "));
    const renamed = await ben.pull();
    expect(renamed.branches.map(({ branch: name, status }) => `${name} ${status}`)).toContain(`${branch} new`);
    expect((await ben.push({ id: "mine/main" })).branches).toMatchObject([{ branch: "mine/main", status: "new" }]);
  });

  it("has the same result when two run at once", { tags: ["slow"] }, async () => {
    await ada.turn(branch, "five");
    await ada.compact(branch, 1);
    await ada.push();
    await ben.turn(branch, "mine");
    const reports = await Promise.all([ben.pull(), ben.pull()]);
    expect(reports.flatMap(({ branches }) => branches).filter(({ status }) => status === "kept")).toEqual([]);
    await ben.pull();
    expect(Object.keys(await ben.branches()).sort()).toEqual([branch, `${branch}-ben-1`].sort());
    await syncAll([ada, ben]);
    expect(await ada.branches()).toEqual(await ben.branches());
    expect(ben.git("status", "--porcelain")).toBe("");
  });

  it("does not change a branch while a turn of it is in progress", async () => {
    await ada.turn(branch, "theirs");
    await ada.push();
    const { commit, turnOids } = await ben.tree(branch);
    const head = {
      journal: 1,
      branch,
      turn: 4,
      start: "live0",
      parent: commit,
      prev: turnOids.at(-1) ?? null,
    } as const;
    const journal = await openJournal(ben.workspace.store.journal(), { ...head, writer: await markThisProcess() });
    expect((await ben.pull()).branches).toMatchObject([
      { status: "kept", reason: expect.stringContaining("still in progress") },
    ]);
    expect((await ben.tree(branch)).commit).toBe(commit);
    await journal.remove();
    expect(await statuses(ben)).toEqual(["main updated"]);
  });

  it("brings worktrees along, and keeps a branch where files are in the way, until they are not", async () => {
    const place = join(clones.remote, "..", "worktree");
    ben.git("worktree", "add", "--quiet", "--force", place, branch);
    await ada.compact(branch, 1);
    await ada.push();
    const path = ada.git("ls-tree", "-r", "--name-only", branch, "compactions/");
    mkdirSync(join(place, "compactions"));
    writeFileSync(join(place, path), "in the way");
    const before = (await ben.tree(branch)).commit;
    expect((await ben.pull()).branches).toMatchObject([
      { branch, status: "kept", reason: expect.stringContaining(place) },
    ]);
    expect((await ben.tree(branch)).commit).toBe(before);
    rmSync(join(place, path));
    expect(await statuses(ben)).toEqual(["main updated"]);
    expect(ben.git("-C", place, "status", "--porcelain")).toBe("");
    expect(ben.git("-C", place, "ls-files", "compactions")).toBe(path);
  });

  it("does not bring back what was removed here", async () => {
    await ada.turn(branch, "more");
    await removeConversation(ben.workspace, conversation());
    await ada.push();
    expect(await ben.pull()).toMatchObject({ branches: [], removed: [branch] });
    expect(await ben.branches()).toEqual({});
  });

  it("skips what is no conversation, and what a newer jpg wrote, and says why", async () => {
    const tree = ada.git("mktree");
    const foreign = ada.git("commit-tree", tree, "-m", "code");
    ada.git("push", "--quiet", clones.remote, `${foreign}:refs/jpg/conversations/feature/x`);
    ada.git("push", "--quiet", "--force", clones.remote, `${foreign}:refs/jpg/conversations/${branch}`);
    const before = await ben.branches();
    expect((await ben.pull()).branches).toMatchObject([
      { branch: "feature/x", status: "kept", reason: expect.stringContaining("no conversation.json") },
      { branch, status: "kept", reason: expect.stringContaining("no conversation.json") },
    ]);
    expect(await ben.branches()).toEqual(before);
  });

  it("keeps both of two different conversations that have one id", async () => {
    const other = await importBytes(
      clones.all[2]!.workspace,
      buildSession(["prompt", "think", "say", "prompt", "say"], { session: "other" }).text(),
    );
    const third = clones.all[2] as Clone;
    third.git("branch", "--move", other.branch, branch);
    const mine = (await third.tree(branch)).commit;
    const { branches } = await third.pull();
    expect(branches).toMatchObject([
      { branch, status: "kept", reason: expect.stringContaining("not the same conversation") },
    ]);
    expect((await third.tree(branch)).commit).toBe(mine);
    expect(third.git("rev-parse", `refs/remotes/team/${branch}`)).toBe((await ada.tree(branch)).commit);
  });
});
