import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeStore } from "../../../src/app/conversation/engine.ts";
import { type DoctorCheck, type DoctorReport, examine } from "../../../src/app/integrity/doctor.ts";
import { checkoutBranch } from "../../../src/app/manage/checkout.ts";
import { resolveBranch } from "../../../src/app/names/resolve-id.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createImportedWorkspace, type GitWorkspace, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let root: string;
beforeEach(async () => {
  ({ workspace } = await createImportedWorkspace(buildSession(plainTurns(1)).text()));
  root = workspace.store.root;
  git(root, workspace.temp.env, ["remote", "add", "origin", "/nowhere"]);
  // The hooks of this runtime.
  await makeStore(workspace.runtime, root);
});
afterEach(() => removeWorkspace(workspace));

function look(options: { readonly fix?: boolean; readonly store?: string } = {}): Promise<DoctorReport> {
  return examine(workspace.runtime, { store: root, fix: false, ...options });
}

const wrong = ({ checks }: DoctorReport): DoctorCheck[] =>
  // Which git is installed is not this store's.
  checks.filter(({ name, state }) => state !== "ok" && name !== "git");
const fixed = ({ checks }: DoctorReport): string[] =>
  checks.filter((check) => check.fixed === true).map(({ name }) => name);

function leave(name: string, hoursAgo: number): void {
  const path = join(workspace.store.gitDir, name);
  writeFileSync(path, "");
  // Ages are told by the clock of the file system.
  const time = Date.now() / 1000 - hoursAgo * 3600;
  utimesSync(path, time, time);
}

