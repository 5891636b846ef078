// Remotes, push, fetch and local conversations, over folders: what is sent where, what is refused, and that nothing is lost.
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { git, initRepository } from "../helpers/temp-repository.ts";

let sandbox: ImportedSandbox;
let bare: string;
let main: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  bare = join(sandbox.root, "bare.git");
  main = `${sandbox.conversation}/main`;
  initRepository(bare, "--bare");
});
afterEach(() => sandbox.remove());

const refs = (where = bare): string[] => sandbox.git(["for-each-ref", "--format=%(refname)"], where).split("\n");
const tip = (ref: string, where = bare): string => sandbox.git(["rev-parse", ref], where);
const add = (...more: string[]) => sandbox.jpg(["remote", "add", "team", bare, ...more]);

interface Pushed {
  readonly branches: readonly { readonly branch: string; readonly status: string; readonly turns: number }[];
  readonly as: string;
  readonly url: string;
  readonly local: readonly string[];
  readonly bytes: number;
}

describe("a remote that names objects by SHA-256", () => {
  beforeEach(async () => {
    bare = join(sandbox.root, "other.git");
    initRepository(bare, "--bare", "--object-format=sha256");
    expect(await add("--as", "branches")).toMatchObject({ code: 0 });
  });

  it.each(["empty", "with a branch"])("is named as one, by whatever reaches it (%s)", async (filled) => {
    if (filled !== "empty") {
      const work = join(sandbox.root, "work");
      initRepository(work, "--object-format=sha256");
      sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "x"], work);
      sandbox.git(["push", "--quiet", bare, "HEAD:refs/heads/talk-k3f9/main"], work);
    }
    const commands = [["push"], ...(filled === "empty" ? [] : [["fetch"], ["pull"], ["clone", bare, "copy"]])];
    for (const command of commands) {
      const { code, stderr } = await sandbox.jpg(command);
      expect([command, code]).toEqual([command, 3]);
      expect(stderr).toMatch(/names objects by SHA-256.*hint: Git sends nothing between the two/s);
      expect(stderr).not.toContain("Run the command again");
    }
  });
});

describe("jpg remote", () => {
  it("adds, lists and forgets; stock git reads the same refspecs", { tags: ["slow"] }, async () => {
    expect(await add("--as", "hidden")).toMatchObject({ code: 0, stdout: `Added team (hidden refs): ${bare}\n` });
    expect(await sandbox.json(["remote", "ls"])).toEqual([{ name: "team", url: bare, as: "hidden", branches: 0 }]);
    expect(await add()).toMatchObject({ code: 2, stderr: expect.stringContaining("There is a remote team already.") });
    sandbox.git(["push", "--quiet", "team"]);
    expect(refs()).toEqual([`refs/jpg/conversations/${main}`]);
    expect(await sandbox.jpg(["remote", "rm", "team"])).toMatchObject({ code: 0 });
    expect(await sandbox.json(["remote"])).toEqual([]);
    expect(await sandbox.jpg(["remote", "rm", "team"])).toMatchObject({ code: 2 });
  });

  it("hides conversations where the project itself is pushed, and says so when they are to be branches there", async () => {
    sandbox.git(["remote", "add", "origin", "../bare.git"], sandbox.project);
    expect((await sandbox.jpg(["remote", "add", "o", bare])).stdout).toContain("o (hidden refs)");
    const open = await sandbox.jpg(["remote", "add", "p", bare, "--as", "branches"]);
    expect(open).toMatchObject({ code: 0, stderr: expect.stringContaining("its branch list will show conversations") });
    expect((await sandbox.jpg(["remote", "add", "q", join(sandbox.root, "other.git")])).stdout).toContain(
      "q (branches)",
    );
  });

  it.each(["ext::sh -c 'touch pwned'", "--upload-pack=touch pwned", "ssh://-oProxyCommand=touch/x"])(
    "refuses %s",
    async (url) => {
      const before = refs(sandbox.store);
      expect(await sandbox.jpg(["remote", "add", "evil", "--", url])).toMatchObject({ code: 2 });
      expect(refs(sandbox.store)).toEqual(before);
    },
  );

  it("reaches no address that starts a program, whoever wrote it into the store", async () => {
    sandbox.git(["config", "remote.team.url", `ext::sh -c 'touch ${sandbox.root}/pwned'`]);
    sandbox.git(["config", "protocol.ext.allow", "always"]);
    for (const words of [["push"], ["fetch"], ["remote"]])
      expect(await sandbox.jpg(words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("not an address that jpg can use"),
      });
    expect(existsSync(join(sandbox.root, "pwned"))).toBe(false);
  });

  it("sends nothing where the store's own settings stand in between, and names them", async () => {
    await add();
    sandbox.git(["config", `url.${sandbox.root}/elsewhere.git.insteadOf`, bare]);
    const pushed = await sandbox.jpg(["push"]);
    expect(pushed).toMatchObject({ code: 3, stderr: expect.stringContaining("insteadof") });
    expect(refs()).toEqual([""]);
  });
});

