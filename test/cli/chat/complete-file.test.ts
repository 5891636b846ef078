import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { completeFile } from "../../../src/cli/chat/slash-command.ts";
import { createTempFolder, writeText } from "../../helpers/temp-repository.ts";

describe("the name of a file that a message attaches", () => {
  const folder = createTempFolder();
  const cwd = folder.path;
  for (const name of ["src/main.ts", "src/main file.txt", "src/other/x.ts", ".env", "tide.md", "my a.txt", "my b.txt"])
    writeText(join(cwd, name), "");
  afterAll(() => folder.remove());

  it.each([
    ["see @ti", ["@tide.md "], "@ti"],
    ["see (@sr", ["@src/"], "@sr"],
    ["@src/ma", ["@src/main file.txt ", "@src/main.ts "], "@src/ma"],
    ["@src/main ", null, ""],
    ['@"src/main f', ['@"src/main file.txt" '], '@"src/main f'],
    ["@my", ['@"my a.txt" ', '@"my b.txt" '], "@my"],
    ["@.e", ["@.env "], "@.e"],
    ["@src/nothing", [], "@src/nothing"],
    ["@nowhere/x", [], "@nowhere/x"],
    ["me@ti", null, ""],
    ["\\@ti", null, ""],
  ])("%s", async (before, candidates, replaced) => {
    expect(await completeFile(before, cwd)).toEqual(candidates === null ? null : [candidates, replaced]);
  });

  it("is offered without what is hidden and what no key types", async () => {
    writeText(join(cwd, "tide\u0007.md"), "");
    expect((await completeFile("@", cwd))?.[0]).toEqual(["@my a.txt ", "@my b.txt ", "@src/", "@tide.md "]);
  });
});
