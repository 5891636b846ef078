import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listWorktrees } from "../../../src/store/git/repository.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { moveWithWorktrees } from "../../../src/store/git/worktrees.ts";
import { markThisProcess, type ProcessMark } from "../../../src/store/running-process.ts";
import type { ConversationStore, Worktree } from "../../../src/store/store.ts";
import { endUnreaped } from "../../helpers/processes.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
let dir: string;
const run = (cwd: string, ...args: string[]): string => git(cwd, temp.env, args);
const status = (cwd: string): string => run(cwd, "status", "--porcelain");

beforeEach(async () => {
  temp = await createTempStore();
  dir = join(temp.folder, "checkout");
  store = await openNativeStore(temp);
  await append(store, "t/main", [
    commit("root", [
      file("conversation.json", '{"format":1,"id":"t"}'),
      file("turns/0000/000000.jsonl", "0"),
      file("sources/s/0000/000000.jsonl", "0"),
    ]),
    commit("compact", [file("compactions/c1", "1")]),
  ]);
  await store.useBranch("t/main");
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

async function add(full = false): Promise<Worktree> {
  const worktree = await store.worktrees?.add(dir, "t/main", { full });
  if (worktree === undefined) throw new Error("no worktrees");
  return worktree;
}

const turn = (n: number) =>
  commit(`turn ${n}`, [file(`turns/0000/00000${n}.jsonl`, `${n}`), file(`compactions/turn-${n}`, `${n}`)]);
const refused = (worktree: string, files: string[]) => ({
  kind: "repository",
  code: "worktree_in_the_way",
  data: { worktree, files },
});

describe("worktrees", () => {
  it("are not moved back to where a branch was before others moved it", async () => {
    const worktree = await add();
    const first = (await store.readBranch("t/main")) ?? "";
    await append(store, "t/main", [turn(1)]);
    const second = (await store.readBranch("t/main")) ?? "";
    await append(store, "t/main", [turn(2)]);
    // Somebody who read the branch at first, and then the mark of somebody who has been faster.
    await store.worktrees?.advance(worktree, second, first);
    expect([status(dir), status(temp.root)]).toEqual(["", ""]);
    expect(existsSync(join(dir, "compactions/turn-1"))).toBe(true);
  });

  /** A branch with two commits that is at the first of them. */
  async function rewoundBranch(): Promise<{ readonly before: string; readonly after: string }> {
    await append(store, "t/other", [commit("root", [file("conversation.json", '{"format":1,"id":"t"}')])]);
    const before = (await store.readBranch("t/other")) ?? "";
    await append(store, "t/other", [turn(1)]);
    const after = (await store.readBranch("t/other")) ?? "";
    run(temp.root, "update-ref", "refs/heads/t/other", before);
    return { before, after };
  }

  it("that switch to a branch after its worktrees were listed are advanced all the same", async () => {
    const { before, after } = await rewoundBranch();
    const repository = { gitDir: join(temp.root, ".git"), cwd: temp.root, env: temp.env };
    const seen = await listWorktrees(repository, temp.root);
    await store.useBranch("t/other");
    const moves = [{ branch: "t/other", expected: before, to: after }];
    expect(await moveWithWorktrees(repository, moves, seen)).toEqual([true]);
    expect(status(temp.root)).toBe("");
    expect(existsSync(join(temp.root, "compactions/turn-1"))).toBe(true);
  });

  it("whose branch moves while they switch to it end at its tip", async () => {
    const { after } = await rewoundBranch();
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const bin = join(temp.folder, "bin");
    const move = `"${real}" --git-dir="${temp.root}/.git" update-ref refs/heads/t/other ${after}`;
    const script = `"${real}" "$@"; code=$?; case " $* " in *" switch "*) ${move};; esac; exit $code`;
    writeText(join(bin, "git"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, "git"), 0o755);
    const slow = await openNativeStore({ ...temp, env: { ...temp.env, PATH: `${bin}:${temp.env["PATH"]}` } });
    await slow.useBranch("t/other");
    await slow.close();
    expect(await store.readBranch("t/other")).toBe(after);
    expect(status(temp.root)).toBe("");
  });

  it("show a branch that is also active, sparse unless asked for in full", async () => {
    const worktree = await add();
    const gitDir = join(temp.root, ".git", "worktrees", "checkout");
    expect(worktree).toEqual({ path: dir, branch: "t/main", gitDir, commit: null });
    expect(
      ["conversation.json", "compactions/c1", "turns", "sources"].map((path) => existsSync(join(dir, path))),
    ).toEqual([true, true, false, false]);
    const full = await store.worktrees?.add(join(temp.folder, "full"), "t/main", { full: true });
    expect(readFileSync(join(full?.path ?? "", "turns/0000/000000.jsonl"), "utf8")).toBe("0");
    expect([status(dir), status(full?.path ?? ""), status(temp.root)]).toEqual(["", "", ""]);
    expect((await store.worktrees?.list())?.map(({ path, branch }) => [path, branch])).toEqual([
      [temp.root, "t/main"],
      [dir, "t/main"],
      [join(temp.folder, "full"), "t/main"],
    ]);
  });

  it("are added again after their folder was deleted by hand, and not over other files", async () => {
    await add();
    rmSync(dir, { recursive: true });
    expect(await store.worktrees?.list()).toHaveLength(1);
    await add();
    expect(status(dir)).toBe("");
    writeText(join(temp.folder, "taken", "file"), "x");
    await expect(store.worktrees?.add(join(temp.folder, "taken"), "t/main", { full: false })).rejects.toMatchObject({
      code: "git_failed",
      message: expect.stringContaining("already exists"),
    });
    await expect(store.worktrees?.add(join(temp.folder, "x"), "t/none", { full: false })).rejects.toMatchObject({
      kind: "repository",
    });
  });

  it("do not matter when their folder is gone", async () => {
    await add();
    rmSync(dir, { recursive: true });
    expect((await append(store, "t/main", [turn(1)])).moved).toBe(true);
  });
});

describe("a branch that is checked out", () => {
  it("is advanced everywhere when it moves", async () => {
    await add();
    await append(store, "t/main", [turn(1), turn(2)]);
    for (const place of [temp.root, dir]) {
      expect(status(place)).toBe("");
      expect(readFileSync(join(place, "compactions/turn-2"), "utf8")).toBe("2");
    }
    await append(store, "t/main", [commit("less", [{ path: "compactions/turn-1", remove: true }])]);
    expect([existsSync(join(dir, "compactions/turn-1")), status(dir), status(temp.root)]).toEqual([false, "", ""]);
  });

  it("is advanced when its tip is replaced", async () => {
    const full = await add(true);
    const tip = (await append(store, "t/main", [turn(1)])).commit;
    const parent = await store.resolveCommit("t/main~1");
    await store.write([
      {
        branch: "t/main",
        expected: tip,
        parent,
        commits: [commit("turn 1 again", [file("turns/0000/000001.jsonl", "more")])],
      },
    ]);
    expect(readFileSync(join(full.path, "turns/0000/000001.jsonl"), "utf8")).toBe("more");
    expect([status(dir), status(temp.root)]).toEqual(["", ""]);
  });

  it("is advanced from no commit at all", async () => {
    git(temp.root, temp.env, ["symbolic-ref", "HEAD", "refs/heads/n/main"]);
    git(temp.root, temp.env, ["read-tree", "-u", "--reset", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"]);
    await append(store, "n/main", [turn(0)]);
    expect([status(temp.root), existsSync(join(temp.root, "compactions/turn-0"))]).toEqual(["", true]);
  });

  it("keeps local changes that are not in the way, also files that were only touched", async () => {
    await add();
    writeText(join(dir, "conversation.json"), "edited");
    writeText(join(dir, "notes.txt"), "mine");
    await append(store, "t/main", [turn(1)]);
    expect(status(dir)).toBe(" M conversation.json\n?? notes.txt");
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(dir, "compactions/c1"), later, later);
    await append(store, "t/main", [commit("change", [file("compactions/c1", "2")])]);
    expect(readFileSync(join(dir, "compactions/c1"), "utf8")).toBe("2");
  });

  it("does not move when an untracked or changed file would be overwritten, and nothing else is done", async () => {
    await add();
    const tip = await store.readBranch("t/main");
    writeText(join(dir, "compactions/turn-1"), "mine");
    const error = await append(store, "t/main", [turn(1)]).catch((caught: unknown) => caught);
    expect(error).toMatchObject(refused(dir, ["compactions/turn-1"]));
    expect((error as Error).message).toContain(dir);
    expect((error as { hints: string[] }).hints[0]).toBe(`To see them: git -C ${dir} status`);
    expect(await store.readBranch("t/main")).toBe(tip);
    expect([status(temp.root), readFileSync(join(dir, "compactions/turn-1"), "utf8")]).toEqual(["", "mine"]);

    writeText(join(temp.root, "compactions/c1"), "edited");
    await expect(append(store, "t/main", [commit("change", [file("compactions/c1", "2")])])).rejects.toMatchObject(
      refused(temp.root, ["compactions/c1"]),
    );
    expect(existsSync(join(temp.root, ".git", "jpg-advance.lock"))).toBe(false);
  });

  it("does not move while git sees a conflict in the index, or an entry where a new file would be", async () => {
    const tip = await store.readBranch("t/main");
    const left = (): boolean[] =>
      ["jpg-step.json", "refs/heads/t/main.lock", "HEAD.lock"].map((name) => existsSync(join(temp.root, ".git", name)));
    const blob = run(temp.root, "hash-object", "-w", "-t", "blob", "/dev/null");
    const conflict = [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\tconversation.json\n`).join("");
    git(temp.root, temp.env, ["update-index", "--index-info"], conflict);
    await expect(append(store, "t/main", [turn(1)])).rejects.toMatchObject({ code: "worktree_in_the_way" });
    expect([await store.readBranch("t/main"), left()]).toEqual([tip, [false, false, false]]);
    run(temp.root, "reset", "--quiet");
    run(temp.root, "update-index", "--add", "--cacheinfo", `100644,${blob},compactions/turn-1`);
    await expect(append(store, "t/main", [turn(1)])).rejects.toMatchObject(refused(temp.root, ["compactions/turn-1"]));
    expect([await store.readBranch("t/main"), left()]).toEqual([tip, [false, false, false]]);
    run(temp.root, "reset", "--quiet");
    expect((await append(store, "t/main", [turn(1)])).moved).toBe(true);
    expect(status(temp.root)).toBe("");
  });

  it("does not move if a link is on the way to a new file", async () => {
    const elsewhere = join(temp.folder, "elsewhere");
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(temp.root, "meta"));
    const change = commit("m", [file("meta/m", "m")]);
    await expect(append(store, "t/main", [change])).rejects.toMatchObject({ code: "worktree_in_the_way" });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("does not move while a merge or revert is unfinished there", async () => {
    await add();
    await append(store, "t/main", [commit("change", [file("compactions/c1", "2")])]);
    await store.createBranch("t/side", (await store.resolveCommit("t/main~1")) ?? "");
    await append(store, "t/side", [commit("other change", [file("compactions/c1", "3")])]);
    expect(() => run(dir, "merge", "t/side")).toThrow();
    const tip = await store.readBranch("t/main");
    await expect(append(store, "t/main", [turn(1)])).rejects.toMatchObject({
      code: "worktree_in_the_way",
      message: expect.stringContaining("unfinished merge"),
      hints: [expect.any(String), `Or abort it: git -C ${dir} merge --abort`],
    });
    run(dir, "merge", "--abort");
    run(dir, "revert", "--no-commit", "HEAD");
    await expect(append(store, "t/main", [turn(1)])).rejects.toMatchObject({
      message: expect.stringContaining("unfinished revert"),
    });
    expect(await store.readBranch("t/main")).toBe(tip);
    run(dir, "revert", "--abort");
    expect((await append(store, "t/main", [turn(1)])).moved).toBe(true);
  });

  it("does not stop the other branches of a write from being refused whole", async () => {
    writeText(join(temp.root, "compactions/turn-1"), "mine");
    const tip = await store.readBranch("t/main");
    const writes = [
      { branch: "t/free", expected: null, parent: tip, commits: [turn(1)] },
      { branch: "t/main", expected: tip, parent: tip, commits: [turn(1)] },
    ];
    await expect(store.write(writes)).rejects.toMatchObject({ code: "worktree_in_the_way" });
    expect(await store.readBranch("t/free")).toBeNull();
  });

  it("takes all appends of several writers and stays clean", { tags: ["slow"] }, async () => {
    await add();
    const writers = await Promise.all([1, 2, 3].map(() => openNativeStore(temp)));
    await Promise.all(
      writers.map(async (writer, w) => {
        for (let n = 0; n < 8; n++) {
          const change = commit(`w${w} ${n}`, [
            file(`compactions/${w}-${n}`, "x"),
            file("turns/0000/000001.jsonl", `${w} ${n}`),
          ]);
          while (!(await append(writer, "t/main", [change])).moved);
        }
      }),
    );
    await Promise.all(writers.map((writer) => writer.close()));
    expect(await store.listTree("t/main", { under: ["compactions"] })).toHaveLength(25);
    expect([status(temp.root), status(dir)]).toEqual(["", ""]);
  });

  it("takes the lock of a writer that died before it had named itself, or while it took another's", {
    tags: ["slow"],
  }, async () => {
    const lock = join(temp.root, ".git", "jpg-advance.lock");
    const dead = await deadMark();
    writeText(lock, "");
    expect((await append(store, "t/main", [turn(1)])).moved).toBe(true);
    writeText(lock, JSON.stringify(dead));
    writeText(`${lock}.steal`, JSON.stringify(dead));
    expect((await append(store, "t/main", [turn(2)])).moved).toBe(true);
    expect(readdirSync(join(temp.root, ".git")).filter((name) => name.startsWith("jpg-advance"))).toEqual([]);
    expect(status(temp.root)).toBe("");
  });

  it("takes the lock of a writer that has ended and that nobody has waited for", async () => {
    const { pid, release } = await endUnreaped();
    try {
      const lock = join(temp.root, ".git", "jpg-advance.lock");
      writeText(lock, JSON.stringify({ ...(await deadMark()), pid }));
      expect((await append(store, "t/main", [turn(1)])).moved).toBe(true);
      expect(existsSync(lock)).toBe(false);
    } finally {
      release();
    }
  });

  it("takes the lock of a writer whose number another process has now", async () => {
    const lock = join(temp.root, ".git", "jpg-advance.lock");
    const mark = await markThisProcess();
    const started = /^\d+$/.test(mark.started) ? String(Number(mark.started) - 1) : "2020-01-01T00:00:00.000Z";
    writeText(lock, JSON.stringify({ ...mark, started }));
    expect((await append(store, "t/main", [turn(1)])).moved).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });
});

describe("stock git in a store", () => {
  it("reverts a compaction in the store's worktree, also after later turns", async () => {
    const compaction = await store.readBranch("t/main");
    await append(store, "t/main", [turn(1)]);
    run(temp.root, "revert", "--no-edit", compaction ?? "");
    expect([existsSync(join(temp.root, "compactions/c1")), status(temp.root)]).toEqual([false, ""]);
    expect((await store.listTree("t/main", { under: ["turns"] })).map(({ path }) => path)).toEqual([
      "turns/0000/000000.jsonl",
      "turns/0000/000001.jsonl",
    ]);
    await append(store, "t/main", [turn(2)]);
    expect(status(temp.root)).toBe("");
  });

  it("reverts in a linked worktree of the same branch, and advance updates the store's worktree", async () => {
    await add();
    const before = await store.readBranch("t/main");
    run(dir, "revert", "--no-edit", "HEAD");
    const after = (await store.readBranch("t/main")) ?? "";
    expect(status(temp.root)).not.toBe("");
    const [own] = (await store.worktrees?.list()) ?? [];
    if (own === undefined) throw new Error("no worktree");
    await store.worktrees?.advance(own, before, after);
    await store.worktrees?.advance(own, before, after);
    expect([status(temp.root), status(dir), existsSync(join(temp.root, "compactions/c1"))]).toEqual(["", "", false]);
  });

  it("is not overrun by useBranch: local changes in the way are named", async () => {
    await append(store, "t/other", [commit("o", [file("conversation.json", "other")])]);
    writeText(join(temp.root, "conversation.json"), "edited");
    await expect(store.useBranch("t/other")).rejects.toMatchObject(refused(temp.root, ["conversation.json"]));
    expect(await store.readActiveBranch()).toBe("t/main");
  });

  it("makes a branch active that is checked out elsewhere", async () => {
    await append(store, "t/other", [commit("o", [file("conversation.json", "other")])]);
    await store.worktrees?.add(dir, "t/other", { full: false });
    await store.useBranch("t/other");
    expect([await store.readActiveBranch(), status(temp.root), status(dir)]).toEqual(["t/other", "", ""]);
  });
});

/** Of a process that was never there. */
async function deadMark(): Promise<ProcessMark> {
  return { ...(await markThisProcess()), pid: 2 ** 22 - 1 };
}
