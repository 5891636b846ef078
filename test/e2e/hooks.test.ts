// Stock git in the store and in checkouts: hooks bring VIEW.md along at once, textconv makes compactions readable, and
// nothing speaks up when jpg is gone.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import type { Sandbox } from "../helpers/run-jpg.ts";
import { git } from "../helpers/temp-repository.ts";

const viewIn = (place: string): string => readFileSync(join(place, "VIEW.md"), "utf8");
const eventsIn = (place: string): string => readFileSync(join(place, "view.jsonl"), "utf8");
const projected = async (sandbox: Sandbox, branch = "@"): Promise<string> =>
  (await sandbox.jpg(["print", branch, "--compacted", "--format", "jsonl"])).stdout;

/** Text that only the uncompacted view holds. */
const THOUGHT = "thought 0: the gauge";

describe("stock git in the store and in a checkout", () => {
  let sandbox: ImportedSandbox;
  let checkout: string;
  let main: string;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox();
    main = `${sandbox.conversation}/main`;
    checkout = join(sandbox.root, "checkout");
    await sandbox.jpg(["checkout", "@", checkout]);
  });
  afterAll(() => sandbox.remove());

  /** Both worktrees show what the branch projects to, and nothing is left to commit. */
  async function expectUpToDate(): Promise<void> {
    const events = await projected(sandbox, main);
    for (const place of [sandbox.store, checkout]) {
      expect(eventsIn(place), place).toBe(events);
      expect(sandbox.git(["status", "--porcelain"], place), place).toBe("");
    }
  }

  it("git revert in the store takes a compaction back, in VIEW.md too, there and in the checkout", async () => {
    const { commit } = await sandbox.json<{ commit: string }>(["compact"]);
    expect(viewIn(sandbox.store)).not.toContain(THOUGHT);
    await expectUpToDate();
    sandbox.git(["revert", "--no-edit", commit]);
    expect(viewIn(sandbox.store)).toContain(THOUGHT);
    await expectUpToDate();
  });

  it("git revert in the checkout brings it back, in the store's own worktree too", async () => {
    sandbox.git(["revert", "--no-edit", "HEAD"], checkout);
    expect(viewIn(checkout)).not.toContain(THOUGHT);
    await expectUpToDate();
    expect((await sandbox.json<readonly { kind: string }[]>(["log"])).map(({ kind }) => kind)).toEqual([
      "reapply",
      "revert",
      "compaction",
    ]);
  });

  it("git switch shows the branch one switches to", { tags: ["slow"] }, async () => {
    await sandbox.jpg(["fork", "@", "plain", "--no-activate"]);
    await sandbox.jpg(["undo", `${sandbox.conversation}/plain`]);
    sandbox.git(["switch", "-q", `${sandbox.conversation}/plain`], checkout);
    expect(eventsIn(checkout)).toBe(await projected(sandbox, `${sandbox.conversation}/plain`));
    expect(viewIn(checkout)).toContain(THOUGHT);
    sandbox.git(["switch", "-q", "--ignore-other-worktrees", main], checkout);
    await expectUpToDate();
    sandbox.git(["switch", "-q", `${sandbox.conversation}/plain`]);
    expect(viewIn(sandbox.store)).toContain(THOUGHT);
    expect((await sandbox.json(["title"]))["branch"]).toBe(`${sandbox.conversation}/plain`);
    sandbox.git(["switch", "-q", "--ignore-other-worktrees", main]);
    await expectUpToDate();
  });

  it("git merge and git cherry-pick of a fork's compaction show the merged view", async () => {
    const side = `${sandbox.conversation}/side`;
    await sandbox.jpg(["fork", "@", "side", "--no-activate"]);
    await sandbox.jpg(["compact", side, "--profile", "light", "--keep", "1"]);
    const before = eventsIn(checkout);
    sandbox.git(["merge", "-q", "--no-edit", side], checkout);
    expect(eventsIn(checkout)).not.toBe(before);
    await expectUpToDate();
    const { commit } = await sandbox.json<{ commit: string }>(["compact", side, "--keep", "0"]);
    sandbox.git(["cherry-pick", commit]);
    await expectUpToDate();
  });

  it("git show and git log -p of a compaction are readable", async () => {
    const rows = await sandbox.json<readonly { kind: string; commit: string; compaction: string }[]>(["log"]);
    const { commit, compaction } = rows.find(({ kind }) => kind === "compaction") ?? { commit: "", compaction: "" };
    const shown = sandbox.git(["show", commit]);
    expect(shown).toContain(`+compaction ${compaction}`);
    expect(shown).toMatch(/^\+turns \d+\.\.\d+: reasoning \+ tools stripped$/m);
    expect(shown).not.toContain('{"type"');
  });

  it("says what jpg textconv needs, where somebody calls it without a file", async () => {
    expect(await sandbox.jpg(["textconv"])).toMatchObject({ code: 2, stderr: expect.stringContaining("needs a file") });
    expect(await sandbox.jpg(["textconv", "nowhere"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nowhere is not there."),
    });
  });

  it("git log -p of turns is what was said, in a checkout too; --no-textconv is what is stored", {
    tags: ["slow"],
  }, () => {
    for (const place of [sandbox.store, checkout]) {
      const log = sandbox.git(["log", "-p", "--format=%s", main, "--", "turns"], place);
      expect(log).toMatch(/^\+user {2}\S+ {2}\S+\n\+ {4}Measure the tide/m);
      expect(log).not.toContain('{"type"');
    }
    expect(sandbox.git(["log", "-p", "--no-textconv", main, "--", "turns"])).toContain('{"type":"turn_start"');
  });
});

