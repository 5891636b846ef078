// Stores that jpg did not make where they are: stock clones, moved and copied projects, a jpg that was installed elsewhere.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { copyStore, git } from "../helpers/temp-repository.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
const made: ImportedSandbox[] = [];
afterAll(() => {
  for (const sandbox of made) sandbox.remove();
});

async function sandboxOf(): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox();
  made.push(sandbox);
  return sandbox;
}

async function cloned(): Promise<{ readonly sandbox: ImportedSandbox; readonly clone: string }> {
  const sandbox = await sandboxOf();
  const clone = join(sandbox.root, "clone");
  sandbox.git(["clone", "--quiet", sandbox.store, clone], sandbox.root);
  return { sandbox, clone };
}

const viewIn = (place: string): string => readFileSync(join(place, "VIEW.md"), "utf8");
/** Text that only the uncompacted view holds. */
const THOUGHT = "thought 0: the gauge";
const ADOPTED = "is a clone without jpg's hooks: it has them now, and stock git keeps VIEW.md up to date in it.";

it("a project whose path holds a line end is said to be moved once, and has worktrees", async () => {
  const sandbox = await sandboxOf();
  const project = join(sandbox.root, "harbour\nwall");
  renameSync(sandbox.project, project);
  expect((await sandbox.jpg(["ls"], { cwd: project })).stderr).toContain("was moved or copied");
  expect((await sandbox.jpg(["ls"], { cwd: project })).stderr).toBe("");
  for (const name of ["tide", "low\ntide"]) {
    const worktree = join(sandbox.root, name);
    expect(await sandbox.jpg(["checkout", "@", worktree], { cwd: project })).toMatchObject({ code: 0, stderr: "" });
    expect(viewIn(worktree)).toContain(THOUGHT);
    expect((await sandbox.jpg(["ls"], { cwd: worktree })).stderr).toBe("");
  }
  expect((await sandbox.jpg(["fsck"], { cwd: project })).code).toBe(0);
});

describe.concurrent("a stock clone", () => {
  it("gets jpg's hooks with the first command, and git passes over its views", { tags: ["slow"] }, async () => {
    const { sandbox, clone } = await cloned();
    const first = await sandbox.jpg(["compact"], { cwd: clone });
    expect(first).toMatchObject({ code: 0 });
    expect(first.stderr).toContain(`${clone} ${ADOPTED}`);
    expect(viewIn(clone)).not.toContain(THOUGHT);
    sandbox.git(["add", "-A"], clone);
    expect(sandbox.git(["status", "--porcelain"], clone)).toBe("");
    sandbox.git(["revert", "--no-edit", "HEAD"], clone);
    expect(viewIn(clone)).toContain(THOUGHT);
    expect((await sandbox.jpg(["ls"], { cwd: clone })).stderr).toBe("");
    // It stays checked out as a clone is.
    sandbox.git(["switch", "--quiet", "--create", "x/main"], clone);
    expect(existsSync(join(clone, "turns", "0000", "000000.jsonl"))).toBe(true);
  });

  it("keeps the user's own hooks", { tags: ["slow"] }, async () => {
    const { sandbox, clone } = await cloned();
    const own = join(clone, ".git", "hooks", "post-commit");
    mkdirSync(join(own, ".."), { recursive: true });
    writeFileSync(own, "#!/bin/sh\ntouch own-hook-ran\n");
    chmodSync(own, 0o755);
    const { stderr } = await sandbox.jpg(["compact"], { cwd: clone });
    expect(stderr).toContain("Your own hooks stay (post-commit)");
    sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "mine"], clone);
    expect(existsSync(join(clone, "own-hook-ran"))).toBe(true);
    expect((await sandbox.jpg(["ls"], { cwd: clone })).stderr).toBe("");
  });

  it("stays as it is checked out, too, where an earlier jpg took it over without leaving its mark", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, clone } = await cloned();
    await sandbox.jpg(["ls"], { cwd: clone });
    sandbox.git(["config", "--unset", "jpg.clone"], clone);
    expect(await sandbox.jpg(["doctor", "--fix"], { cwd: clone })).toMatchObject({ code: 0 });
    expect(sandbox.git(["config", "--get", "jpg.clone"], clone)).toBe("true");
    expect(sandbox.git(["config", "--local", "--list"], clone)).not.toContain("sparse");
    await sandbox.jpg(["fork", "@", "other"], { cwd: clone });
    expect(existsSync(join(clone, "turns", "0000", "000000.jsonl"))).toBe(true);
    expect((await sandbox.jpg(["doctor"], { cwd: clone })).stdout).toMatch(/^ok +hooks:/m);
  });

  it("keeps the user's core.hooksPath", async () => {
    const { sandbox, clone } = await cloned();
    sandbox.git(["config", "core.hooksPath", "/mine"], clone);
    const { stderr } = await sandbox.jpg(["log"], { cwd: clone });
    expect(stderr).toContain("Your own hooks stay (core.hooksPath)");
    expect(sandbox.git(["config", "--get-all", "core.hooksPath"], clone)).toBe("/mine");
    expect((await sandbox.jpg(["ls"], { cwd: clone })).stderr).toBe("");
  });
});

