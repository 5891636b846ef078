import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStore } from "../../../src/store/git/create.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { markThisProcess } from "../../../src/store/running-process.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import {
  createTempFolder,
  git,
  type TempFolder,
  type TestEnvironment,
  testEnvironment,
  writeText,
} from "../../helpers/temp-repository.ts";

const PROGRAMS = { nodePath: "/nonexistent/node", jpgPath: "/nonexistent/jpg.js" };

let folder: TempFolder;
let env: TestEnvironment;
let root: string;
beforeEach(() => {
  folder = createTempFolder();
  env = testEnvironment(join(folder.path, "home"));
  mkdirSync(join(folder.path, "home"));
  root = join(folder.path, "deep", "store");
});
afterEach(() => folder.remove());

const setting = (key: string): string => git(root, env, ["config", "--local", key]);

describe("createStore", () => {
  it("makes an ordinary repository with jpg's settings", async () => {
    await createStore(root, { env, ...PROGRAMS });
    const wanted = {
      "jpg.format": "1",
      "core.hooksPath": join(root, ".git", "hooks"),
      "core.autocrlf": "false",
      "core.logAllRefUpdates": "true",
      "gc.auto": "0",
      "merge.renames": "false",
      "core.sparseCheckout": "true",
      "core.sparseCheckoutCone": "true",
      "core.bare": "false",
    };
    expect(Object.fromEntries(Object.keys(wanted).map((key) => [key, setting(key)]))).toEqual(wanted);
    expect(git(root, env, ["symbolic-ref", "HEAD"])).toBe("refs/heads/main");
    expect(git(root, env, ["status", "--porcelain"])).toBe("");
  });

  it("makes one store for any number of callers at once", async () => {
    await Promise.all([1, 2, 3, 4].map(() => createStore(root, { env, ...PROGRAMS })));
    expect(setting("jpg.format")).toBe("1");
    expect(readFileSync(join(root, ".git", "info", "exclude"), "utf8")).toBe("/VIEW.md\n/view.jsonl\n");
    expect(readdirSync(join(root, ".git")).filter((name) => /jpg|lock/.test(name))).toEqual([]);
  });

  it("is finished by the next caller when its maker died", async () => {
    const mark = { ...(await markThisProcess()), pid: 2 ** 22 - 1 };
    writeText(join(root, ".git", "jpg-create.lock"), JSON.stringify(mark));
    await createStore(root, { env, ...PROGRAMS });
    expect(setting("jpg.format")).toBe("1");
    expect(existsSync(join(root, ".git", "jpg-create.lock"))).toBe(false);
  });

  it("changes nothing when run again, and follows programs that moved", async () => {
    await createStore(root, { env, ...PROGRAMS });
    const config = readFileSync(join(root, ".git", "config"), "utf8");
    const exclude = readFileSync(join(root, ".git", "info", "exclude"), "utf8");
    await createStore(root, { env, ...PROGRAMS });
    expect(readFileSync(join(root, ".git", "config"), "utf8")).toBe(config);
    expect(readFileSync(join(root, ".git", "info", "exclude"), "utf8")).toBe(exclude);
    await createStore(root, { env, nodePath: "/new/node", jpgPath: "/new/jpg.js" });
    expect(readFileSync(join(root, ".git", "hooks", "post-commit"), "utf8")).toContain("node='/new/node'");
  });

  it("completes a store that lost a setting", async () => {
    await createStore(root, { env, ...PROGRAMS });
    git(root, env, ["config", "--unset", "merge.renames"]);
    git(root, env, ["config", "gc.auto", "100"]);
    await createStore(root, { env, ...PROGRAMS });
    expect([setting("merge.renames"), setting("gc.auto")]).toEqual(["false", "0"]);
  });

  it("works with a git that splits the index by default, stock or jpg's, in a store made before, too", async () => {
    const home = testEnvironment(folder.path, { GIT_CONFIG_GLOBAL: join(folder.path, "gitconfig") });
    writeText(join(folder.path, "gitconfig"), "[core]\n\tsplitIndex = true\n");
    await createStore(root, { env: home, ...PROGRAMS });
    const store = await openNativeStore({ root, env: home });
    const write = (name: string): Promise<unknown> =>
      append(store, "t/main", [commit(name, [file("conversation.json", `{"format":1,"id":"${name}"}`)])]);
    try {
      await write("t");
      await store.useBranch("t/main");
      await write("u");
      git(root, home, ["revert", "--no-edit", "HEAD"]);
      git(root, home, ["config", "--unset", "core.splitIndex"]);
      await write("v");
      expect(git(root, env, ["status", "--porcelain"])).toBe("");
    } finally {
      await store.close();
    }
  });

  it("works with a git that writes HEAD as a link, stock or jpg's", async () => {
    const home = testEnvironment(folder.path, { GIT_CONFIG_GLOBAL: join(folder.path, "gitconfig") });
    writeText(join(folder.path, "gitconfig"), "[core]\n\tpreferSymlinkRefs = true\n");
    await createStore(root, { env: home, ...PROGRAMS });
    const store = await openNativeStore({ root, env: home });
    const head = join(root, ".git", "HEAD");
    try {
      for (const name of ["t/main", "u/main"])
        await append(store, name, [commit(name, [file("conversation.json", `{"format":1,"id":"${name}"}`)])]);
      await store.useBranch("t/main");
      expect([await store.readActiveBranch(), readFileSync(head, "utf8")]).toEqual([
        "t/main",
        "ref: refs/heads/t/main\n",
      ]);
      rmSync(head);
      symlinkSync("refs/heads/u/main", head);
      expect(await store.readActiveBranch()).toBe("u/main");
      git(root, home, ["pack-refs", "--all"]);
      expect(await store.readActiveBranch()).toBe("u/main");
    } finally {
      await store.close();
    }
  });

  it("is SHA-1 with refs in files whatever the user's defaults are", async () => {
    const other = {
      ...env,
      GIT_DEFAULT_HASH: "sha256",
      GIT_DEFAULT_REF_FORMAT: "reftable",
      GIT_TEMPLATE_DIR: folder.path,
    };
    writeText(join(folder.path, "hooks", "post-commit"), "#!/bin/sh\nexit 1\n");
    writeText(
      join(folder.path, "home", ".gitconfig"),
      "[init]\n\tdefaultBranch = trunk\n\tdefaultObjectFormat = sha256\n\tdefaultRefFormat = reftable\n\ttemplateDir = /nonexistent\n",
    );
    await createStore(root, { env: other, ...PROGRAMS });
    expect(git(root, env, ["rev-parse", "--show-object-format"])).toBe("sha1");
    expect(existsSync(join(root, ".git", "reftable"))).toBe(false);
    expect(readFileSync(join(root, ".git", "hooks", "post-commit"), "utf8")).toContain("hook post-commit");
    expect(git(root, env, ["symbolic-ref", "HEAD"])).toBe("refs/heads/main");
  });

  it("is not led to another repository by an enclosing hook's environment", async () => {
    const project = join(folder.path, "project");
    git(folder.path, env, ["init", "-q", project]);
    const hookEnv = {
      ...env,
      GIT_DIR: join(project, ".git"),
      GIT_WORK_TREE: project,
      GIT_INDEX_FILE: join(project, ".git", "index"),
      GIT_PREFIX: "",
    };
    await createStore(root, { env: hookEnv, ...PROGRAMS });
    const store = await openNativeStore({ root, env: hookEnv });
    await append(store, "t/main", [commit("a", [file("a", "1")])]);
    expect((await store.listBranches()).map(({ name }) => name)).toEqual(["t/main"]);
    expect(await store.readLog({ from: "t/main" })).toHaveLength(1);
    await store.useBranch("t/main");
    await append(store, "t/main", [commit("b", [file("b", "1")])]);
    await store.close();
    expect(git(project, env, ["for-each-ref"])).toBe("");
    expect(git(root, env, ["status", "--porcelain"])).toBe("");
    expect(existsSync(join(project, ".git", "index"))).toBe(false);
  });

  it("keeps views out of git and shows only what is small", async () => {
    await createStore(root, { env, ...PROGRAMS });
    const store = await openNativeStore({ root, env });
    await append(store, "t/main", [
      commit(
        "a",
        [
          "conversation.json",
          "turns/0000/000000.jsonl",
          "sources/s/0000/000000.jsonl",
          "compactions/c.jsonl",
          "config/c.jsonl",
          "meta/m.jsonl",
        ].map((path) => file(path, "{}")),
      ),
    ]);
    await store.useBranch("t/main");
    await store.close();
    for (const name of ["VIEW.md", "view.jsonl"]) writeText(join(root, name), "view");
    expect(git(root, env, ["status", "--porcelain"])).toBe("");
    const shown = ["conversation.json", "compactions/c.jsonl", "config/c.jsonl", "meta/m.jsonl", "turns", "sources"];
    expect(shown.filter((path) => existsSync(join(root, path)))).toEqual(shown.slice(0, 4));
  });

  it("works without HOME and without any git settings", async () => {
    const bare = { PATH: env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1" };
    await createStore(root, { env: bare, ...PROGRAMS });
    const store = await openNativeStore({ root, env: bare });
    expect((await append(store, "t/main", [commit("a", [file("a", "1")])])).moved).toBe(true);
    await store.useBranch("t/main");
    await store.close();
    expect(git(root, bare, ["revert", "--no-edit", "HEAD"])).toContain("Revert");
  });

  it("takes a repository that is empty or holds conversations, and refuses any other", async () => {
    git(folder.path, env, ["init", "-q", root]);
    await createStore(root, { env, ...PROGRAMS });
    expect(setting("jpg.format")).toBe("1");

    const store = await openNativeStore({ root, env });
    await append(store, "t/main", [commit("a", [file("conversation.json", '{"format":1,"id":"t"}')])]);
    await store.close();
    const clone = join(folder.path, "clone");
    git(folder.path, env, ["clone", "-q", "-b", "t/main", root, clone]);
    await createStore(clone, { env, ...PROGRAMS });
    expect(git(clone, env, ["config", "jpg.format"])).toBe("1");

    const project = join(folder.path, "project");
    git(folder.path, env, ["init", "-q", project]);
    git(project, env, ["commit", "-q", "--allow-empty", "-m", "code"]);
    await expect(createStore(project, { env, ...PROGRAMS })).rejects.toMatchObject({
      kind: "user",
      code: "not_a_store",
    });
    expect(existsSync(join(project, ".git", "info", "sparse-checkout"))).toBe(false);
  });

  it("says so when the place cannot be written", async () => {
    writeText(join(folder.path, "deep"), "a file in the way");
    await expect(createStore(root, { env, ...PROGRAMS })).rejects.toMatchObject({
      kind: "repository",
      code: "store_not_writable",
    });
  });
});

describe("hooks of a store", () => {
  it("call jpg by absolute path with what git says, whatever the path's characters", async () => {
    const jpgPath = join(folder.path, "it's a $(path)", "jpg.js");
    const log = join(folder.path, "log");
    writeText(jpgPath, `require("fs").appendFileSync(${JSON.stringify(log)}, process.argv.slice(2).join(" ") + "\\n")`);
    await createStore(root, { env, nodePath: process.execPath, jpgPath });
    const store = await openNativeStore({ root, env });
    await append(store, "t/main", [
      commit("a", [file("conversation.json", "{}")]),
      commit("b", [file("compactions/c", "{}\n")]),
    ]);
    await store.useBranch("t/main");
    await store.close();
    expect(existsSync(log)).toBe(false);
    git(root, env, ["revert", "--no-edit", "HEAD"]);
    git(root, env, ["switch", "-q", "-c", "t/other", "HEAD~1"]);
    git(root, env, ["merge", "-q", "t/main"]);
    const calls = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" ").slice(0, 2).join(" "));
    expect(calls).toEqual(["hook post-commit", "hook post-checkout", "hook post-merge"]);
  });

  it("do nothing, silently, when node or jpg is gone, and git show still works", async () => {
    await createStore(root, { env, ...PROGRAMS });
    const store = await openNativeStore({ root, env });
    await append(store, "t/main", [
      commit("a", [file(".gitattributes", "* -text\ncompactions/** diff=jpg\n")]),
      commit("b", [file("compactions/c", '{"type":"compaction"}\n')]),
    ]);
    await store.useBranch("t/main");
    await store.close();
    const hook = join(root, ".git", "hooks", "post-checkout");
    expect(statSync(hook).mode & 0o111).toBe(0o111);
    expect(readFileSync(hook, "utf8").trimEnd().split("\n")).toHaveLength(4);
    expect(execFileSync(hook, ["a", "b", "1"], { env, encoding: "utf8" })).toBe("");
    expect(git(root, env, ["show", "HEAD"])).toContain('+{"type":"compaction"}');
  });
});

