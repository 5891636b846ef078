import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStore } from "../../../src/store/git/create.ts";
import { locateStore } from "../../../src/store/git/locate.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { StoreLocation } from "../../../src/store/store.ts";
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
let project: string;
let userDataDir: string;
beforeEach(() => {
  folder = createTempFolder();
  env = testEnvironment(join(folder.path, "home"), { GIT_CEILING_DIRECTORIES: folder.path });
  mkdirSync(join(folder.path, "home"));
  project = join(folder.path, "project");
  userDataDir = join(folder.path, "data", "jpg");
  git(folder.path, env, ["init", "-q", project]);
  git(project, env, ["commit", "-q", "--allow-empty", "-m", "code"]);
});
afterEach(() => folder.remove());

interface Place {
  store?: string;
  env?: TestEnvironment;
  git?: boolean;
}

const locate = (cwd: string, more: Place = {}): Promise<StoreLocation> => {
  mkdirSync(cwd, { recursive: true });
  return locateStore({ cwd, userDataDir, ...more, env: more.env ?? env });
};

async function makeStore(root: string, withConversation = false): Promise<void> {
  await createStore(root, { env, ...PROGRAMS });
  if (!withConversation) return;
  const store = await openNativeStore({ root, env });
  await append(store, "t/main", [commit("a", [file("conversation.json", '{"format":1,"id":"t"}')])]);
  await store.useBranch("t/main");
  await store.close();
}