describe.concurrent("a project that is somewhere else", () => {
  it("is mended by the next command when it was moved: git show and hooks work again", { tags: ["slow"] }, async () => {
    const sandbox = await sandboxOf();
    const { commit } = await sandbox.json<{ commit: string }>(["compact"]);
    const project = join(sandbox.root, "moved");
    renameSync(sandbox.project, project);
    const store = join(project, ".git", "jpg");
    expect(() => sandbox.git(["show", commit], store)).toThrow();
    const { stderr } = await sandbox.jpg(["ls"], { cwd: project });
    expect(stderr).toBe(`${store} was moved or copied: its hooks and its readable diffs work here again.\n`);
    expect(sandbox.git(["show", commit], store)).toMatch(/^\+turns \d+\.\.\d+: reasoning \+ tools stripped$/m);
    sandbox.git(["revert", "--no-edit", commit], store);
    expect(viewIn(store)).toContain(THOUGHT);
    expect((await sandbox.jpg(["ls"], { cwd: project })).stderr).toBe("");
  });

  it("is mended with its worktrees, those that moved along and those that stayed", { tags: ["slow"] }, async () => {
    const sandbox = await sandboxOf();
    await sandbox.json(["compact"]);
    const [outside, inside] = [join(sandbox.root, "outside"), join(sandbox.project, "inside")];
    const forks = ["near", "inner", "outer"];
    for (const name of forks)
      expect(await sandbox.jpg(["fork", "@", name, "--first", "1"])).toMatchObject({ code: 0, stderr: "" });
    const near = join(".git", "jpg-worktrees", sandbox.conversation, "near");
    expect((await sandbox.jpg(["checkout", `${sandbox.conversation}/near`])).code).toBe(0);
    expect((await sandbox.jpg(["checkout", `${sandbox.conversation}/inner`, inside])).code).toBe(0);
    expect((await sandbox.jpg(["checkout", `${sandbox.conversation}/outer`, outside])).code).toBe(0);
    expect(existsSync(join(sandbox.project, near, ".git"))).toBe(true);
    const project = join(sandbox.root, "moved");
    renameSync(sandbox.project, project);
    const store = join(project, ".git", "jpg");
    const { stderr } = await sandbox.jpg(["ls"], { cwd: project });
    expect(stderr).toContain("work here again. So do its worktrees (3).");
    const places = [join(project, near), join(project, "inside"), outside];
    for (const place of places) {
      expect(sandbox.git(["status", "--porcelain"], place)).toBe("");
      expect((await sandbox.jpg(["log"], { cwd: place })).code).toBe(0);
      expect(sandbox.git(["worktree", "list"], store)).toContain(place);
    }
    expect(sandbox.git(["worktree", "prune", "--dry-run", "--verbose"], store)).toBe("");
    expect((await sandbox.jpg(["ls"], { cwd: project })).stderr).toBe("");
  });

  it("has worktrees of its own when it was copied with them", { tags: ["slow"] }, async () => {
    const sandbox = await sandboxOf();
    await sandbox.jpg(["fork", "@", "near", "--first", "1"]);
    await sandbox.jpg(["checkout", `${sandbox.conversation}/near`]);
    const near = join(".git", "jpg-worktrees", sandbox.conversation, "near");
    const project = join(sandbox.root, "copied");
    copyStore(sandbox.project, project);
    const { stderr } = await sandbox.jpg(["ls"], { cwd: project });
    expect(stderr).toContain("So do its worktrees (1).");
    for (const place of [sandbox.project, project]) {
      expect(sandbox.git(["rev-parse", "--git-common-dir"], join(place, near))).toBe(join(place, ".git/jpg/.git"));
      expect(sandbox.git(["worktree", "list"], join(place, ".git", "jpg"))).toContain(join(place, near));
    }
  });

  it("is mended by a hook, where stock git in a copy calls that of the first one", { tags: ["slow"] }, async () => {
    const sandbox = await sandboxOf();
    await sandbox.jpg(["compact"]);
    const project = join(sandbox.root, "copied");
    copyStore(sandbox.project, project);
    const store = join(project, ".git", "jpg");
    sandbox.git(["revert", "--no-edit", "HEAD"], store);
    expect(sandbox.git(["config", "core.hooksPath"], store)).toBe(join(store, ".git", "hooks"));
    expect(viewIn(store)).toContain(THOUGHT);
    expect((await sandbox.jpg(["ls"], { cwd: project })).stderr).toBe("");
  });

  it("is mended by jpg mcp and jpg sync --watch, which say so on standard error", { tags: ["slow"] }, async () => {
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const asked = [
      { id: 1, method: "initialize", params: client },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "log", arguments: {} } },
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    for (const args of [["mcp"], ["sync", "--watch", "--every", "1"]]) {
      const sandbox = await sandboxOf();
      const project = join(sandbox.root, "moved");
      renameSync(sandbox.project, project);
      const child = spawn(process.execPath, [BIN, ...args], { cwd: project, env: sandbox.env });
      if (args[0] === "mcp") for (const line of asked) child.stdin.write(line);
      let said = "";
      await new Promise<void>((resolve) => {
        child.on("close", () => resolve());
        child.stderr.on("data", (bytes: Buffer) => {
          said += bytes.toString();
          if (said.includes("was moved or copied")) child.kill("SIGTERM");
        });
      });
      expect(said).toContain("was moved or copied: its hooks and its readable diffs work here again.");
      expect((await sandbox.jpg(["ls"], { cwd: project })).stderr).toBe("");
    }
  });

  it("is mended when it was copied, and leaves the worktrees of the first one alone", async () => {
    const sandbox = await sandboxOf();
    const checkout = join(sandbox.root, "checkout");
    await sandbox.jpg(["checkout", "@", checkout]);
    const before = viewIn(checkout);
    const project = join(sandbox.root, "copied");
    copyStore(sandbox.project, project);
    const { stderr } = await sandbox.jpg(["compact"], { cwd: project });
    expect(stderr).toContain("was moved or copied");
    expect(viewIn(join(project, ".git", "jpg"))).not.toContain(THOUGHT);
    expect(viewIn(checkout)).toBe(before);
    expect(sandbox.git(["status", "--porcelain"], checkout)).toBe("");
    expect((await sandbox.jpg(["ls"])).stderr).toBe("");
  });

  it("has hooks that call this jpg when the one they called is gone", async () => {
    const sandbox = await sandboxOf();
    for (const name of ["post-commit", "pre-push"]) {
      const path = join(sandbox.store, ".git", "hooks", name);
      writeFileSync(path, readFileSync(path, "utf8").replace(/ jpg='.*'$/m, " jpg='/gone/jpg.js'"));
    }
    const { stderr } = await sandbox.jpg(["compact"]);
    expect(stderr).toContain("called a node or jpg that is gone: they call this one now.");
    sandbox.git(["revert", "--no-edit", "HEAD"]);
    expect(viewIn(sandbox.store)).toContain(THOUGHT);
    expect((await sandbox.jpg(["ls"])).stderr).toBe("");
  });
});