describe("jpg push", () => {
  it("sends the fork that @ stands on, as branches, and says where, what and how much", async () => {
    await add();
    await sandbox.jpg(["fork", "@", "other"]);
    await sandbox.jpg(["use", main]);
    const pushed = await sandbox.jpg(["push"]);
    expect(pushed.stderr).toBe(`To team (branches): ${bare}\n`);
    expect(pushed.stdout).toMatch(/^ {2}new {2}\S+\/main {2}6 turns\nSent 1 branch, 6 turns, [\d.]+ kB to team\.\n$/);
    expect(refs()).toEqual([`refs/heads/${main}`]);
    expect(tip(main)).toBe(tip(main, sandbox.store));
    expect(tip(`refs/remotes/team/${main}`, sandbox.store)).toBe(tip(main));
    expect((await sandbox.jpg(["push"])).stdout).toBe("Nothing to send: team has all of it (1 branch).\n");
  });

  it("sends all forks of an id, one that is named, and all only when asked", async () => {
    await add("--as", "hidden");
    await sandbox.jpg(["fork", "@", "one"]);
    await sandbox.jpg(["fork", "@", "two"]);
    const forks = async (...words: string[]): Promise<string[]> =>
      (await sandbox.json<Pushed>(["push", ...words])).branches.map(
        ({ branch, status }) => `${branch.split("/")[1]} ${status}`,
      );
    expect(await forks(`${sandbox.conversation}/one`)).toEqual(["one new"]);
    expect(await forks(sandbox.conversation)).toEqual(["main new", "one unchanged", "two new"]);
    expect(await sandbox.jpg(["push", sandbox.conversation, "--all"])).toMatchObject({ code: 2 });
    expect(await forks("--all")).toEqual(["main unchanged", "one unchanged", "two unchanged"]);
    expect(refs().every((ref) => ref.startsWith("refs/jpg/conversations/"))).toBe(true);
  });

  it("sends nothing in a dry run", async () => {
    await add();
    const dry = await sandbox.json<Pushed>(["push", "--dry-run"]);
    expect(dry).toMatchObject({
      remote: "team",
      as: "branches",
      url: bare,
      branches: [{ branch: main, status: "new", turns: 6 }],
    });
    expect(dry.bytes).toBeGreaterThan(1000);
    expect(refs()).toEqual([""]);
    expect(existsSync(join(sandbox.store, ".git", "jpg-pushed"))).toBe(false);
  });

  it("counts what went out as pushed, so that it is never replaced", async () => {
    await add();
    await sandbox.jpg(["push"]);
    await sandbox.jpg(["remote", "rm", "team"]);
    expect(existsSync(join(sandbox.store, ".git", "jpg-pushed"))).toBe(true);
  });

  it("overwrites nothing: what others added has to be pulled first", async () => {
    await add();
    await sandbox.jpg(["push"]);
    const theirs = join(sandbox.root, "theirs");
    sandbox.git(["clone", "--quiet", "--branch", main, bare, theirs], sandbox.root);
    sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "theirs"], theirs);
    sandbox.git(["push", "--quiet"], theirs);
    const there = tip(main);
    await sandbox.jpg(["compact"]);
    const pushed = await sandbox.jpg(["push"]);
    expect(pushed).toMatchObject({ code: 3, stderr: expect.stringContaining("jpg pull --from team") });
    expect(pushed.stdout).toContain("not sent: pull first");
    expect(tip(main)).toBe(there);
  });

  it("says what a host refuses, and offers branches for hidden refs; it works when tried again", async () => {
    const hook = join(bare, "hooks", "pre-receive");
    writeFileSync(hook, "#!/bin/sh\nwhile read o n r; do case $r in refs/heads/*) ;; *) exit 1;; esac; done\n");
    chmodSync(hook, 0o755);
    await add("--as", "hidden");
    const refused = await sandbox.jpg(["push"]);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("pre-receive hook declined") });
    expect(refused.stderr).toContain("--as branches");
    const document = await sandbox.json<Pushed>(["push"]);
    expect(document.branches).toMatchObject([{ status: "refused", reason: "pre-receive hook declined" }]);
    rmSync(hook);
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
    expect(refs()).toEqual([`refs/jpg/conversations/${main}`]);
  });

  it("names what to type where there is no remote, and in a project its origin; nobody is asked without a terminal", async () => {
    expect(await sandbox.jpg(["push"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("This store has no remote."),
    });
    sandbox.git(["remote", "add", "origin", bare], sandbox.project);
    const offered = await sandbox.jpg(["push"]);
    expect(offered).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("everyone who can read that repository"),
    });
    expect(offered.stderr).toContain(`jpg remote add origin ${bare} --as hidden`);
    const asked = offered.stderr.split("\nhint:")[0]?.split("\n") ?? [];
    expect(asked.at(-1)).toMatch(/^ *Push to origin as hidden refs\?$/);
    expect(Math.max(...asked.slice(1).map((line) => line.length))).toBeLessThan(80);
    expect(refs()).toEqual([""]);
  });

  it("names the remotes where it could be several, and takes origin", async () => {
    await add();
    await sandbox.jpg(["remote", "add", "second", join(sandbox.root, "second.git")]);
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 2, stderr: expect.stringContaining("team, second") });
    await sandbox.jpg(["remote", "add", "origin", bare]);
    expect((await sandbox.json<{ remote: string }>(["push", "--dry-run"])).remote).toBe("origin");
    expect((await sandbox.json<{ remote: string }>(["push", "--to", "team"])).remote).toBe("team");
  });

  it.each([
    ["gone.git", "remote_not_found"],
    ["http://127.0.0.1:9/x", "remote_unreachable"],
  ])("says what is wrong with %s", async (url, code) => {
    await sandbox.jpg(["remote", "add", "team", url]);
    const { error } = await sandbox.json<{ error: { code: string; kind: string } }>(["push"]);
    expect(error).toMatchObject({ code, kind: "repository" });
  });
});

