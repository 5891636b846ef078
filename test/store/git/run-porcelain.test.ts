import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitRunner, runGit } from "../../../src/store/git/git-process.ts";
import { type Repository, runCommand, runPorcelain } from "../../../src/store/git/porcelain.ts";
import { createTempFolder, git, type TempFolder, testEnvironment, writeText } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
let env: Record<string, string>;
beforeEach(() => {
  folder = createTempFolder();
  env = testEnvironment(folder.path);
  git(folder.path, env, ["init", "--quiet", "--initial-branch=main", "."]);
});
afterEach(() => folder.remove());

/** What a runner makes of a command: its result, or code, message and hints of its error. */
async function outcome(run: GitRunner, args: readonly string[], place = { cwd: folder.path, env }): Promise<unknown> {
  try {
    const { stdout, stderr, code } = await run(args, place);
    return { stdout: stdout.toString(), stderr, code };
  } catch (error) {
    const { code, message, hints } = error as { code: string; message: string; hints: readonly string[] };
    return { code, message, hints };
  }
}

describe("runPorcelain", () => {
  it("gives and throws what runGit does", async () => {
    const gone = join(folder.path, "gone");
    const places = [
      [["config", "--local", "jpg.word", "völlig"]],
      [["config", "--get", "jpg.word"]],
      [["config", "--get", "jpg.missing"]],
      [["switch", "--quiet", "--no-guess", "missing"]],
      [["worktree", "add", "--quiet", gone, "missing"]],
      [["no-such-command"]],
      [["version"], { cwd: gone, env }],
      [["version"], { cwd: folder.path, env: { PATH: gone } }],
    ] as const;
    for (const [args, place] of places) {
      expect([args, await outcome(runPorcelain, args, place)]).toEqual([args, await outcome(runGit, args, place)]);
    }
  });

  it("lets pass what users name in their environment, and drops what an enclosing git command set", async () => {
    const program = join(folder.path, "bin", "git");
    writeText(program, '#!/bin/sh\nexec "$ENV_PROGRAM"\n');
    chmodSync(program, 0o755);
    const own = {
      ENV_PROGRAM: "/usr/bin/env",
      PATH: join(folder.path, "bin"),
      EDITOR: "vi",
      GIT_PAGER: "less",
      GIT_SSH_COMMAND: "ssh -v",
      GIT_ASKPASS: "ask",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_EXEC_PATH: "/usr/lib/git-core",
    };
    const place = { cwd: folder.path, env: { ...own, GIT_DIR: "/elsewhere", GIT_INDEX_FILE: "/other" } };
    const lines = (await runPorcelain(["x"], place)).stdout.toString().split("\n");
    for (const [name, value] of Object.entries(own)) expect(lines).toContain(`${name}=${value}`);
    expect(lines).toEqual(expect.arrayContaining(["LC_ALL=C", "GIT_TERMINAL_PROMPT=0"]));
    expect(lines.filter((line) => /^GIT_(DIR|INDEX_FILE)=/.test(line))).toEqual([]);
  });

  it("starts no git that would be led to a program, and says so without the values", async () => {
    const marker = join(folder.path, "marker");
    const secret = "https://ada:s3cret@example.com/x.git";
    const refused = [
      ["fetch", `--upload-pack=touch ${marker}`, secret],
      ["push", `--receive-pack=touch ${marker}`, secret],
      ["clone", "-u", `touch ${marker}`, secret, "copy"],
      ["-c", "protocol.ext.allow=always", "fetch", `ext::sh -c "touch ${marker}"`],
      ["-c", `core.sshCommand=touch ${marker}`, "fetch", "ssh://example.com/x"],
      ["-c", `credential.helper=!touch ${marker}`, "fetch", secret],
      ["-c", "url.ext::x.insteadOf=https:", "fetch", secret],
      ["config", "--local", "core.sshCommand", `touch ${marker}`],
    ];
    for (const args of refused) {
      const said = (await outcome(runPorcelain, args)) as { readonly code: string; readonly message: string };
      expect([args, said.code]).toEqual([args, "git_refused"]);
      expect(said.message).toContain(`git was not started in ${folder.path}: `);
      expect(said.message).not.toMatch(/s3cret|marker|allowUnsafe/);
    }
    expect(existsSync(marker)).toBe(false);
  });

  it("works in a store that names programs, and starts none of them", async () => {
    const marker = join(folder.path, "marker");
    const settings = ["filter.x.smudge", "gpg.program", "core.fsmonitor", "alias.x", "core.sshCommand", "core.editor"];
    for (const key of [...settings, "merge.x.driver", "diff.external", "core.pager", "submodule.x.update"]) {
      git(folder.path, env, ["config", key, `!touch ${marker}`]);
    }
    writeText(join(folder.path, ".gitattributes"), "* filter=x\n");
    git(folder.path, env, ["-c", "core.fsmonitor=false", "add", ".gitattributes"]);
    const tree = git(folder.path, env, ["-c", "core.fsmonitor=false", "write-tree"]);
    git(folder.path, env, ["update-ref", "refs/heads/other", git(folder.path, env, ["commit-tree", tree], "x")]);
    const repository: Repository = { gitDir: join(folder.path, ".git"), cwd: folder.path, env };
    await runCommand(repository, { args: ["switch", "--quiet", "--force", "other"] }, runPorcelain);
    expect(git(folder.path, env, ["symbolic-ref", "HEAD"])).toBe("refs/heads/other");
    expect(existsSync(marker)).toBe(false);
  });

  it("stops when aborted", async () => {
    const stop = new AbortController();
    const running = runPorcelain(["cat-file", "--batch"], { cwd: folder.path, env, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 50);
    await expect(running).rejects.toThrow("enough");
    await expect(runPorcelain(["version"], { cwd: folder.path, env, signal: stop.signal })).rejects.toThrow("enough");
  });
});