describe.concurrent("a view after git reset --hard, which runs no hook", () => {
  it("is brought up to date by a command that only reads", { tags: ["slow"] }, async () => {
    const sandbox = await sandboxOf();
    await sandbox.jpg(["compact"]);
    git(sandbox.store, sandbox.env, ["reset", "--quiet", "--hard", "HEAD~1"]);
    expect(viewIn(sandbox.store)).not.toContain(THOUGHT);
    await sandbox.jpg(["log"]);
    expect(viewIn(sandbox.store)).toContain(THOUGHT);
  });
});

describe.concurrent("a clone whose HEAD names no branch", () => {
  it("says what the remote has, and jpg use makes it a branch of one's own", { tags: ["slow"] }, async () => {
    const sandbox = await sandboxOf();
    const branch = `${sandbox.conversation}/main`;
    const bare = join(sandbox.root, "bare.git");
    sandbox.git(["init", "--quiet", "--bare", "--initial-branch=nothing", bare], sandbox.root);
    sandbox.git(["push", "--quiet", bare, branch]);
    const project = join(sandbox.root, "other");
    sandbox.git(["init", "--quiet", project], sandbox.root);
    sandbox.git(["clone", "--quiet", bare, join(project, ".git", "jpg")], sandbox.root);
    const hint = `origin has a conversation branch not here yet: ${branch}. \`jpg pull\` brings in all, \`jpg use ${branch}\` that one.`;
    const listed = await sandbox.jpg(["ls"], { cwd: project });
    expect(listed).toMatchObject({ code: 0, stdout: "" });
    expect(listed.stderr).toContain(hint);
    expect((await sandbox.jpg(["status"], { cwd: project })).stdout).toContain(`${hint}\n`);
    const log = await sandbox.jpg(["log"], { cwd: project });
    expect(log).toMatchObject({ code: 2, stderr: `error: No conversation is here yet.\nhint: ${hint}\n` });
    expect(await sandbox.jpg(["use", sandbox.conversation], { cwd: project })).toMatchObject({
      code: 0,
      stdout: `Now on ${branch}\n`,
      stderr: "",
    });
    expect(viewIn(join(project, ".git", "jpg"))).toContain(THOUGHT);
    expect(sandbox.git(["rev-parse", "--abbrev-ref", "@{upstream}"], join(project, ".git", "jpg"))).toBe(
      `origin/${branch}`,
    );
    const active = sandbox.conversation.split("-").at(-1);
    expect((await sandbox.jpg(["ls"], { cwd: project })).stdout).toContain(` *${active}\n`);
    expect(await sandbox.json(["ls"], { cwd: project })).toMatchObject([{ id: sandbox.conversation, active: true }]);
  });
});
