// Nothing works in a test's stores in the background: a store may be copied or removed as soon as the command that wrote it has
// ended.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "./run-jpg.ts";
import { copyStore, createTempFolder, git, initRepository, testEnvironment, writeText } from "./temp-repository.ts";

let sandbox: Sandbox;
let trace: string;
beforeEach(() => {
  sandbox = createSandbox();
  trace = join(sandbox.root, "trace");
  mkdirSync(trace);
});
afterEach(() => sandbox.remove());

/** The names of git's commands that ran so far, those that git started itself among them. */
function started(): readonly string[] {
  const lines = readdirSync(trace).flatMap((name) => readFileSync(join(trace, name), "utf8").trim().split("\n"));
  return lines
    .map((line) => JSON.parse(line) as { event: string; name?: string })
    .flatMap(({ event, name = "" }) => (event === "cmd_name" ? [name] : []));
}

const IN_BACKGROUND = /^(?:maintenance|gc|repack|prune|pack-refs|fsmonitor.*)$/;

describe("in a test's store", () => {
  it.each([false, true])(
    "an import starts nothing that outlives it (in a process of its own: %s)",
    { tags: ["slow"] },
    async (own) => {
      const file = sandbox.session("s.jsonl", smallSession({ turns: 200 }));
      const { code } = await sandbox.jpg(["import", file], { process: own, env: { GIT_TRACE2_EVENT: trace } });
      expect(code).toBe(0);
      expect(started()).not.toEqual([]);
      expect(started().filter((line) => IN_BACKGROUND.test(line))).toEqual([]);
    },
  );

  it.each([
    ["a sandbox", (): Record<string, string> => sandbox.env],
    ["a store without a sandbox", (): Record<string, string> => testEnvironment(sandbox.home)],
    ["a process of the tests", (): Record<string, string> => ({ ...process.env }) as Record<string, string>],
  ])("stock git starts nothing either: %s", (_, environment) => {
    const env = { ...environment(), GIT_TRACE2_EVENT: trace };
    const run = (...args: readonly string[]): string =>
      git(sandbox.root, env, ["-c", "user.name=Ada", "-c", "user.email=a@example.com", ...args]);
    const [one, bare] = [join(sandbox.root, "one"), join(sandbox.root, "bare.git")];
    run("init", "--quiet", "--bare", bare);
    run("init", "--quiet", one);
    // What git would tidy at once, if it looked.
    for (const [key, value] of [
      ["gc.auto", "1"],
      ["gc.autoPackLimit", "1"],
    ])
      run("-C", one, "config", key ?? "", value ?? "");
    for (let n = 0; n < 3; n++) {
      writeFileSync(join(one, "file"), `${n}\n`);
      run("-C", one, "add", "file");
      run("-C", one, "commit", "--quiet", "--message", `${n}`);
    }
    run("-C", one, "push", "--quiet", bare, "HEAD:refs/heads/main");
    run("-C", one, "fetch", "--quiet", bare, "main");
    run("-C", one, "merge", "--quiet", "FETCH_HEAD");
    run("-C", one, "rebase", "--quiet", "--force-rebase", "HEAD~1");
    expect(started().filter((line) => IN_BACKGROUND.test(line))).toEqual([]);
  });
});

describe("a copy of a store", () => {
  it("has everything, links as they are, and names its own place where that is asked for", () => {
    const folder = createTempFolder();
    const [from, to] = ["one", "other"].map((name) => join(folder.path, name)) as [string, string];
    initRepository(from);
    git(from, testEnvironment(folder.path), ["config", "core.hooksPath", join(from, ".git/hooks")]);
    copyStore(from, to, { renamed: [".git/config"] });
    expect(readFileSync(join(to, ".git/config"), "utf8")).toContain(`${to}/.git/hooks`);
    expect(existsSync(join(to, ".git/HEAD"))).toBe(true);
    folder.remove();
  });

  it("is refused while something works in it, by the lock that shows it", () => {
    const folder = createTempFolder();
    const from = join(folder.path, "one");
    initRepository(from);
    const lock = join(from, ".git/objects/maintenance.lock");
    writeText(lock, "");
    expect(() => copyStore(from, join(folder.path, "other"))).toThrow(lock);
    rmSync(lock);
    expect(() => copyStore(from, join(folder.path, "another"))).not.toThrow();
    folder.remove();
  });
});