describe.concurrent("a store without its jpg", () => {
  it("works with stock git, and its hooks do nothing, silently", async () => {
    const sandbox = await copyImportedSandbox();
    const { commit } = await sandbox.json<{ commit: string }>(["compact"]);
    const hooks = join(sandbox.store, ".git", "hooks");
    for (const name of readdirSync(hooks)) {
      const path = join(hooks, name);
      writeFileSync(
        path,
        readFileSync(path, "utf8").replace(/^node='.*' jpg='.*'$/m, "node='/gone/node' jpg='/gone/jpg.js'"),
      );
    }
    const view = viewIn(sandbox.store);
    expect(
      git(sandbox.store, sandbox.env, [
        "-c",
        "alias.all=!git revert --no-edit HEAD 2>&1 >/dev/null; git switch -q -c side/one 2>&1",
        "all",
      ]),
    ).toBe("");
    expect(sandbox.git(["show", commit])).toContain('"type"');
    expect(viewIn(sandbox.store)).toBe(view);
    await sandbox.jpg(["use", sandbox.conversation]);
    expect(eventsIn(sandbox.store)).toBe(await projected(sandbox));
    sandbox.remove();
  });

  it("finds its new place: jpg init writes hooks that call the jpg that ran it", async () => {
    const sandbox = await copyImportedSandbox(2);
    const hook = join(sandbox.store, ".git", "hooks", "post-commit");
    const before = readFileSync(hook, "utf8");
    expect(before).toContain(process.execPath);
    writeFileSync(hook, before.replace(/jpg='.*'/, "jpg='/gone/jpg.js'"));
    await sandbox.jpg(["init"]);
    expect(readFileSync(hook, "utf8")).toBe(before);
    sandbox.remove();
  });
});

describe.concurrent("what fires no hook", () => {
  it("is caught by the next use of the branch: reset --hard, update-ref, a view edited by hand", async () => {
    const sandbox = await copyImportedSandbox();
    await sandbox.jpg(["compact"]);
    sandbox.git(["reset", "-q", "--hard", "HEAD~1"]);
    await sandbox.jpg(["use", "@"]);
    expect(viewIn(sandbox.store)).toContain(THOUGHT);
    writeFileSync(join(sandbox.store, "VIEW.md"), "mine\n");
    await sandbox.jpg(["use", "@"]);
    expect(viewIn(sandbox.store)).toContain(THOUGHT);
    renameSync(join(sandbox.store, "view.jsonl"), join(sandbox.root, "elsewhere"));
    await sandbox.jpg(["use", "@"]);
    expect(existsSync(join(sandbox.store, "view.jsonl"))).toBe(true);
    sandbox.remove();
  });
});
