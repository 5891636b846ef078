import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isPlainConfig, parseSubsections } from "../../../src/store/git/guard.ts";
import {
  createTempFolder,
  createTempStore,
  git,
  type TempFolder,
  testEnvironment,
} from "../../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

describe("a config file that git need not be asked about", () => {
  it("is that of a store and of a stock clone", async () => {
    const store = await createTempStore();
    try {
      expect(isPlainConfig(readFileSync(join(store.root, ".git", "config"), "utf8"))).toBe(true);
      const clone = join(folder.path, "clone");
      git(folder.path, testEnvironment(folder.path), ["clone", "-q", store.root, clone]);
      expect(isPlainConfig(readFileSync(join(clone, ".git", "config"), "utf8"))).toBe(true);
    } finally {
      store.remove();
    }
  });

  it("holds names of branches as jpg and git write them", () => {
    expect(
      isPlainConfig('[branch "a/main"]\n\tmergeOptions = -Xfind-renames=100%\n[branch "\\"]x\\\\"]\n\tremote = o\n'),
    ).toBe(true);
    expect(isPlainConfig("")).toBe(true);
    expect(isPlainConfig("# [filter]\n\n[core]\n  bare\n")).toBe(true);
    // As `git maintenance register` writes it.
    expect(isPlainConfig("[maintenance]\n\tauto = false\n\tstrategy = incremental\n")).toBe(true);
  });

  it.each([
    ["another section", '[filter "x"]\n\tsmudge = a\n'],
    ["another name", "[core]\n\tsshCommand = a\n"],
    ["another subsection of diff", '[diff "x"]\n\ttextconv = a\n'],
    ["an included file", "[include]\n\tpath = x\n"],
    ["an included file, on a condition", '[includeIf "gitdir:x"]\n\tpath = x\n'],
    ["settings of the worktree", "[extensions]\n\tworktreeConfig = true\n"],
    ["a moved worktree", "[core]\n\tworktree = /x\n"],
    ["a section and a value in one line", "[core] pager = x\n"],
    ["a subsection with a dot, as old gits wrote it", "[filter.x]\n\tsmudge = a\n"],
    ["a value that goes on, and what follows seems a section", "[core]\n\tbare = a\\\n[user]\n\tname = x\n"],
    ["a value before any section", "bare = true\n"],
    ["a value that goes on, with carriage returns", "[core]\r\n\tbare = a\\\r\n[user]\r\n\tname = x\r\n"],
    ["a byte order mark", "\ufeff[core]\n\tbare = true\n"],
    ["a name after a branch", '[branch "x"]\n\tmergeOptions = -Xfind-renames=100%\n\tvcs = x\n'],
    ["a branch that looks like jpg's", '[branch "x"]\n\tmergeOptions = -Xfind-renames=100%\\\n[core]\n\tbare = true\n'],
    ["a carriage return within a line", "[core]\n\tbare = true\r\tpager = x\n"],
  ])("is not one with %s", (_what, text) => {
    expect(isPlainConfig(text)).toBe(false);
  });

  it("never holds a setting that git names and jpg does not know, however it is written", () => {
    // What git reads from such a file is among the plain names, or the file is not plain.
    const env = testEnvironment(folder.path);
    const pieces = [
      "[core]",
      '[remote "x"]',
      '[diff "jpg"]',
      '[branch "b"]',
      "\tvcs = v",
      "\turl = u",
      "\ttextconv = t",
      "\tbare = a\\",
      "\tname",
      "[user]",
    ];
    mkdirSync(join(folder.path, "r"));
    const plain = /^(core\.bare|remote\.x\.url|diff\.jpg\.textconv|user\.name)$/;
    let tried = 0;
    for (let seed = 0; seed < 4000 && tried < 40; seed++) {
      const text = [0, 1, 2, 3]
        .map((digit) => pieces[Math.floor((seed * 7919) / pieces.length ** digit) % pieces.length])
        .join("\n");
      if (!isPlainConfig(`${text}\n`)) continue;
      tried++;
      const path = join(folder.path, "r", "config");
      writeFileSync(path, `${text}\n`);
      const names = git(folder.path, env, ["config", "--file", path, "--list", "--name-only"]).split("\n");
      expect(names.filter((name) => name !== "" && !plain.test(name))).toEqual([]);
    }
    expect(tried).toBe(40);
  });
});

describe("the settings of subsections", () => {
  /** What git says of `[remote "…"]` in a config file. */
  const byGit = (text: string): unknown[] => {
    const path = join(folder.path, "config");
    writeFileSync(path, text);
    const env = testEnvironment(folder.path);
    const entries = git(folder.path, env, ["config", "--file", path, "-z", "--get-regexp", "^remote\\..*\\."]);
    return entries.split("\0").flatMap((entry) => {
      const [, subsection, key, value = ""] = /^remote\.([^\n]*)\.([a-z]+)(?:\n(.*))?$/s.exec(entry) ?? [];
      return subsection === undefined ? [] : [{ subsection, key, value }];
    });
  };

  it("are those that git reads, as jpg, git and people write them", () => {
    const texts = [
      '[remote "team"]\n\turl = /srv/a b.git\n\tfetch = +refs/heads/*:refs/remotes/team/*\n\ttagOpt = --no-tags\n',
      '[Remote "Te.am"]\n  URL=https://x.example/y?z=1  \n\n# url = no\n\tpushurl\t=\tone two\t\r\n[remote]\n[core]\n\tbare = true\n',
      '[remote "a\\\\b\\"c"]\n\turl = "quoted \\" and \\\\ back"\n\turl\n\turl = "# ; \t"\n[remote "team"]\n\turl = x\n[remote "team"]\n\turl = y\n',
      '[remote "q"]\n\turl = =\n\turl =\n\turl = ""\n[branch "remote"]\n\tremote = x\n',
    ];
    for (const text of texts) expect(parseSubsections(text, "remote")).toEqual(byGit(text));
    expect(parseSubsections(texts[3] ?? "", "branch")).toEqual([{ subsection: "remote", key: "remote", value: "x" }]);
  });

  it("are left to git where a value is not plain", () => {
    const values = ['a "b" c', "a # b", "a ; b", "a\tb", '"a" b', '"a', '"a\\tb"', '"a\\q"', "a\\\\b", "a\fb"];
    for (const value of values) expect(parseSubsections(`[remote "x"]\n\turl = ${value}\n`, "remote")).toBeNull();
    expect(parseSubsections('[remote "x"]\n\turl = x\n[include]\n\tpath = y\n', "remote")).toBeNull();
    expect(parseSubsections('[remote "x"]\n\turl = x\n\tvcs = y\n', "remote")).toBeNull();
    // Another section's values are none of it.
    expect(parseSubsections('[user]\n\tname = a "b"\n', "remote")).toEqual([]);
  });
});
