import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needsGit } from "../../src/store/git-dir.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

let temp: TempFolder;
beforeEach(() => {
  temp = createTempFolder();
});
afterEach(() => temp.remove());

describe("what only git does", () => {
  it("says that there is no git, and where it comes from", () => {
    expect(needsGit("A checkout", { PATH: temp.path })).toMatchObject({
      kind: "repository",
      code: "needs_git",
      message: "A checkout needs git, and no `git` was found in PATH.",
      hints: ["Install git: https://git-scm.com/downloads"],
    });
  });

  it("says that git was left out, where it is there", () => {
    const bin = join(temp.path, "bin");
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, "git"));
    expect(needsGit("A checkout", { PATH: bin })).toMatchObject({
      message: "A checkout needs git, and --engine embedded works without it.",
      hints: ["Run the command again without --engine embedded."],
    });
  });
});
