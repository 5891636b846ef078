import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireGitVersion, runGit } from "../../../src/store/git/git-process.ts";
import { runCommand } from "../../../src/store/git/porcelain.ts";
import { createTempFolder, git, type TempFolder, testEnvironment, writeText } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

/** A folder with a program named git, to be the whole PATH. */
function fakeGit(script: string): Record<string, string> {
  const path = join(folder.path, "bin", "git");
  writeText(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { PATH: join(folder.path, "bin") };
}

describe("runGit", () => {
  it("gives output, stderr and exit code, and passes input", async () => {
    const env = testEnvironment(folder.path);
    const result = await runGit(["hash-object", "--stdin"], { cwd: folder.path, env, input: "" });
    expect([result.code, result.stdout.toString()]).toEqual([0, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"]);
    const failed = await runGit(["rev-parse", "--git-dir"], { cwd: folder.path, env });
    expect(failed.code).toBe(128);
    expect(failed.stderr).toContain("not a git repository");
  });

  it("says how to install a git that is missing, and what is wrong when the folder is", async () => {
    await expect(runGit(["version"], { cwd: folder.path, env: { PATH: folder.path } })).rejects.toMatchObject({
      kind: "repository",
      code: "git_missing",
      message: expect.stringContaining("2.31"),
      hints: [expect.stringContaining("https://git-scm.com/downloads")],
    });
    const gone = join(folder.path, "gone");
    await expect(runGit(["version"], { cwd: gone, env: testEnvironment(gone) })).rejects.toMatchObject({
      code: "directory_missing",
    });
  });

  it("survives a git that does not read its input", async () => {
    const env = fakeGit("exit 3");
    const result = await runGit(["x"], { cwd: folder.path, env, input: Buffer.alloc(1 << 20) });
    expect(result.code).toBe(3);
  });

  it("stops when aborted", async () => {
    const stop = new AbortController();
    const running = runGit(["cat-file", "--batch"], {
      cwd: folder.path,
      env: fakeGit("exec /bin/sleep 30"),
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(new Error("enough")), 50);
    await expect(running).rejects.toThrow("enough");
  });
});

describe("git versions", () => {
  it("refuse a git that is too old, naming both versions", async () => {
    const env = fakeGit('echo "git version 2.25.1"');
    await expect(requireGitVersion({ cwd: folder.path, env })).rejects.toMatchObject({
      code: "git_too_old",
      message: expect.stringMatching(/2\.31\.0.*2\.25\.1/),
    });
  });

  it("explain a command that an old git does not know", async () => {
    const env = fakeGit(
      '[ "$1" = version ] && { echo "git version 2.25.1"; exit 0; }; echo "error: unknown option" >&2; exit 129',
    );
    const repository = { gitDir: folder.path, cwd: folder.path, env };
    await expect(runCommand(repository, { args: ["log", "--new"] })).rejects.toMatchObject({ code: "git_too_old" });
    const real = { ...repository, env: testEnvironment(folder.path) };
    git(folder.path, real.env, ["init", "-q", "."]);
    await expect(
      runCommand({ ...real, gitDir: join(folder.path, ".git") }, { args: ["log", "--no-such-flag"] }),
    ).rejects.toMatchObject({ code: "git_failed" });
  });
});