describe("jpg fetch", () => {
  it("brings what is there beside one's own branches, and changes none", async () => {
    await add();
    await sandbox.jpg(["push"]);
    sandbox.git(["update-ref", `refs/heads/${sandbox.conversation}/new`, main], bare);
    sandbox.git(["update-ref", "refs/heads/no-conversation", main], bare);
    const before = refs(sandbox.store);
    const fetched = await sandbox.json<Pushed & { total: number }>(["fetch"]);
    expect(fetched).toMatchObject({ branches: [{ branch: `${sandbox.conversation}/new`, status: "new" }], total: 2 });
    const own = (list: string[]): string[] => list.filter((ref) => ref.startsWith("refs/heads/"));
    expect(own(refs(sandbox.store))).toEqual(own(before));
    expect(sandbox.git(["tag"])).toBe("");
    expect((await sandbox.jpg(["fetch"])).stdout).toBe("Nothing new from team, which has 2 branches.\n");
  });
});

describe("what a fetch brought", () => {
  it("becomes a branch of one's own with jpg use, from hidden refs, too", async () => {
    await add("--as", "hidden");
    await sandbox.jpg(["push"]);
    sandbox.git(
      ["update-ref", `refs/jpg/conversations/${sandbox.conversation}/new`, tip(`refs/jpg/conversations/${main}`)],
      bare,
    );
    await sandbox.jpg(["fetch"]);
    expect(await sandbox.jpg(["use", `${sandbox.conversation}/new`])).toMatchObject({ code: 0 });
    expect(tip(`${sandbox.conversation}/new`, sandbox.store)).toBe(tip(main, sandbox.store));
    expect((await sandbox.jpg(["pull"])).stdout).toContain("Nothing new from team, which has 2 branches.");
  });
});

