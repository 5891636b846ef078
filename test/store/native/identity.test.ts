import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStore } from "../../../src/store/native/create-store.ts";
import { ensureIdentity, readIdentity } from "../../../src/store/native/identity.ts";
import { openNativeStore } from "../../../src/store/native/native-store.ts";
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

describe("identity of a store", () => {
  it("is a fallback when git has none, so that a stock revert works", async () => {
    expect(await readIdentity(root, env)).toEqual({ name: "jpg", email: "jpg@localhost", maySign: false });
    const store = await openNativeStore({ root, env });
    await append(store, "t/main", [commit("a", [file("a", "1")]), commit("b", [file("compactions/b", "1")])]);
    await store.useBranch("t/main");
    await store.close();
    git(root, env, ["revert", "--no-edit", "HEAD"]);
    expect(git(root, env, ["log", "-1", "--format=%an"])).toBe("jpg");
  });

  it("becomes the user's own as soon as there is one", async () => {
    setUser("[user]\n\tname = Ada\n\temail = ada@example.com\n");
    expect(await readIdentity(root, env)).toEqual({ name: "Ada", email: "ada@example.com", maySign: false });
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
    expect(await readIdentity(root, env)).toEqual({ name: "Work", email: "w@example.com", maySign: false });
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
    expect(await readIdentity(root, named)).toEqual({ name: gitName, email: gitEmail, maySign: false });
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