describe("a store that may not be written", () => {
  it("is refused by name when written, and can be read", async () => {
    await createStore(root, { env, ...PROGRAMS });
    const writer = await openNativeStore({ root, env });
    await append(writer, "t/main", [commit("a", [file("a", "1")])]);
    await writer.close();
    execFileSync("chmod", ["-R", "a-w", root]);
    const reader = await openNativeStore({ root, env: asOtherUser() });
    await expect(append(reader, "t/main", [commit("b", [file("b", "1")])])).rejects.toMatchObject({
      kind: "repository",
      code: "store_not_writable",
    });
    expect((await reader.listTree("t/main")).map(({ path }) => path)).toEqual(["a"]);
    await reader.close();
    execFileSync("chmod", ["-R", "u+w", root]);
  });

  /** Root may write anything: then git runs as nobody, and moves the branch, for a setting that is included may name another user. */
  function asOtherUser(): TestEnvironment {
    if (process.getuid?.() !== 0) return env;
    writeText(join(folder.path, "home", ".gitconfig"), "[include]\n\tpath = more\n");
    execFileSync("chmod", ["-R", "a+rX", folder.path]);
    const bin = join(folder.path, "bin");
    const realGit = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    writeText(join(bin, "git"), `#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups ${realGit} "$@"\n`);
    chmodSync(join(bin, "git"), 0o755);
    chmodSync(bin, 0o755);
    return { ...env, PATH: `${bin}:${env["PATH"] ?? ""}` };
  }
});