describe("the doctor", () => {
  it("finds nothing wrong with a store that was just made", async () => {
    expect(wrong(await look())).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    ["hooks", () => rmSync(join(workspace.store.gitDir, "hooks", "post-merge"))],
    ["hooks", () => git(root, workspace.temp.env, ["config", "core.autocrlf", "true"])],
    ["locks", () => leave("refs/heads/left.lock", 2)],
    ["leftovers", () => leave("objects/pack/tmp_pack_x1y2z3", 2)],
    ["leftovers", () => leave("objects/tmp_obj_a1b2c3", 2)],
    ["leftovers", () => leaveObject()],
    ["worktrees", () => loseWorktree()],
  ])("finds and mends: %s", async (name, damage) => {
    await damage();
    const before = await look();
    expect(wrong(before).map((check) => check.name)).toEqual([name]);
    expect(wrong(before)[0]).toMatchObject({ fixable: true, hint: expect.stringContaining("--fix") });
    const after = await look({ fix: true });
    expect(fixed(after)).toEqual([name]);
    expect(wrong(await look())).toEqual([]);
  });

  it("repairs by git what is git's, whichever engine was asked for", async () => {
    git(root, workspace.temp.env, ["config", "core.autocrlf", "true"]);
    const embedded = { ...workspace.runtime, engine: "embedded" } as const;
    const before = await examine(embedded, { store: root, fix: false });
    expect(wrong(before)).toMatchObject([{ name: "hooks", fixable: true }]);
    const after = await examine(embedded, { store: root, fix: true });
    expect([wrong(after), fixed(after)]).toEqual([[], ["hooks"]]);
  });

  it("removes no lock that a git may still hold", async () => {
    leave("refs/heads/left.lock", 0.5);
    expect(wrong(await look({ fix: true }))).toEqual([]);
    expect(existsSync(join(workspace.store.gitDir, "refs/heads/left.lock"))).toBe(true);
  });

  it("repairs a store that was moved", async () => {
    const moved = join(workspace.temp.folder, "moved");
    renameSync(root, moved);
    const [check] = wrong(await look({ store: moved }));
    expect(check).toMatchObject({ name: "hooks", message: expect.stringContaining("core.hookspath") });
    await look({ store: moved, fix: true });
    expect(wrong(await look({ store: moved }))).toEqual([]);
  });

  describe("in a stock clone", () => {
    let clone: string;
    const inClone = (args: readonly string[]): string => git(clone, workspace.temp.env, args);
    beforeEach(() => {
      clone = join(workspace.temp.folder, "clone");
      git(root, workspace.temp.env, ["clone", "--quiet", root, clone]);
    });

    it("leaves the checkout, the hooks and core.hooksPath to the user, before jpg took it over and after", async () => {
      const own = join(clone, ".git", "hooks", "post-commit");
      mkdirSync(join(own, ".."), { recursive: true });
      writeFileSync(own, "#!/bin/sh\nmine\n");
      inClone(["config", "core.hooksPath", "/mine"]);
      const [check] = wrong(await look({ store: clone }));
      expect(check).toMatchObject({ name: "hooks", message: expect.not.stringMatching(/sparse|hookspath/) });
      expect(fixed(await look({ store: clone, fix: true }))).toEqual(["hooks"]);
      const after = await look({ store: clone, fix: true });
      expect(wrong(after)).toEqual([]);
      const message = after.checks.find(({ name }) => name === "hooks")?.message;
      expect(message).toContain("your own stay (core.hooksPath)");
      expect(message).toContain("a stock `git push` is not scanned for secrets");
      await makeStore(workspace.runtime, clone);
      expect(inClone(["config", "core.hooksPath"])).toBe("/mine");
      expect(readFileSync(own, "utf8")).toContain("mine");
      expect(inClone(["config", "--local", "--name-only", "--list"])).not.toContain("sparse");
      expect(existsSync(join(clone, "turns"))).toBe(true);
    });

    it("still finds hooks of jpg's that are missing there", async () => {
      await look({ store: clone, fix: true });
      expect(wrong(await look({ store: clone }))).toEqual([]);
      rmSync(join(clone, ".git", "hooks", "post-merge"));
      expect(wrong(await look({ store: clone })).map(({ name }) => name)).toEqual(["hooks"]);
    });
  });

  it("leaves a core.hooksPath that the user chose in a store", async () => {
    git(root, workspace.temp.env, ["config", "core.hooksPath", "/mine"]);
    expect(wrong(await look({ fix: true }))).toEqual([]);
    expect(git(root, workspace.temp.env, ["config", "core.hooksPath"])).toBe("/mine");
  });

  it("says that hooks call a jpg that is gone", async () => {
    const other = { ...workspace.runtime, jpgPath: "/gone/jpg.js" };
    await makeStore(other, root);
    expect(wrong(await look())[0]).toMatchObject({
      name: "hooks",
      state: "problem",
      message: expect.stringContaining("call a jpg that is gone"),
    });
  });

  it("warns of a store without a remote, and of HEAD that names no branch", async () => {
    git(root, workspace.temp.env, ["remote", "remove", "origin"]);
    git(root, workspace.temp.env, ["symbolic-ref", "HEAD", "refs/heads/nowhere/main"]);
    const report = await look();
    expect(wrong(report).map(({ name, state }) => `${name} ${state}`)).toEqual(["active warning", "remote warning"]);
    expect(report.ok).toBe(true);
  });

  it.each([
    ["is too old", "echo git version 2.20.1", "problem"],
    ["is not installed", null, "warning"],
  ])("says when git %s", async (says, script, state) => {
    const bin = join(workspace.temp.folder, "bin");
    mkdirSync(bin);
    if (script !== null) {
      writeFileSync(join(bin, "git"), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, "git"), 0o755);
    }
    const runtime = { ...workspace.runtime, env: { ...workspace.runtime.env, PATH: bin } };
    const { ok, checks } = await examine(runtime, { store: root, fix: false });
    expect(ok).toBe(state !== "problem");
    expect(checks[0]).toMatchObject({ name: "git", state, message: expect.stringContaining(says) });
    expect(checks[1]).toMatchObject({ name: "store", state: "ok" });
  });

  it("says where a store would be made", async () => {
    const { ok, checks } = await look({ store: join(workspace.temp.folder, "none") });
    expect(ok).toBe(true);
    expect(checks.at(-1)).toMatchObject({ name: "store", state: "warning" });
  });

  it("explains a folder that is no store", async () => {
    const other = join(workspace.temp.folder, "other");
    mkdirSync(other);
    git(other, workspace.temp.env, ["init", "--quiet"]);
    git(other, workspace.temp.env, ["commit", "--quiet", "--allow-empty", "-m", "x"]);
    const { ok, checks } = await look({ store: other });
    expect(ok).toBe(false);
    expect(checks.at(-1)).toMatchObject({
      name: "store",
      state: "problem",
      message: expect.stringContaining("not a jpg store"),
    });
  });
});

function leaveObject(): void {
  mkdirSync(join(workspace.store.gitDir, "objects", "ab"), { recursive: true });
  leave("objects/ab/tmp_obj_a1b2c3", 2);
}

async function loseWorktree(): Promise<void> {
  const directory = join(workspace.temp.folder, "checkout");
  await checkoutBranch(workspace, await resolveBranch(workspace), { directory, full: false });
  rmSync(directory, { recursive: true });
}

it("says on Windows that access lists, which nobody checks, take the place of modes", async () => {
  const rowOf = async (platform: string) =>
    (await examine({ ...workspace.runtime, platform }, { store: root, fix: false })).checks.filter(
      ({ name }) => name === "privacy",
    );
  expect(await rowOf("win32")).toEqual([
    { name: "privacy", state: "ok", message: expect.stringMatching(/access lists/) },
  ]);
  for (const platform of ["linux", "darwin"]) expect(await rowOf(platform)).toEqual([]);
});
