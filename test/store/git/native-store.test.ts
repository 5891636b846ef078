import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startMaintenance } from "../../../src/store/git/maintain.ts";
import { configureBranches } from "../../../src/store/git/refs.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { CommitSpec } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import {
  createTempStore,
  git,
  type TempStore,
  type TestEnvironment,
  writeText,
} from "../../helpers/temp-repository.ts";

let temp: TempStore;
let log: string;
/** An environment whose git writes down what it is asked. */
let watched: TestEnvironment;
beforeEach(async () => {
  temp = await createTempStore();
  log = join(temp.folder, "git.log");
  const program = join(temp.folder, "bin", "git");
  // Maintenance is written down and not done: it would still be at work when the test has ended.
  const run = `case "$*" in *" maintenance "*) exit ;; esac\nPATH=\${PATH#*:} exec git "$@"`;
  writeText(program, `#!/bin/sh\necho "$*" >> '${log}'\n${run}\n`);
  chmodSync(program, 0o755);
  watched = { ...temp.env, PATH: `${join(temp.folder, "bin")}:${temp.env["PATH"] ?? ""}` };
});
afterEach(() => temp.remove());

/** The git commands run so far, by name. */
function commands(): string[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").trim().split("\n");
  return lines.map(
    (line) => line.split(" ").find((word, i, all) => !word.startsWith("-") && all[i - 1] !== "-c") ?? "",
  );
}

function turns(count: number): CommitSpec[] {
  return Array.from({ length: count }, (_, n) =>
    commit(`turn ${n}`, [file(`turns/${String(Math.floor(n / 100)).padStart(4, "0")}/${n}`, `${n}`)], n),
  );
}

describe("processes", () => {
  it("are not started by opening, nor by reading one branch", async () => {
    const store = await openNativeStore({ root: temp.root, env: watched });
    expect([await store.readActiveBranch(), await store.readBranch("t/main")]).toEqual(["main", null]);
    expect(await store.worktrees?.list()).toHaveLength(1);
    await store.close();
    expect(commands()).toEqual([]);
  });

  it("are two for an append, however long the conversation is, and those of the worktree when it is active", async () => {
    const store = await openNativeStore({ root: temp.root, env: watched });
    await append(store, "t/main", turns(1500));
    const before = commands().length;
    await append(store, "t/main", [commit("next", [file("turns/0015/1500", "x")])]);
    expect(commands().slice(before)).toEqual(["fast-import", "update-ref"]);
    await store.useBranch("t/main");
    const active = commands().length;
    await append(store, "t/main", [commit("next", [file("turns/0015/1501", "x")])]);
    expect(commands().slice(active)).toEqual(["fast-import", "read-tree", "update-ref", "read-tree"]);
    await store.close();
  });

  it("move branches to commits which are there, and do nothing else", async () => {
    const store = await openNativeStore({ root: temp.root, env: watched });
    const { commit: tip } = await append(store, "t/main", turns(2));
    await store.write([{ branch: "u/main", expected: null, parent: tip, commits: [] }]);
    const before = commands().length;
    const written = await append(store, "t/main", turns(1));
    await store.write([{ branch: "u/main", expected: tip, parent: written.commit, commits: [] }]);
    expect(commands().slice(before)).toEqual(["fast-import", "update-ref", "update-ref"]);
    expect(await store.readBranch("u/main")).toBe(written.commit);
    await store.close();
  });

  it("are one for any number of reads", async () => {
    const store = await openNativeStore({ root: temp.root, env: watched });
    const { commit: tip } = await append(store, "t/main", turns(250));
    const before = commands().length;
    const files = await store.listTree(tip);
    let read = 0;
    for await (const bytes of store.readBlobs(files.map(({ oid }) => oid))) read += bytes.length > 0 ? 1 : 0;
    await store.readEntries(tip, ["turns/0001/150", "turns/0002"]);
    expect([read, await store.resolveCommit("t/main")]).toEqual([250, tip]);
    // Ids are read from git's files; git is asked what a name resolves to.
    expect(commands().slice(before)).toEqual(["rev-parse"]);
    await store.close();
  });

  it("are started in the background for maintenance, where `maintenance.auto` does not forbid it", async () => {
    const env = { ...watched, GIT_CONFIG_SYSTEM: "/dev/null" };
    const repository = { gitDir: join(temp.root, ".git"), cwd: temp.root, env };
    git(temp.root, temp.env, ["config", "maintenance.auto", "off"]);
    await startMaintenance(repository);
    git(temp.root, temp.env, ["config", "--unset", "maintenance.auto"]);
    // A file that the user's settings include counts, as for git.
    writeText(join(temp.folder, "home/more"), "[maintenance]\n\tauto = false\n");
    writeText(join(temp.folder, "home/.gitconfig"), "[include]\n\tpath = more\n");
    await startMaintenance(repository);
    writeText(join(temp.folder, "home/more"), "[maintenance]\n\tauto\n");
    await startMaintenance(repository);
    await expect.poll(commands).toEqual(["config", "config", "config", "maintenance"]);
    expect(readFileSync(log, "utf8").trim()).toMatch(
      / -c core.hooksPath=\/dev\/null .* -c gc.auto=6700 maintenance run --auto --quiet$/,
    );
    await startMaintenance({ ...repository, cwd: join(temp.folder, "gone") });
  });
});

