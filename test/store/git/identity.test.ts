import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../../src/store/embedded/store.ts";
import { createStore } from "../../../src/store/git/create.ts";
import { ensureIdentity, readIdentity } from "../../../src/store/git/identity.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import {
  createTempFolder,
  git,
  type TempFolder,
  type TestEnvironment,
  writeText,
} from "../../helpers/temp-repository.ts";

let folder: TempFolder;
let env: TestEnvironment;
let root: string;
beforeEach(async () => {
  folder = createTempFolder();
  const home = join(folder.path, "home");
  mkdirSync(home);
  // No identity anywhere, and git may not guess one from the machine.
  env = { PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  writeText(join(home, ".gitconfig"), "[user]\n\tuseConfigOnly = true\n");
  root = join(folder.path, "store");
  await createStore(root, { env, nodePath: "/nonexistent/node", jpgPath: "/nonexistent/jpg.js" });
});
afterEach(() => folder.remove());

const setUser = (text: string): void => writeText(join(env["HOME"] ?? "", ".gitconfig"), text);
const config = (): string => readFileSync(join(root, ".git", "config"), "utf8");

const both = (name: string, email: string) => ({ name, email, committer: { name, email }, maySign: false });

describe("identity of a store", () => {
  it("is a fallback when git has none, so that a stock revert works", async () => {
    expect(await readIdentity(root, env)).toEqual(both("jpg", "jpg@localhost"));
    const store = await openNativeStore({ root, env });
    await append(store, "t/main", [commit("a", [file("a", "1")]), commit("b", [file("compactions/b", "1")])]);
    await store.useBranch("t/main");
    await store.close();
    git(root, env, ["revert", "--no-edit", "HEAD"]);
    expect(git(root, env, ["log", "-1", "--format=%an"])).toBe("jpg");
  });

  it("becomes the user's own as soon as there is one", async () => {
    setUser("[user]\n\tname = Ada\n\temail = ada@example.com\n");
    expect(await readIdentity(root, env)).toEqual(both("Ada", "ada@example.com"));
    expect(config()).not.toMatch(/jpg@localhost|fallbackIdentity/);
  });

  it("stays the fallback while the user has only half of one", async () => {
    setUser("[user]\n\tname = Ada\n\tuseConfigOnly = true\n");
    await ensureIdentity(root, env);
    expect(config()).toContain("jpg@localhost");
  });

  it("counts an identity that is included by condition", async () => {
    writeText(join(folder.path, "work.inc"), "[user]\n\tname = Work\n\temail = w@example.com\n");
    setUser(`[includeIf "gitdir:${root}/"]\n\tpath = ${join(folder.path, "work.inc")}\n`);
    expect(await readIdentity(root, env)).toEqual(both("Work", "w@example.com"));
  });

  it.each([
    ["Ada Test", "ada@example.com"],
    ["Ada T. O'Neill-Müller, Jr", "ada.t+jpg@mail.example.com"],
    ["李雷", "li_lei@localhost"],
    ["Ada.", "ada@example.com."],
    [" Ada ", "<ada@example.com>"],
    ["'Ada'", "ada"],
    ["A", "a\n@b"],
  ])("is what git makes of %j and %j in the environment", async (name, email) => {
    const named = { ...env, GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email };
    setUser("[user]\n\tname = Other\n\temail = other@example.com\n");
    const [, gitName, gitEmail] = /^(.*) <(.*)> /.exec(git(root, named, ["var", "GIT_AUTHOR_IDENT"])) ?? [];
    expect(await readIdentity(root, named)).toMatchObject({ name: gitName, email: gitEmail, maySign: false });
  });

  it.each(["true", "yes", "ON", "1", "2", "", "false", "no", "Off", "0", "nonsense"])(
    "signs nothing only where git would not, by gpgSign = %j",
    async (value) => {
      setUser(
        `[commit]\n\tgpgSign${value === "" ? "" : ` = ${value}`}\n[user]\n\tname = Ada\n\temail = ada@example.com\n`,
      );
      const none = ["false", "no", "Off", "0"].includes(value);
      if (value !== "nonsense") expect(git(root, env, ["config", "--type=bool", "commit.gpgSign"])).toBe(String(!none));
      expect((await readIdentity(root, env)).maySign).toBe(!none);
    },
  );

  it.each([
    ["the user's own", {}, 1],
    ["that of the environment", { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" }, 1],
    ["one that git shortens", { GIT_AUTHOR_NAME: "Ada." }, 2],
  ])("asks git as seldom as it can for %s", async (_, named, count) => {
    setUser("[user]\n\tname = Other\n\temail = other@example.com\n");
    await readIdentity(root, env);
    const trace = join(folder.path, "trace");
    mkdirSync(trace);
    await readIdentity(root, { ...env, ...named, GIT_TRACE2_EVENT: trace });
    expect(readdirSync(trace)).toHaveLength(count);
  });

  it("never touches an identity that the user wrote into the store", async () => {
    git(root, env, ["config", "--unset", "jpg.fallbackIdentity"]);
    git(root, env, ["config", "user.name", "Local"]);
    setUser("[user]\n\tname = Ada\n\temail = ada@example.com\n");
    await ensureIdentity(root, env);
    expect(git(root, env, ["config", "user.name"])).toBe("Local");
  });
});

describe("identity of a project's store", () => {
  let project: string;
  let store: string;
  const include = (name: string): string => {
    writeText(join(folder.path, `${name}.inc`), `[user]\n\temail = ${name}@example.com\n`);
    return join(folder.path, `${name}.inc`);
  };
  const setConfig = (key: string, value: string, ...scope: string[]): string =>
    git(project, env, ["config", ...scope, key, value]);
  beforeEach(async () => {
    setUser("[user]\n\tname = Ada\n\temail = ada@home.example\n");
    project = join(folder.path, "work", "Project");
    mkdirSync(project, { recursive: true });
    git(project, env, ["init", "-q", "-b", "work/trunk"]);
    git(project, env, ["remote", "add", "origin", "https://git.work.example/team/x.git"]);
    store = join(project, ".git", "jpg");
    await createStore(store, { env, nodePath: "/nonexistent/node", jpgPath: "/nonexistent/jpg.js" });
  });

  /** Whom git names in a folder. */
  const gitNames = (cwd: string, environment: TestEnvironment = env) => {
    const [author, committer] = ["AUTHOR", "COMMITTER"].map((role) => {
      const [, name, email] = /^(.*) <(.*)> /.exec(git(cwd, environment, ["var", `GIT_${role}_IDENT`])) ?? [];
      return { name, email };
    });
    return { ...author, committer };
  };
  /** What both engines take, from a folder. */
  const jpgNames = async (cwd: string, environment: TestEnvironment = env) => {
    const now = () => new Date();
    const engines = [
      await openEmbeddedStore({ root: store, env: environment, cwd, now }),
      await openNativeStore({ root: store, env: environment, cwd }),
      // The store has what stock git is to use by now: that changes nothing.
      await openEmbeddedStore({ root: store, env: environment, cwd, now }),
      await openNativeStore({ root: store, env: environment, cwd }),
    ];
    const names = [];
    for (const engine of engines) names.push(await engine.identity());
    for (const engine of engines) await engine.close();
    return names.map(({ maySign: _, ...name }) => name);
  };
  const four = <Value>(value: Value): readonly Value[] => [value, value, value, value];

  it.each<readonly [string, () => void]>([
    ["as elsewhere", () => undefined],
    ["by its own settings", () => [setConfig("user.name", "A. Work"), setConfig("user.email", "ada@work.example")]],
    ["by half of its own", () => setConfig("user.email", "ada@work.example")],
    ["by what it includes", () => setConfig("include.path", `../../../${include("a").split("/").at(-1)}`)],
    [
      "by author and committer",
      () => [setConfig("author.email", "a@x.example"), setConfig("committer.email", "c@x.example")],
    ],
    ["by its git dir", () => setConfig(`includeIf.gitdir:${project}/.git.path`, include("a"), "--global")],
    ["by a folder above", () => setConfig(`includeIf.gitdir:${folder.path}/work/.path`, include("a"), "--global")],
    ["by a folder somewhere", () => setConfig("includeIf.gitdir:work/*/.path", include("a"), "--global")],
    ["by a folder in any case", () => setConfig("includeIf.gitdir/i:WORK/project/.path", include("a"), "--global")],
    [
      "not by a folder in another case",
      () => setConfig("includeIf.gitdir:WORK/project/.path", include("a"), "--global"),
    ],
    ["by its branch", () => setConfig("includeIf.onbranch:work/.path", include("a"), "--global")],
    ["not by another branch", () => setConfig("includeIf.onbranch:work/*/x.path", include("a"), "--global")],
    [
      "by its remote",
      () => setConfig("includeIf.hasconfig:remote.*.url:https://git.work.example/**.path", include("a"), "--global"),
    ],
    [
      "not by another remote",
      () => setConfig("includeIf.hasconfig:remote.*.url:https://*.home.example/**.path", include("a"), "--global"),
    ],
    [
      "by the last of them",
      () => [
        setConfig("includeIf.onbranch:work/**.path", include("a"), "--global"),
        setConfig("includeIf.gitdir:**/Project/.git.path", include("b"), "--global"),
      ],
    ],
    ["not by the store's git dir", () => setConfig("includeIf.gitdir:**/jpg/.git.path", include("a"), "--global")],
  ])("is whom git names in the project, %s", async (_, set) => {
    set();
    expect(await jpgNames(project)).toEqual(four(gitNames(project)));
  });

  it.each<readonly [string, TestEnvironment]>([
    ["both", { GIT_AUTHOR_NAME: "E", GIT_AUTHOR_EMAIL: "e@x.example", GIT_COMMITTER_EMAIL: "c@x.example" }],
    ["the author", { GIT_AUTHOR_EMAIL: "e@x.example" }],
    ["an address", { EMAIL: "mail@x.example" }],
  ])("is whom the environment names: %s", async (_, more) => {
    setUser("[user]\n\tname = Ada\n");
    if (!("EMAIL" in more)) setConfig("user.email", "ada@work.example");
    const environment = { ...env, ...more };
    expect(await jpgNames(project, environment)).toEqual(four(gitNames(project, environment)));
  });

  it("is that of the worktree that jpg is started in", async () => {
    git(project, env, ["commit", "-q", "--allow-empty", "-m", "x"]);
    const worktree = join(folder.path, "wt");
    git(project, env, ["worktree", "add", "-q", worktree, "-b", "other"]);
    setConfig("extensions.worktreeConfig", "true");
    git(worktree, env, ["config", "--worktree", "user.email", "wt@work.example"]);
    mkdirSync(join(worktree, "src"));
    expect(await jpgNames(join(worktree, "src"))).toEqual(four(gitNames(worktree)));
    expect(await jpgNames(project)).toEqual(four(gitNames(project)));
    expect(await jpgNames(folder.path)).toEqual(four(gitNames(project)));
  });

  it("is stock git's in the store, too, follows the project, and goes when the project says nothing", async () => {
    const before = readFileSync(join(store, ".git", "config"), "utf8");
    const inStore = () => git(store, env, ["config", "user.email"]);
    for (const email of ["ada@work.example", "ada@other.example"]) {
      setConfig("user.email", email);
      await readIdentity(store, env, project);
      expect(inStore()).toBe(email);
    }
    git(project, env, ["config", "--unset", "user.email"]);
    await readIdentity(store, env, project);
    expect(inStore()).toBe("ada@home.example");
    expect(readFileSync(join(store, ".git", "config"), "utf8").replace(/\[\w+\]\n(?=\[|$)/g, "")).toBe(before);
  });

  it("is in a store from the start, in place of the fallback", async () => {
    setUser("[user]\n\tuseConfigOnly = true\n");
    const [name, email] = [setConfig("user.name", "Ada"), setConfig("user.email", "ada@work.example")];
    expect([name, email]).toEqual(["", ""]);
    const other = join(project, ".git", "modules", "x", "jpg");
    git(project, env, ["init", "-q", "--bare", join(project, ".git", "modules", "x")]);
    await createStore(other, { env, nodePath: "/nonexistent/node", jpgPath: "/nonexistent/jpg.js" });
    expect(git(other, env, ["config", "user.email"])).toBe("jpg@localhost");
    git(join(project, ".git", "modules", "x"), env, ["config", "user.name", "Mod"]);
    git(join(project, ".git", "modules", "x"), env, ["config", "user.email", "mod@work.example"]);
    expect(await readIdentity(other, env)).toEqual(both("Mod", "mod@work.example"));
    expect(git(other, env, ["config", "--get-all", "user.email"])).toBe("mod@work.example");
    await readIdentity(store, env, project);
    expect(git(store, env, ["var", "GIT_AUTHOR_IDENT"])).toContain("ada@work.example");
  });

  it("is what the user wrote into the store, before what the project says", async () => {
    setConfig("user.email", "ada@work.example");
    await readIdentity(store, env, project);
    git(store, env, ["config", "user.email", "store@x.example"]);
    const [embedded, native] = await jpgNames(project);
    expect([embedded?.email, native?.email]).toEqual(["store@x.example", "store@x.example"]);
    expect(git(store, env, ["config", "--local", "--get-all", "user.email"])).toBe("store@x.example");
  });
});
