// The README branch that older versions wrote to a repository made for conversations, and every way in which stock git clones such a repository: what people
// see there, and that the next command works in it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { initRepository } from "../helpers/temp-repository.ts";

let sandbox: ImportedSandbox;
let bare: string;
let main: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  bare = join(sandbox.root, "bare.git");
  main = `${sandbox.conversation}/main`;
  initRepository(bare, "--bare", "--initial-branch=trunk");
});
afterEach(() => sandbox.remove());

const refs = (where = bare): string[] => sandbox.git(["for-each-ref", "--format=%(refname)"], where).split("\n");
const tip = (ref: string, where = bare): string => sandbox.git(["rev-parse", ref], where);
const add = (...more: string[]) => sandbox.jpg(["remote", "add", "team", bare, ...more]);

interface Pushed {
  readonly branches: readonly { readonly status: string }[];
}

/** Writes the branch that jpg once wrote with the first push. */
function writeReadme(): void {
  const folder = join(sandbox.root, "readme");
  initRepository(folder, "--initial-branch=trunk");
  const files = { ".gitattributes": "* -text\n", ".jpg-store": '{"format":1}\n', "README.md": "# Conversations\n" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  sandbox.git(["add", "--all"], folder);
  sandbox.git(["commit", "--quiet", "-m", "Say what this repository is"], folder);
  sandbox.git(["push", "--quiet", bare, "trunk"], folder);
}

describe("the README branch", () => {
  it("is written no more: a push sends what was asked for, and a plain clone of it is taken over", async () => {
    await add();
    await sandbox.jpg(["push"]);
    expect(refs()).toEqual([`refs/heads/${main}`]);
    const clone = join(sandbox.root, "clone");
    sandbox.git(["clone", "--quiet", bare, clone], sandbox.root);
    expect(await sandbox.jpg(["pull"], { cwd: clone })).toMatchObject({ code: 0 });
    expect(await sandbox.json(["ls"], { cwd: clone })).toMatchObject([{ id: sandbox.conversation, turns: 6 }]);
  });

  it("stays as its owner changed it: push, fetch and pull leave it alone, and no command takes it for a conversation", {
    tags: ["slow"],
  }, async () => {
    await add();
    await sandbox.jpg(["push"]);
    writeReadme();
    const theirs = join(sandbox.root, "theirs");
    sandbox.git(["clone", "--quiet", bare, theirs], sandbox.root);
    writeFileSync(join(theirs, "README.md"), "# Ours\n");
    sandbox.git(["commit", "--quiet", "--all", "-m", "ours"], theirs);
    sandbox.git(["push", "--quiet"], theirs);
    const there = tip("trunk");
    await sandbox.jpg(["compact"]);
    expect(await sandbox.json<Pushed>(["push"])).toMatchObject({ branches: [{ status: "updated" }] });
    expect((await sandbox.jpg(["pull"])).stdout).toContain("Nothing new from team, which has 1 branch.");
    expect(await sandbox.json(["fetch"])).toMatchObject({ branches: [], total: 1 });
    expect(tip("trunk")).toBe(there);
    expect(await sandbox.jpg(["pull"], { cwd: theirs })).toMatchObject({ code: 0 });
    expect(await sandbox.json(["ls", "--branches"], { cwd: theirs })).toMatchObject([{ id: sandbox.conversation }]);
    expect(await sandbox.json(["fsck"], { cwd: theirs })).toMatchObject({ ok: true, branches: 1 });
    expect(await sandbox.jpg(["push", "--all"], { cwd: theirs })).toMatchObject({ code: 0, stderr: /^To origin/ });
    expect(await sandbox.json(["scan"], { cwd: theirs })).toMatchObject({});
    expect(await sandbox.jpg(["use", "trunk"], { cwd: theirs })).toMatchObject({ code: 2 });
    expect(await sandbox.jpg(["show", "trunk"], { cwd: theirs })).not.toMatchObject({ code: 0 });
    // Stock git goes there and back.
    sandbox.git(["switch", "--quiet", "trunk"], theirs);
    expect(await sandbox.jpg(["log"], { cwd: theirs })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "No conversation is checked out here: HEAD is on trunk, which is not a conversation.",
      ),
    });
    expect(await sandbox.jpg(["use", main], { cwd: theirs })).toMatchObject({ code: 0 });
  });
});

const ADOPTED = "is a clone without jpg's hooks: it has them now";