describe("a native store", () => {
  it("is refused where there is none", async () => {
    await expect(openNativeStore({ root: temp.folder, env: temp.env })).rejects.toMatchObject({
      code: "store_missing",
      hints: ["`jpg init` makes one.", expect.any(String)],
    });
  });

  it("keeps small writes loose and makes one pack of a bulk write, and leaves nothing else behind", async () => {
    const store = await openNativeStore({ root: temp.root, env: temp.env });
    const packs = (): number =>
      readdirSync(join(temp.root, ".git", "objects", "pack")).filter((name) => name.endsWith(".pack")).length;
    await append(store, "t/main", turns(3));
    expect(packs()).toBe(0);
    await append(store, "u/main", turns(200));
    expect(packs()).toBe(1);
    await append(store, "v/main", [commit("bad", [{ path: "x", oid: "12".repeat(20) }])]).catch(() => undefined);
    expect(readdirSync(join(temp.root, ".git")).filter((name) => name.startsWith("fast_import_crash"))).toEqual([]);
    expect(git(temp.root, temp.env, ["for-each-ref", "--format=%(refname)"])).toBe(
      "refs/heads/t/main\nrefs/heads/u/main",
    );
    expect(git(temp.root, temp.env, ["fsck", "--no-dangling"])).toBe("");
    await store.close();
  });

  it("writes a reflog, so that nothing that was replaced is lost at once", async () => {
    const store = await openNativeStore({ root: temp.root, env: temp.env });
    await append(store, "t/main", turns(2));
    await append(store, "t/main", [commit("more", [file("x", "1")])]);
    await store.close();
    expect(git(temp.root, temp.env, ["reflog", "t/main"]).split("\n")).toHaveLength(2);
  });

  it("keeps backslashes in paths", async () => {
    const store = await openNativeStore({ root: temp.root, env: temp.env });
    await append(store, "t/main", [commit("odd", [file("back\\slash", "x")])]);
    expect((await store.listTree("t/main")).map(({ path }) => path)).toEqual(["back\\slash"]);
    await store.close();
  });
});

describe("merge options of branches", () => {
  it("are set for every branch that jpg makes, once", async () => {
    const store = await openNativeStore({ root: temp.root, env: temp.env });
    const { commit: tip } = await append(store, "t/main", turns(1));
    await append(store, "t/main", turns(2));
    await store.createBranch('t/odd"name', tip);
    await store.close();
    const options = (name: string): string =>
      git(temp.root, temp.env, ["config", "--get-all", `branch.${name}.mergeOptions`]);
    expect([options("t/main"), options('t/odd"name')]).toEqual(["-Xfind-renames=100%", "-Xfind-renames=100%"]);
  });

  it("are kept with what git knows about the branch, and not set in other repositories", async () => {
    git(temp.root, temp.env, ["config", "branch.t/x.remote", "origin"]);
    await configureBranches({ gitDir: join(temp.root, ".git") }, ["t/x", "t/x"]);
    expect(git(temp.root, temp.env, ["config", "--get-regexp", "^branch\\.t/x\\."])).toBe(
      "branch.t/x.remote origin\nbranch.t/x.mergeoptions -Xfind-renames=100%",
    );
    const other = join(temp.folder, "other");
    git(temp.folder, temp.env, ["init", "-q", other]);
    const before = readFileSync(join(other, ".git", "config"), "utf8");
    await configureBranches({ gitDir: join(other, ".git") }, ["t/x"]);
    expect(readFileSync(join(other, ".git", "config"), "utf8")).toBe(before);
  });
});
