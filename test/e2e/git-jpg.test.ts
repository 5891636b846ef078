// @module-tag slow
// `git jpg …` by a real git: it finds the same store from everywhere, and what git sets for its own repository reaches no other.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { git } from "../helpers/temp-repository.ts";

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let sandbox: ImportedSandbox;
let worktree: string;

/** Types `git …` in a folder of the sandbox; git finds `git-jpg` on the PATH, where npm links it. */
function type(args: readonly string[], cwd = sandbox.project, env: Record<string, string> = {}): Answer {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, env: { ...sandbox.env, ...env } });
  return { code: status, stdout: String(stdout), stderr: String(stderr) };
}

beforeAll(async () => {
  sandbox = await copyImportedSandbox(6, { process: true });
  const { root, project, env } = sandbox;
  for (const name of ["jpg", "git-jpg"]) {
    mkdirSync(join(root, "bin"), { recursive: true });
    symlinkSync(fileURLToPath(new URL(`../../bin/${name}.js`, import.meta.url)), join(root, "bin", name));
  }
  env["PATH"] = `${join(root, "bin")}:${env["PATH"]}`;
  worktree = join(root, "worktree");
  git(project, env, ["commit", "--quiet", "--allow-empty", "-m", "first"]);
  git(project, env, ["worktree", "add", "--quiet", worktree]);
  for (const folder of [project, worktree]) mkdirSync(join(folder, "sub", "deep"), { recursive: true });
  mkdirSync(join(root, "elsewhere"));
  git(project, env, ["config", "alias.plain", "jpg"]);
  git(project, env, ["config", "alias.by-shell", "!git jpg"]);
});
afterAll(() => sandbox.remove());

describe("git jpg", () => {
  it("is jpg in the project, its folders, its git dir and its worktrees, by aliases too", async () => {
    const { project, store, conversation } = sandbox;
    const places = [project, join(project, "sub/deep"), join(project, ".git"), worktree, join(worktree, "sub/deep")];
    for (const place of places)
      for (const name of place.endsWith("deep") ? ["jpg", "plain", "by-shell"] : ["jpg"])
        expect(type([name, "path"], place), `${name} in ${place}`).toEqual({
          code: 0,
          stdout: `${store}\n`,
          stderr: "",
        });
    expect(type(["-C", "sub", "jpg", "path"]).stdout).toBe(`${store}\n`);
    expect(type(["jpg", "ls", "--json"]).stdout).toBe((await sandbox.jpg(["ls", "--json"])).stdout);
    expect(JSON.parse(type(["jpg", "ls", "--json"]).stdout)).toMatchObject([{ id: conversation }]);
  });

  it("is about the repository that git was told", () => {
    const { root, project, store } = sandbox;
    const elsewhere = join(root, "elsewhere");
    const told: readonly (readonly string[])[] = [
      [`--git-dir=${join(project, ".git")}`],
      ["--git-dir=../project/.git", "--work-tree=../project"],
      [`--git-dir=${join(worktree, ".git")}`],
      [`--git-dir=${join(project, ".git/worktrees/worktree")}`],
    ];
    for (const words of told)
      expect(type([...words, "jpg", "path"], elsewhere), words.join(" ")).toEqual({
        code: 0,
        stdout: `${store}\n`,
        stderr: "",
      });
    expect(type(["jpg", "path"], elsewhere, { GIT_DIR: "../project/.git" }).stdout).toBe(`${store}\n`);
    const bare = join(root, "bare.git");
    git(root, sandbox.env, ["init", "--quiet", "--bare", bare]);
    expect(type([`--git-dir=${bare}`, "jpg", "path"], project).stderr).toContain(` at ${join(bare, "jpg")}.`);
  });

  it("says when there is no such repository", () => {
    const { code, stderr } = type(["--git-dir=nothing/.git", "jpg", "ls"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: Git says that the repository is ${join(sandbox.project, "nothing/.git")}, and`);
  });

  it("reads and writes files where the user is, not where the repository is", () => {
    const { root, project } = sandbox;
    const elsewhere = join(root, "elsewhere");
    const exported = ["jpg", "export", "--to", "markdown", "-o", "out.md"];
    expect(type(exported, join(project, "sub"))).toMatchObject({ code: 0 });
    expect(type([`--git-dir=${join(project, ".git")}`, ...exported], elsewhere)).toMatchObject({ code: 0 });
    expect(type(["-C", join(worktree, "sub"), ...exported], elsewhere)).toMatchObject({ code: 0 });
    const [first = "", ...others] = [join(project, "sub"), elsewhere, join(worktree, "sub")].map((folder) =>
      readFileSync(join(folder, "out.md"), "utf8"),
    );
    expect(first).toContain("#");
    expect(others).toEqual([first, first]);
  });

  it("writes to the store alone, whatever git sets", () => {
    const { project } = sandbox;
    const refs = (): string => git(project, sandbox.env, ["for-each-ref"]);
    const before = [refs(), readFileSync(join(project, ".git/config"), "utf8")];
    const ways: readonly (() => Answer)[] = [
      () => type(["by-shell", "compact", "--keep", "2"], join(worktree, "sub")),
      () => type(["--namespace=other", "--literal-pathspecs", "--no-replace-objects", "jpg", "undo"]),
      () => type(["-c", "core.bare=true", "-c", "core.hooksPath=/nothing", "jpg", "redo"]),
      () => type(["jpg", "undo"], project, { GIT_INDEX_FILE: "/nothing/index", GIT_OBJECT_DIRECTORY: "/nothing" }),
      () => type(["jpg", "redo"], project, { GIT_ATTR_SOURCE: "nothing", GIT_COMMON_DIR: "/nothing" }),
    ];
    for (const way of ways)
      expect(way()).toMatchObject({ code: 0, stderr: expect.not.stringContaining("fatal") as string });
    expect([refs(), readFileSync(join(project, ".git/config"), "utf8")]).toEqual(before);
    expect(type(["jpg", "fsck"])).toMatchObject({ code: 0 });
  });

  it("works in a hook of the project, where git names index and git dir", () => {
    const { project, store, env } = sandbox;
    for (const folder of [project, worktree]) {
      const hook = join(project, ".git/hooks/post-commit");
      writeFileSync(hook, `#!/bin/sh\ngit jpg path > "$HOME/said" 2>&1\n`, { mode: 0o755 });
      git(join(folder, "sub"), env, ["commit", "--quiet", "--allow-empty", "-m", "next"]);
      expect(readFileSync(join(sandbox.home, "said"), "utf8")).toBe(`${store}\n`);
    }
  });

  it("speaks as jpg does, with its exit codes", async () => {
    const typed = type(["jpg", "compat"]);
    expect(typed).toEqual(await sandbox.jpg(["compat"]));
    expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining("`jpg compact`") as string });
    expect(type(["jpg", "search", "nobody said this"]).code).toBe(1);
    expect(type(["jpg", "-h"])).toEqual(await sandbox.jpg(["-h"]));
  });

  it("leaves a jpg that git did not start to its folder", async () => {
    const elsewhere = join(sandbox.root, "elsewhere");
    const { stderr } = await sandbox.jpg(["path"], {
      cwd: elsewhere,
      env: { GIT_DIR: join(sandbox.project, ".git") },
    });
    expect(stderr).toContain(`no conversation store at ${sandbox.home}`);
  });
});