describe("jpg local", () => {
  it("keeps a conversation and its forks here: neither jpg nor stock git pushes them", { tags: ["slow"] }, async () => {
    await add();
    expect((await sandbox.jpg(["local", "@"])).stdout).toContain("is local: it is never sent.");
    await sandbox.jpg(["fork", "@", "later"]);
    for (const words of [["push"], ["push", sandbox.conversation], ["push", main]])
      expect(await sandbox.jpg(words)).toMatchObject({ code: 2, stderr: expect.stringContaining("is local") });
    const all = await sandbox.json<Pushed>(["push", "--all"]);
    expect(all).toMatchObject({ branches: [], local: [sandbox.conversation] });
    expect(() => sandbox.git(["push", "--quiet", bare, main])).toThrow("is local");
    // By another name, too.
    expect(() => sandbox.git(["push", "--quiet", bare, `${main}:refs/heads/harmless`])).toThrow("is local");
    expect(refs()).toEqual([""]);
    expect(await sandbox.json(["local"])).toEqual([sandbox.conversation]);
    // Nothing of it stands in a tree.
    expect(sandbox.git(["log", "--all", "-1", "--format=%s"])).not.toContain("local");
  });

  it("lets it go again, and says when it was seen elsewhere before", { tags: ["slow"] }, async () => {
    await add();
    await sandbox.jpg(["push"]);
    expect(await sandbox.jpg(["local", "@"])).toMatchObject({ stderr: expect.stringContaining("It was seen on team") });
    await sandbox.jpg(["local", "@", "--off"]);
    expect(await sandbox.json(["local"])).toEqual([]);
    await sandbox.jpg(["compact"]);
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
    sandbox.git(["push", "--quiet", bare, `${main}:refs/heads/more`]);
  });
});

describe("jpg clone", () => {
  it("makes a store in which ls shows everything, use and checkout work, and stock git does", async () => {
    await add();
    await sandbox.jpg(["fork", "@", "other", "--first", "2"]);
    await sandbox.jpg(["push", "--all"]);
    const cloned = await sandbox.jpg(["clone", bare], { cwd: sandbox.root });
    const talks = join(sandbox.root, "bare");
    expect(cloned).toMatchObject({ code: 0, stderr: "" });
    expect(cloned.stdout).toContain(
      `Cloned 1 conversation (2 branches) into ${talks}\nfrom origin (branches): ${bare}\n`,
    );
    expect(await sandbox.json(["ls"], { cwd: talks })).toMatchObject([{ id: sandbox.conversation, forks: 1 }]);
    expect(await sandbox.jpg(["use", `${sandbox.conversation}/other`], { cwd: talks })).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["checkout", main, join(sandbox.root, "place")], { cwd: talks })).toMatchObject({
      code: 0,
    });
    expect(sandbox.git(["status", "--porcelain"], talks)).toBe("");
    expect(sandbox.git(["rev-list", "--count", main], talks)).toBe("7");
    expect(await sandbox.jpg(["push"], { cwd: talks })).toMatchObject({ code: 0 });
  });

  it.each([["gone.git"], ["empty.git"], ["http://127.0.0.1:9/x"], ["ext::sh -c id"]])(
    "leaves nothing behind of %s",
    async (url) => {
      initRepository(join(sandbox.root, "empty.git"), "--bare");
      const failed = await sandbox.jpg(["clone", url, "made"], { cwd: sandbox.root });
      expect([2, 3]).toContain(failed.code);
      expect(existsSync(join(sandbox.root, "made"))).toBe(false);
    },
  );

  it("refuses a folder with something in it", async () => {
    const full = await sandbox.jpg(["clone", bare, sandbox.project], { cwd: sandbox.root });
    expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining("exists and is not empty") });
  });

  it("follows the settings of no repository around, and none that the address brings", async () => {
    await add();
    await sandbox.jpg(["push"]);
    sandbox.git(["config", "core.sshCommand", `touch ${sandbox.root}/pwned; false`], sandbox.project);
    sandbox.git(["config", `url.${sandbox.root}/elsewhere.insteadOf`, bare], sandbox.project);
    expect(await sandbox.jpg(["clone", bare, "talks"])).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["clone", "ssh://127.0.0.1:9/x", "more"])).toMatchObject({ code: 3 });
    expect(existsSync(join(sandbox.root, "pwned"))).toBe(false);
  });
});