describe("the store of a project", () => {
  it("is in the project's git dir, from any folder of it", async () => {
    const store = join(project, ".git", "jpg");
    const expected = {
      root: store,
      kind: "project",
      exists: false,
      project: { root: project, commonDir: join(project, ".git") },
    };
    expect(await locate(project)).toEqual(expected);
    expect(await locate(join(project, "src", "deep"))).toEqual(expected);
    await makeStore(store);
    expect(await locate(join(project, "src"))).toEqual({ ...expected, exists: true });
  });

  it("is shared by the project's linked worktrees", async () => {
    const linked = join(folder.path, "linked");
    git(project, env, ["worktree", "add", "-q", linked]);
    expect(await locate(join(linked, "sub"))).toEqual({
      root: join(project, ".git", "jpg"),
      kind: "project",
      exists: false,
      project: { root: linked, commonDir: join(project, ".git") },
    });
  });

  it("is a submodule's own inside a submodule", async () => {
    const library = join(folder.path, "library");
    git(folder.path, env, ["init", "-q", library]);
    git(library, env, ["commit", "-q", "--allow-empty", "-m", "lib"]);
    git(project, env, ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib"]);
    const commonDir = join(project, ".git", "modules", "lib");
    expect(await locate(join(project, "lib", "x"))).toMatchObject({
      root: join(commonDir, "jpg"),
      project: { root: join(project, "lib"), commonDir },
    });
    await makeStore(join(commonDir, "jpg"));
    expect(git(join(project, "lib"), env, ["status", "--porcelain", "--ignored"])).toBe("");
  });

  it("works in bare and in SHA-256 projects", async () => {
    const bare = join(folder.path, "bare.git");
    git(folder.path, env, ["init", "-q", "--bare", bare]);
    expect(await locate(bare)).toMatchObject({
      root: join(bare, "jpg"),
      kind: "project",
      project: { root: bare, commonDir: bare },
    });
    await makeStore(join(bare, "jpg"), true);
    expect(await locate(bare)).toMatchObject({ root: join(bare, "jpg"), exists: true });

    const other = join(folder.path, "sha256");
    git(folder.path, env, ["init", "-q", "--object-format=sha256", other]);
    await makeStore(join(other, ".git", "jpg"), true);
    expect(await locate(other)).toMatchObject({ root: join(other, ".git", "jpg"), exists: true });
    expect(git(join(other, ".git", "jpg"), env, ["rev-parse", "HEAD"])).toHaveLength(40);
  });

  it("does not depend on what an enclosing hook left in the environment", async () => {
    const elsewhere = join(folder.path, "elsewhere");
    git(folder.path, env, ["init", "-q", elsewhere]);
    const hookEnv = {
      ...env,
      GIT_DIR: join(elsewhere, ".git"),
      GIT_WORK_TREE: elsewhere,
      GIT_COMMON_DIR: join(elsewhere, ".git"),
    };
    expect(await locate(project, { env: hookEnv })).toMatchObject({ root: join(project, ".git", "jpg") });
  });

  it("stays out of the project's way", async () => {
    await makeStore(join(project, ".git", "jpg"), true);
    expect(git(project, env, ["status", "--porcelain", "--ignored"])).toBe("");
    expect(git(project, env, ["for-each-ref", "--format=%(refname)"])).toBe("refs/heads/master");
    git(project, env, ["clean", "-q", "-ffdx"]);
    expect(await locate(project)).toMatchObject({ exists: true });
  });
});

describe("the store around the current directory", () => {
  it("is found from its root, its worktrees and its git dir, with the project around it", async () => {
    const root = join(project, ".git", "jpg");
    await makeStore(root, true);
    const expected = { root, kind: "here", exists: true, project: { root: project, commonDir: join(project, ".git") } };
    expect(await locate(root)).toEqual(expected);
    expect(await locate(join(root, ".git"))).toEqual(expected);
    const linked = join(folder.path, "checkout");
    const store = await openNativeStore({ root, env });
    await store.worktrees?.add(linked, "t/main", { full: false });
    await store.close();
    expect(await locate(join(linked, "compactions"))).toEqual(expected);
  });

  it("is a standalone repository, also a stock clone that has none of jpg's settings", async () => {
    const root = join(folder.path, "talks");
    await makeStore(root, true);
    expect(await locate(root)).toEqual({ root, kind: "here", exists: true });
    const clone = join(folder.path, "clone");
    git(folder.path, env, ["clone", "-q", "-b", "t/main", root, clone]);
    expect(await locate(clone)).toEqual({ root: clone, kind: "here", exists: true });
  });

  it("is found without git where its objects are its own; elsewhere git is needed", async () => {
    const root = join(folder.path, "talks");
    await makeStore(root, true);
    git(root, env, ["config", "uploadpack.allowFilter", "true"]);
    const clone = (name: string, ...options: string[]): string => {
      const place = join(folder.path, name);
      git(folder.path, env, ["clone", "-q", "-b", "t/main", ...options, root, place]);
      return place;
    };
    const { GIT_CEILING_DIRECTORIES: _, ...open } = env;
    const without = { env: open, git: false };
    const plain = clone("clone");
    expect(await locate(plain, without)).toEqual({ root: plain, kind: "here", exists: true });
    const needsGit = { code: "needs_git", message: expect.stringMatching(/^Telling whether .* holds conversations/) };
    const shared = clone("shared", "--shared");
    for (const place of [shared, clone("partial", "--filter=blob:none", "--no-checkout", "--no-local")]) {
      await expect(locate(place, without)).rejects.toMatchObject(needsGit);
      await expect(locate(project, { ...without, store: place })).rejects.toMatchObject(needsGit);
    }
    expect(await locate(shared)).toMatchObject({ root: shared, exists: true });
  });

  it("is not a project that happens to have a file of that name", async () => {
    writeText(join(project, "conversation.json"), '{"messages":[]}');
    git(project, env, ["add", "."]);
    git(project, env, ["commit", "-q", "-m", "x"]);
    expect((await locate(project)).kind).toBe("project");
  });
});

describe("other stores", () => {
  it("outside any repository is the user's", async () => {
    const outside = join(folder.path, "home", "x");
    expect(await locate(outside)).toEqual({ root: join(userDataDir, "store"), kind: "user", exists: false });
    await makeStore(join(userDataDir, "store"));
    expect(await locate(outside)).toMatchObject({ exists: true });
  });

  it("are named by --store before JPG_STORE before the surroundings, relative to the current folder", async () => {
    await makeStore(join(folder.path, "a"));
    const named = { ...env, JPG_STORE: "../b" };
    const around = { project: { root: project, commonDir: join(project, ".git") } };
    expect(await locate(project, { store: "../a", env: named })).toEqual({
      root: join(folder.path, "a"),
      kind: "flag",
      exists: true,
      ...around,
    });
    expect(await locate(project, { env: named })).toEqual({
      root: join(folder.path, "b"),
      kind: "env",
      exists: false,
      ...around,
    });
    expect((await locate(project, { env: { ...env, JPG_STORE: "" } })).kind).toBe("project");
  });

  it("named by a linked worktree or git dir of a store is that store", async () => {
    const root = join(folder.path, "talks");
    await makeStore(root, true);
    const store = await openNativeStore({ root, env });
    await store.worktrees?.add(join(folder.path, "wt"), "t/main", { full: true });
    await store.close();
    expect(await locate(folder.path, { store: "wt" })).toMatchObject({ root, exists: true });
    expect(await locate(folder.path, { store: "talks/.git" })).toMatchObject({ root, exists: true });
  });

  it("are never a repository of something else", async () => {
    await expect(locate(folder.path, { store: "project" })).rejects.toMatchObject({
      kind: "user",
      code: "not_a_store",
      hints: [expect.any(String), expect.any(String)],
    });
  });
});
