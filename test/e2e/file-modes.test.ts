// Files of a store are for its owner alone, whoever writes them, as far as the store does not say otherwise.
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWindows } from "../helpers/platform.ts";
import { createSandbox, type RunOptions, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
let users: number;
beforeEach(() => {
  users = process.umask(0o022);
  sandbox = createSandbox();
});
afterEach(() => {
  process.umask(users);
  sandbox.remove();
});

/** Paths in a folder, itself too, that anybody else may use in one of these ways. */
function open(path: string, bits: number): string[] {
  const found = lstatSync(path);
  const below = found.isDirectory() ? readdirSync(path).flatMap((name) => open(join(path, name), bits)) : [];
  return found.isSymbolicLink() || (found.mode & bits) === 0 ? below : [path, ...below];
}

/** Works as a user does; `process` = each command as a process, else in this one, which lends it its umask. */
async function work({
  env = {},
  process = false,
}: Pick<RunOptions, "process"> & { env?: Record<string, string> } = {}): Promise<void> {
  const commands = [
    ["import", sandbox.session("small.jsonl", smallSession({ turns: 6 }))],
    ["compact"],
    ["log"],
    ["stats"],
    ["title", "@", "Harbour"],
    ["checkout", "@", join(sandbox.root, "linked")],
    ["fork"],
    ["use", "@"],
    ["print"],
  ];
  for (const words of commands) {
    const { code, stderr } = await sandbox.jpg(words, { env, process });
    expect([words[0], code, code === 0 ? "" : stderr]).toEqual([words[0], 0, ""]);
  }
}

const isShared = (path: string, bits: number): boolean => (statSync(path).mode & bits) === bits;

describe.skipIf(isWindows)("files of a store (POSIX)", () => {
  it("are for their owner alone, in checkouts too, also objects and refs that stock git writes", {
    tags: ["slow"],
  }, async () => {
    await work({ process: true });
    expect(open(sandbox.store, 0o077)).toEqual([]);
    expect(open(join(sandbox.root, "linked"), 0o077)).toEqual([]);
    sandbox.git(["-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "by hand"]);
    sandbox.git(["gc", "--quiet"]);
    // What else stock git leaves there (COMMIT_EDITMSG) is behind folders that let nobody in.
    for (const folder of ["objects", "refs", "logs"]) {
      expect(open(join(sandbox.store, ".git", folder), 0o077)).toEqual([]);
    }
    expect(existsSync(join(sandbox.store, "VIEW.md"))).toBe(true);
  });

  it("are shared as core.sharedRepository of the store says", async () => {
    await sandbox.jpg(["init"]);
    sandbox.git(["config", "core.sharedRepository", "group"]);
    execFileSync("chmod", ["-R", "g=u", sandbox.store]);
    await work();
    expect((await sandbox.jpg(["init"])).code).toBe(0);
    expect(sandbox.git(["config", "core.sharedRepository"])).toBe("group");
    const { store } = sandbox;
    expect(isShared(join(store, "VIEW.md"), 0o060)).toBe(true);
    expect(isShared(join(store, ".git", "config"), 0o060)).toBe(true);
    expect(isShared(join(store, ".git", "hooks", "post-commit"), 0o050)).toBe(true);
    const folders = open(store, 0o010).filter((path) => lstatSync(path).isDirectory());
    expect(folders).toContain(join(store, ".git", "refs", "heads"));
    expect(folders).toContain(join(store, ".git", "objects"));
  });

  it("are made as the user's own core.sharedRepository says", async () => {
    const config = join(sandbox.root, "gitconfig");
    writeFileSync(config, "[core]\n\tsharedRepository = 0640\n");
    await work({ env: { GIT_CONFIG_GLOBAL: config } });
    expect(sandbox.git(["config", "core.sharedRepository"])).toBe("0640");
    expect(open(sandbox.store, 0o027).filter((path) => lstatSync(path).isFile())).toEqual([]);
    expect(isShared(join(sandbox.store, "VIEW.md"), 0o040)).toBe(true);
  });

  it("let whom the user shares with in, from the store's own folder on", async () => {
    const config = join(sandbox.root, "gitconfig");
    writeFileSync(config, "[core]\n\tsharedRepository = group\n");
    await work({ env: { GIT_CONFIG_GLOBAL: config } });
    const { store } = sandbox;
    for (const folder of [store, join(store, ".git"), join(store, "compactions")])
      expect([folder, isShared(folder, 0o050)]).toEqual([folder, true]);
    for (const name of ["sparse-checkout", "exclude", "attributes"])
      expect([name, isShared(join(store, ".git", "info", name), 0o040)]).toEqual([name, true]);
  });

  it("are for their owner alone in a clone that jpg makes, its folder too", async () => {
    await work();
    const clone = join(sandbox.root, "clone");
    expect(await sandbox.jpg(["clone", sandbox.store, clone])).toMatchObject({ code: 0 });
    expect(open(clone, 0o077)).toEqual([]);
  });
});

describe.skipIf(isWindows)("other files (POSIX)", () => {
  it("follow the user's umask: results that the user names, and what programs write that jpg starts", {
    tags: ["slow"],
  }, async () => {
    await work();
    const result = join(sandbox.root, "out.md");
    const exported = await sandbox.jpg(["export", "--to", "markdown", "--output", result], { process: true });
    expect(exported.code).toBe(0);
    expect(statSync(result).mode & 0o777).toBe(0o644);
    const bin = join(sandbox.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "claude"), `#!/bin/sh\numask > '${join(sandbox.root, "umask")}'\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${sandbox.env["PATH"]}` };
    expect((await sandbox.jpg(["resume", "--with", "claude-code", "--exec"], { env })).code).toBe(0);
    expect(statSync(join(sandbox.root, "umask")).mode & 0o777).toBe(0o644);
  });

  it("keep the mode they had", async () => {
    await work();
    const result = join(sandbox.root, "out.md");
    writeFileSync(result, "", { mode: 0o640 });
    expect((await sandbox.jpg(["export", "--to", "markdown", "--output", result])).code).toBe(0);
    expect(statSync(result).mode & 0o777).toBe(0o640);
  });
});
