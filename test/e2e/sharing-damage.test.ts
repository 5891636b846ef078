// What fsck would find an error in leaves no store, nor does what is local: not with jpg push, and not with stock git.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { git, initRepository } from "../helpers/temp-repository.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

let sandbox: ImportedSandbox;
let bare: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox(3);
  bare = join(sandbox.root, "bare.git");
  initRepository(bare, "--bare");
  await sandbox.jpg(["remote", "add", "team", bare]);
});
afterEach(() => sandbox.remove());

const refs = (): string => sandbox.git(["for-each-ref", "refs/heads/*/*"], bare);

/** Changes a turn as a hand would that knows nothing of what follows from it. */
function damage(): void {
  const path = "turns/0000/000001.jsonl";
  const file = join(sandbox.root, "turn");
  writeFileSync(file, sandbox.git(["show", `HEAD:${path}`]).replace('"content":"', '"content":"not '));
  const oid = sandbox.git(["hash-object", "-w", file]).trim();
  const env = { ...sandbox.env, GIT_INDEX_FILE: join(sandbox.root, "index") };
  const run = (...args: string[]): string => git(sandbox.store, env, args).trim();
  run("read-tree", "HEAD");
  run("update-index", "--add", "--cacheinfo", `100644,${oid},${path}`);
  const commit = run("commit-tree", run("write-tree"), "-p", "HEAD", "-m", "Not what was said");
  sandbox.git(["reset", "--quiet", "--hard", commit]);
}

it("refuses a damaged conversation, says where to look, and sends it once it is mended", {
  tags: ["slow"],
}, async () => {
  damage();
  const { run } = createTerminalSession(sandbox);
  for (const words of ["jpg push --dry-run", "jpg push"]) expect(await run(words)).toContain("[exit 3]\n");
  expect(await run("jpg push")).toMatchInlineSnapshot(`
    "$ jpg push
    ! To team (branches): <root>/bare.git
    ! error: <id>/main is damaged, and copies of it would be, too; nothing was sent:
    !        turns/0000/000002.jsonl: turn 2 was said after turn file <commit 1>, but turn 1 is <commit 2>: no model ever saw these turns in a row (chain_broken)
    ! hint: \`jpg fsck <id>/main\` shows all of it.
    ! hint: \`jpg git branch <id>/side-1 <commit 3>\` makes a fork with turns 0..2 of one side.
    [exit 3]
    "
  `);
  expect(() => sandbox.git(["push", "--quiet", "team", "--all"])).toThrow(/is damaged/);
  expect(() => sandbox.git(["push", "--quiet", bare, "HEAD:refs/heads/any/name"])).toThrow(/is damaged/);
  expect(refs()).toBe("");
  sandbox.git(["reset", "--quiet", "--hard", "HEAD~1"]);
  expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
  expect(refs()).toContain(sandbox.conversation);
});

it("lets commits pass that are no conversation, and what is odd but readable", { tags: ["slow"] }, async () => {
  const tree = sandbox.git(["hash-object", "-t", "tree", "-w", "/dev/null"]).trim();
  const commit = sandbox.git(["commit-tree", "-m", "Nothing", tree]).trim();
  sandbox.git(["tag", "-a", "-m", "A tag", "v1", commit]);
  sandbox.git(["push", "--quiet", "team", `${commit}:refs/heads/clean`, "v1"]);
  sandbox.git(["rm", "--quiet", "--sparse", ".gitattributes"]);
  sandbox.git(["commit", "--quiet", "-m", "Without attributes"]);
  expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 0, stdout: expect.stringContaining("attributes_differ") });
  expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
});

it("sends nothing that only a local conversation holds, whatever it is called", { tags: ["slow"] }, async () => {
  sandbox.git(["tag", "v1"]);
  await sandbox.jpg(["local", "@"]);
  const tip = `${sandbox.conversation}/main`;
  const [blob, tree] = [`${tip}:turns/0000/000001.jsonl`, `${tip}:turns`].map((name) =>
    sandbox.git(["rev-parse", name]).trim(),
  );
  const folded = sandbox.git(["commit-tree", "-m", "Turns", tree ?? ""]).trim();
  sandbox.git(["tag", "turn", blob ?? ""]);
  for (const what of ["v1", "turn", `${blob}:refs/tags/other`, `${tree}:refs/tags/tree`, `${folded}:refs/heads/folded`])
    expect(() => sandbox.git(["push", "--quiet", "team", what])).toThrow(/is local/);
  const empty = sandbox.git(["hash-object", "-t", "tree", "-w", "/dev/null"]).trim();
  sandbox.git([
    "push",
    "--quiet",
    "team",
    `${sandbox.git(["commit-tree", "-m", "Nothing", empty]).trim()}:refs/heads/x`,
  ]);
  await sandbox.jpg(["local", "@", "--off"]);
  sandbox.git(["push", "--quiet", "team", "turn"]);
});

it("forgets that a conversation was local once it is purged", async () => {
  await sandbox.jpg(["local", "@"]);
  await sandbox.jpg(["rm", sandbox.conversation]);
  expect(await sandbox.json(["local"])).toEqual([sandbox.conversation]);
  await sandbox.jpg(["rm", "--purge", "--yes"]);
  expect(await sandbox.json(["local"])).toEqual([]);
});

it("looks at the store that git pushes from, wherever git is run", async () => {
  const git = (...args: string[]): string =>
    sandbox.git([`--git-dir=${join(sandbox.store, ".git")}`, "push", "--quiet", ...args], sandbox.root);
  await sandbox.jpg(["local", "@"]);
  expect(() => git("team", `${sandbox.conversation}/main`)).toThrow(/is local/);
  await sandbox.jpg(["local", "@", "--off"]);
  git("team", `${sandbox.conversation}/main`);
  expect(refs()).toContain(sandbox.conversation);
});

describe("what somebody removed from the remote", () => {
  const gone = (): string => `${sandbox.conversation}/main`;
  const there = (): string => sandbox.git(["ls-remote", "team"]);

  beforeEach(async () => {
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
    const url = sandbox.git(["remote", "get-url", "team"]).trim();
    sandbox.git(["--git-dir", url, "update-ref", "-d", `refs/heads/${gone()}`]);
  });

  it.each([[["push"]], [["push", "--all"]], [["push", "@"]]])(
    "is not sent again by `jpg %s` before its user says so",
    async (command) => {
      const { code, stderr } = await sandbox.jpg(command);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`Somebody removed ${gone()} from team`)]);
      expect(there()).not.toContain(gone());
      expect(await sandbox.jpg([...command, "--yes"])).toMatchObject({ code: 0 });
      expect(there()).toContain(gone());
      expect(await sandbox.jpg(command)).toMatchObject({ code: 0 });
    },
  );

  it("is told of by fetch and pull, and stays here", async () => {
    for (const command of ["fetch", "pull"]) {
      const { code, stdout } = await sandbox.jpg([command]);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`you still have: ${sandbox.conversation}`)]);
      expect(stdout).toContain("which has 0 branches");
      expect(await sandbox.json([command])).toMatchObject({ gone: [gone()], total: 0 });
    }
    expect(sandbox.git(["branch", "--list", gone()])).toContain(gone());
    // A fork that is new to the remote goes there all the same.
    await sandbox.jpg(["fork", "@", "beside"]);
    await sandbox.jpg(["push", "--all"]);
    expect(there()).toContain(`${sandbox.conversation}/beside`);
    expect(there()).not.toContain(gone());
  });
});
