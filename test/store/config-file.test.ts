// @module-tag law
// Git's configuration files are read as git reads them, and what is written means the same to git.

import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFalse, isTrue, parseConfig, readSetting } from "../../src/store/config-file.ts";
import { formatConfig } from "../../src/store/git/porcelain.ts";
import { runs } from "../helpers/runs.ts";
import { createTempFolder, git, type TempFolder, testEnvironment, writeText } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeAll(() => {
  folder = createTempFolder();
});
afterAll(() => folder.remove());

function readByGit(text: string): { readonly name: string; readonly value: string }[] {
  const path = join(folder.path, "config");
  writeText(path, text);
  const output = git(folder.path, testEnvironment(folder.path), ["config", "--file", path, "--list", "-z"]);
  return output
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? { name: entry, value: "true" } : { name: entry.slice(0, end), value: entry.slice(end + 1) };
    });
}

describe("a configuration file", () => {
  it.each([
    '[core]\n\tbare = false\n[user]\n\tname = Ada "the" Test ; who\n\temail=ada@example.com#x\n',
    '[branch "a/Main"]\n\tmerge = refs/heads/a\n[Remote "o\\"r\\\\x"] url = "  two  words  " # c\n',
    "[core] bare\n[a]\n  key-1 = one \\\n  two\n; comment\n# [x]\n\n[gc]\nauto = 0\n",
    '\uFEFF[core]\r\n\tBare="fal"se\r\n[x] a =\n[Y]b\n',
    '[a]\n; ends in \\\nb = 1\nc = "C:\\\\"\nd = one \\\n\ne = "x # y" # z\n',
    '[diff "jpg"]\n\ttextconv = "\'/a b/c\'"\n\tn = "a\\nb\\tc"\n',
  ])("says what git says it says: %j", (text) => {
    expect(parseConfig(text)).toEqual(readByGit(text));
  });

  it.each([
    "true",
    "yes",
    "On",
    "1",
    "2",
    "-1",
    "0x1",
    "1k",
    '"tr"ue',
    "false",
    "no",
    "OFF",
    "0",
    "",
    "00",
    "0x0",
    "0k",
    '"no" # c',
  ])("takes %j for what git takes it for", (written) => {
    const text = `[core]\n\tbare = ${written}\n`;
    readByGit(text);
    const path = join(folder.path, "config");
    const said = git(folder.path, testEnvironment(folder.path), ["config", "--file", path, "--type=bool", "core.bare"]);
    const value = readSetting(text, "core.bare");
    expect({ yes: isTrue(value), no: isFalse(value) }).toEqual({ yes: said === "true", no: said === "false" });
  });

  it("gives the last value of a setting", () => {
    expect(readSetting("[a]\nb = 1\n[a]\nb = 2\n", "a.b")).toBe("2");
    expect(readSetting("[a]\nb = 1\n", "a.c")).toBeUndefined();
  });

  it("means to git what was formatted, whatever is in it", () => {
    const value = fc.string({ maxLength: 12 }).filter((text) => !/[\0\r\u0008]/.test(text));
    const settings = fc.dictionary(fc.constantFrom("core.bare", "user.name", 'diff.a "b.textconv', "jpg.x-1"), value);
    fc.assert(
      fc.property(settings, (entries) => {
        const text = formatConfig(new Map(Object.entries(entries)));
        const expected = Object.entries(entries).map(([name, content]) => ({ name, value: content }));
        const sort = (list: readonly { readonly name: string }[]) =>
          [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(sort(readByGit(text))).toEqual(sort(expected));
        expect(sort(parseConfig(text))).toEqual(sort(expected));
      }),
      { numRuns: runs(40) },
    );
  });
});