describe("a project's own remote", () => {
  it("carries a conversation from one clone of the project to another and back", { tags: ["slow"] }, async () => {
    sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "code"], sandbox.project);
    sandbox.git(["remote", "add", "origin", bare], sandbox.project);
    sandbox.git(["push", "--quiet", "origin", "HEAD:main"], sandbox.project);
    const theirs = join(sandbox.root, "theirs");
    sandbox.git(["clone", "--quiet", "--branch", "main", bare, theirs], sandbox.root);
    const them = { cwd: theirs };
    const nothing = await sandbox.jpg(["pull"], them);
    expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no conversation on origin") });
    expect(existsSync(join(theirs, ".git", "jpg"))).toBe(false);

    await sandbox.jpg(["compact"]);
    await sandbox.jpg(["remote", "add", "origin", bare]);
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0, stderr: `To origin (hidden refs): ${bare}\n` });
    expect(sandbox.git(["branch", "--list", "--all", "--format=%(refname)"], bare)).toBe("refs/heads/main");

    const pulled = await sandbox.jpg(["pull"], them);
    expect(pulled).toMatchObject({ code: 0, stderr: `From origin (hidden refs): ${bare}\n` });
    expect(pulled.stdout).toMatch(/^ {2}new {2}\S+\/main {2}6 turns\nNow on \S+\/main\n$/);
    const [{ compaction }] = await sandbox.json<[{ compaction: string }]>(["log"], them);
    await sandbox.jpg(["revert", compaction], them);
    expect(await sandbox.jpg(["push"], them)).toMatchObject({ code: 0 });
    await sandbox.jpg(["title", "@", "The tide"]);
    const back = await sandbox.json<{ branches: readonly { status: string }[] }>(["pull"]);
    expect(back.branches).toMatchObject([{ branch: main, status: "merged" }]);
    expect(await sandbox.json(["ls"])).toMatchObject([{ title: "The tide", compactions: 0 }]);
    // The project itself has noticed nothing.
    expect(sandbox.git(["status", "--porcelain"], theirs)).toBe("");
    expect(sandbox.git(["for-each-ref", "refs/jpg"], theirs)).toBe("");
  });

  it("is warned of by the doctor where the project is mirrored there, which deletes hidden refs", async () => {
    const verdict = async () => {
      const { checks } = await sandbox.json<{ checks: readonly { name: string; state: string; message: string }[] }>([
        "doctor",
      ]);
      return checks.find(({ name }) => name === "remote");
    };
    sandbox.git(["remote", "add", "origin", bare], sandbox.project);
    await sandbox.jpg(["remote", "add", "origin", bare]);
    expect(await verdict()).toMatchObject({ state: "ok", message: "remotes: origin (hidden refs)" });
    await sandbox.jpg(["push"]);
    sandbox.git(["config", "remote.origin.mirror", "true"], sandbox.project);
    expect(await verdict()).toMatchObject({
      state: "warning",
      message: expect.stringContaining("deletes the conversations"),
    });
    // It is true, and nothing is lost here: what a remote no longer has is not removed.
    sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "code"], sandbox.project);
    sandbox.git(["push", "--quiet"], sandbox.project);
    expect(refs().filter((ref) => ref.startsWith("refs/jpg/"))).toEqual([]);
    await sandbox.jpg(["pull"]);
    expect(tip(main, sandbox.store)).toMatch(/^[0-9a-f]{40}$/);
    expect(await sandbox.jpg(["push", "--yes"])).toMatchObject({ code: 0 });
    expect(refs()).toContain(`refs/jpg/conversations/${main}`);
  });

  it("is not asked in a project without one", async () => {
    sandbox.git(["init", "--quiet", join(sandbox.root, "alone")], sandbox.root);
    const { code, stderr } = await sandbox.jpg(["pull"], { cwd: join(sandbox.root, "alone") });
    expect([code, stderr]).toEqual([2, expect.stringContaining("This store has no remote.")]);
  });
});

describe("a host reached over ssh", () => {
  it("is reached with the command that the user's environment names", async () => {
    const ssh = join(sandbox.root, "ssh");
    writeFileSync(ssh, '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n');
    chmodSync(ssh, 0o755);
    const env = { GIT_SSH_COMMAND: ssh };
    await sandbox.jpg(["remote", "add", "team", `git@example.com:${bare}`]);
    expect(await sandbox.jpg(["push"], { env })).toMatchObject({
      code: 0,
      stderr: `To team (branches): git@example.com:${bare}\n`,
    });
    expect((await sandbox.jpg(["fetch"], { env })).stdout).toContain("Nothing new from team");
    expect(await sandbox.jpg(["fetch"], { env: { GIT_SSH_COMMAND: "false" } })).toMatchObject({ code: 3 });
  });
});