describe("a clone that stock git made", () => {
  beforeEach(async () => {
    await add();
    await sandbox.jpg(["push"]);
    writeReadme();
    sandbox.git(["config", "uploadpack.allowFilter", "true"], bare);
  });

  const clone = (...words: string[]): string => {
    const folder = join(sandbox.root, "clone");
    sandbox.git(["clone", "--quiet", ...words, folder], sandbox.root);
    return folder;
  };

  it.each([
    ["with the README checked out", []],
    ["of the README branch alone", ["--single-branch"]],
    ["that is shallow", ["--depth=1"]],
    ["without blobs", ["--filter=blob:none", "--no-checkout"]],
  ])("%s is taken over with a line, and jpg pull brings in the rest", async (_what, flags) => {
    const folder = clone(...flags, `file://${bare}`);
    const listed = await sandbox.jpg(["ls"], { cwd: folder });
    expect(listed.stderr.split("\n").filter((line) => line.includes(ADOPTED))).toHaveLength(1);
    expect(listed).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("`jpg pull` brings in") });
    expect(await sandbox.jpg(["pull"], { cwd: folder })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Now on ${main}\n`),
      stderr: `From origin (branches): file://${bare}\n`,
    });
    expect(await sandbox.json(["ls"], { cwd: folder })).toMatchObject([{ id: sandbox.conversation, turns: 6 }]);
    expect(existsSync(join(folder, "VIEW.md"))).toBe(true);
    expect(sandbox.git(["status", "--porcelain"], folder)).toBe("");
  });

  it.each([
    ["on a conversation", ["--branch"]],
    ["on a conversation alone", ["--single-branch", "--branch"]],
    ["on the newest commit of a conversation", ["--depth=1", "--branch"]],
  ])("%s works at once", async (_what, flags) => {
    const folder = clone(...flags, main, `file://${bare}`);
    const compacted = await sandbox.jpg(["compact"], { cwd: folder });
    expect(compacted).toMatchObject({ code: 0, stderr: expect.stringContaining(ADOPTED) });
    expect(compacted.stderr.includes("git fetch --unshallow")).toBe(flags.includes("--depth=1"));
    expect(await sandbox.jpg(["push"], { cwd: folder })).toMatchObject({ code: 0 });
    expect(tip(main)).toBe(tip(main, folder));
  });

  it("whose history is cut off says so in the log, and what brings the rest", { tags: ["slow"] }, async () => {
    await sandbox.jpg(["compact", "--to", "1"]);
    await sandbox.jpg(["push"]);
    const folder = clone("--depth=1", "--branch", main, `file://${bare}`);
    const { stdout, stderr } = await sandbox.jpg(["log"], { cwd: folder });
    expect(stdout).toMatch(/^\S+ \(\S+, in force, history is cut off here\) compact 0\.\.1: /);
    expect(stderr).toContain(
      "The history before is not in this shallow clone: `jpg git fetch --unshallow` downloads it.",
    );
    expect(await sandbox.json(["log"], { cwd: folder })).toMatchObject([{ squashed: true, cut_off: true }]);
    await sandbox.jpg(["git", "fetch", "--quiet", "--unshallow"], { cwd: folder });
    const whole = await sandbox.jpg(["log"], { cwd: folder });
    expect([whole.stdout.includes("cut off"), whole.stderr]).toEqual([false, ""]);
  });

  it.each([
    ["--bare", "trunk"],
    ["--bare", "nothing"],
    ["--mirror", "trunk"],
  ])("that is bare (%s, HEAD on %s) is read as it is", { tags: ["slow"] }, async (flag, head) => {
    sandbox.git(["symbolic-ref", "HEAD", `refs/heads/${head}`], bare);
    const folder = clone(flag, bare);
    expect(await sandbox.json(["ls"], { cwd: folder })).toMatchObject([{ id: sandbox.conversation, turns: 6 }]);
    expect(await sandbox.jpg(["log"], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`HEAD is on ${head}, which is not a conversation.`),
    });
    expect(await sandbox.jpg(["compact", main], { cwd: folder })).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["push", main], { cwd: folder })).toMatchObject({ code: 0 });
    expect(tip(main)).toBe(tip(main, folder));
  });

  it.each([["trunk"], ["nothing"], ["main"]])(
    "is the project's store at .git/jpg, HEAD on %s",
    { tags: ["slow"] },
    async (head) => {
      sandbox.git(["symbolic-ref", "HEAD", `refs/heads/${head === "main" ? main : head}`], bare);
      for (const kind of ["", "--bare"]) {
        const project = join(sandbox.root, `around${kind}`);
        mkdirSync(project);
        sandbox.git(["init", "--quiet"], project);
        sandbox.git(
          ["clone", "--quiet", ...(kind === "" ? [] : [kind]), bare, join(project, ".git/jpg")],
          sandbox.root,
        );
        const pulled = await sandbox.jpg(["pull"], { cwd: project });
        expect([pulled.code, pulled.stderr.includes(ADOPTED)]).toEqual([0, kind === ""]);
        expect(await sandbox.json(["ls"], { cwd: project })).toMatchObject([{ id: sandbox.conversation }]);
      }
    },
  );
});
