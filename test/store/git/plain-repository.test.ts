import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findPlainRepository } from "../../../src/store/git/locate.ts";
import {
  createTempFolder,
  git,
  type TempFolder,
  type TestEnvironment,
  testEnvironment,
} from "../../helpers/temp-repository.ts";

let folder: TempFolder;
let env: TestEnvironment;
let project: string;
beforeEach(() => {
  folder = createTempFolder();
  env = testEnvironment(join(folder.path, "home"));
  project = join(folder.path, "project");
  git(folder.path, env, ["init", "-q", project]);
  git(project, env, ["commit", "-q", "--allow-empty", "-m", "code"]);
  mkdirSync(join(project, "src", "deep"), { recursive: true });
});
afterEach(() => folder.remove());

/** What git says of a directory. */
function asGitSays(cwd: string): { commonDir: string; top: string } {
  const flags = ["--path-format=absolute", "--git-common-dir", "--show-toplevel"];
  const [commonDir = "", top = ""] = git(cwd, env, ["rev-parse", ...flags]).split("\n");
  return { commonDir, top };
}

describe("the repository around a directory, found without git", () => {
  it("is the one that git names: at the top, below it, in a linked worktree, through symbolic links", async () => {
    const linked = join(folder.path, "linked");
    git(project, env, ["worktree", "add", "-q", linked]);
    symlinkSync(join(project, "src"), join(folder.path, "short"));
    const moved = join(folder.path, "moved");
    git(folder.path, env, ["init", "-q", moved]);
    renameSync(join(moved, ".git"), join(folder.path, "elsewhere"));
    symlinkSync(join(folder.path, "elsewhere"), join(moved, ".git"));
    for (const cwd of [project, join(project, "src", "deep"), linked, join(folder.path, "short", "deep"), moved])
      expect(await findPlainRepository(cwd, env), cwd).toEqual(asGitSays(cwd));
    expect(asGitSays(linked).commonDir).toBe(join(realpathSync(project), ".git"));
  });

  it("is left to git where files alone do not say it", async () => {
    const bare = join(folder.path, "bare.git");
    git(folder.path, env, ["init", "-q", "--bare", bare]);
    expect(await findPlainRepository(bare, env)).toBeNull();
    expect(await findPlainRepository(join(project, ".git", "hooks"), env)).toBeNull();
    expect(await findPlainRepository(project, { ...env, GIT_CEILING_DIRECTORIES: folder.path })).toBeNull();
    for (const [key, value] of [
      ["core.bare", "true"],
      ["core.bare", "2"],
      ["core.worktree", folder.path],
    ] as const) {
      git(project, env, ["config", key, value]);
      expect(await findPlainRepository(project, env), key).toBeNull();
      git(project, env, ["config", "--unset", key]);
    }
    git(project, env, ["config", "extensions.worktreeConfig", "true"]);
    git(project, env, ["config", "--worktree", "core.worktree", folder.path]);
    expect(await findPlainRepository(project, env)).toBeNull();
  });

  it.each(['"false"', "no", "OFF", "0", "00", "", '"fal"se ; not bare'])(
    "is the one that git names, with bare = %s",
    async (bare) => {
      const text = `[core]\n\trepositoryformatversion = "0"\n\tBare = ${bare}\n# worktree = /\n`;
      writeFileSync(join(project, ".git", "config"), text);
      expect(await findPlainRepository(project, env)).toEqual(asGitSays(project));
    },
  );

  it("is the one that git names where settings of a worktree, or an included file, say nothing of its place", async () => {
    writeFileSync(join(project, ".git", "more"), `[core]\n\tworktree = ${folder.path}\n`);
    git(project, env, ["config", "include.path", "more"]);
    git(project, env, ["config", "extensions.worktreeConfig", "true"]);
    git(project, env, ["config", "--worktree", "core.sparseCheckout", "true"]);
    expect(await findPlainRepository(project, env)).toEqual(asGitSays(project));
  });
});