describe("a hostile remote", () => {
  it("cannot bring objects that git would not store, nor names that steer a terminal", async () => {
    await add();
    await sandbox.jpg(["push"]);
    const blob = sandbox.git(["hash-object", "-w", "--stdin"], bare);
    const inner = git(bare, sandbox.env, ["mktree"], `100644 blob ${blob}\tconfig\n`);
    const tree = git(bare, sandbox.env, ["mktree"], `040000 tree ${inner}\t.git\n`);
    const evil = sandbox.git(["commit-tree", tree, "-m", "evil"], bare);
    sandbox.git(["update-ref", `refs/heads/${sandbox.conversation}/evil`, evil], bare);
    const before = refs(sandbox.store);
    const { error } = await sandbox.json<{ error: { code: string } }>(["pull"]);
    expect(error.code).toBe("remote_objects");
    expect(refs(sandbox.store)).toEqual(before);
    sandbox.git(["update-ref", "-d", `refs/heads/${sandbox.conversation}/evil`], bare);
    sandbox.git(["update-ref", "refs/heads/x\u202e\u009b/main", main], bare);
    const pulled = await sandbox.jpg(["pull"]);
    expect(pulled.code).toBe(0);
    expect(pulled.stdout + pulled.stderr).not.toMatch(/\u202e|\u009b/);
  });

  it("cannot bring submodules, however often it is asked; what git refuses is named, not how far it got", async () => {
    await add();
    await sandbox.jpg(["push"]);
    const blob = git(
      bare,
      sandbox.env,
      ["hash-object", "-w", "--stdin"],
      '[submodule "x"]\n\tpath = x\n\turl = -u./x\n',
    );
    const entry = `100644 blob ${blob}\t.gitmodules\n`;
    const entries = sandbox.git(["ls-tree", main], bare);
    const tree = git(bare, sandbox.env, ["mktree"], `${entries}\n${entry}`);
    const evil = sandbox.git(["commit-tree", tree, "-p", main, "-m", "evil"], bare);
    sandbox.git(["update-ref", `refs/heads/${sandbox.conversation}/evil`, evil], bare);
    const before = sandbox.git(["for-each-ref", "refs/heads"]);
    const { error } = await sandbox.json<{ error: { code: string; message: string } }>(["pull"]);
    expect([error.code, error.message]).toEqual([
      "remote_objects",
      expect.stringMatching(/\.gitmodules|gitmodulesUrl/),
    ]);
    expect(error.message).not.toContain("objects: ");
    for (let again = 0; again < 2; again++) await sandbox.jpg(["pull"]);
    expect(sandbox.git(["for-each-ref", "refs/heads"])).toEqual(before);
    // Also where only an older commit has it: git looks at what it gets once.
    const mended = sandbox.git(["commit-tree", `${main}^{tree}`, "-p", evil, "-m", "harmless"], bare).trim();
    sandbox.git(["update-ref", `refs/heads/${sandbox.conversation}/evil`, mended], bare);
    for (let again = 0; again < 3; again++) await sandbox.jpg(["pull"]);
    expect(sandbox.git(["for-each-ref", "refs/heads"])).toEqual(before);
  });
});

describe("a name that git reads as something else", () => {
  it("is given to no fork, is not sent, and is not taken from a remote", async () => {
    await add("--as", "branches");
    expect(await sandbox.jpg(["fork", "@", "HEAD"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"HEAD" means something else to git'),
    });
    sandbox.git(["branch", "--no-track", "HEAD/main", main]);
    const before = refs();
    const refused = await sandbox.jpg(["push", "--all"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("HEAD/main is not sent") });
    expect(refs()).toEqual(before);
    const [command = ""] = /git branch -m \S+ \S+/.exec(refused.stderr) ?? [];
    sandbox.git(command.split(" ").slice(1));
    expect(await sandbox.jpg(["push", "--all"])).toMatchObject({ code: 0 });
    sandbox.git(["update-ref", "refs/heads/HEAD/main", `refs/heads/${main}`], bare);
    expect(await sandbox.jpg(["pull"])).toMatchObject({ code: 0 });
    expect(refs(sandbox.store).filter((ref) => ref.startsWith("refs/heads/HEAD/"))).toEqual([]);
  });
});
