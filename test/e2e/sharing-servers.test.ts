// Sharing over the transports and rules that hosts have: ssh, git's daemon, hooks that refuse, refs that are hidden. Each says what
// is wrong, loses nothing, and works when tried again.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type RunningServer,
  type SshServer,
  sshdMissing,
  startGitDaemon,
  startSshServer,
} from "../helpers/git-servers.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { git, initRepository } from "../helpers/temp-repository.ts";

let sandbox: ImportedSandbox;
let bare: string;
let main: string;
let server: RunningServer | null;
beforeEach(async () => {
  server = null;
  sandbox = await copyImportedSandbox();
  mkdirSync(join(sandbox.root, "served"));
  bare = join(sandbox.root, "served", "talks.git");
  main = `${sandbox.conversation}/main`;
  initRepository(bare, "--bare");
});
afterEach(async () => {
  await server?.close();
  sandbox.remove();
});

type Env = Readonly<Record<string, string>>;

interface Failure {
  readonly error: { readonly code: string; readonly message: string; readonly hints: readonly string[] };
}

const refs = (where = bare): string => sandbox.git(["for-each-ref", "--format=%(objectname) %(refname)"], where);
const failure = async (words: string[], env: Env = {}) => (await sandbox.json<Failure>(words, { env })).error;

/** Two stores send and get through an address. */
async function expectRoundTrip(url: string, env: Env = {}): Promise<void> {
  await sandbox.jpg(["remote", "add", "team", url, "--as", "hidden"]);
  expect(await sandbox.jpg(["push"], { env })).toMatchObject({ code: 0, stderr: `To team (hidden refs): ${url}\n` });
  const talks = join(sandbox.root, "talks");
  expect(await sandbox.jpg(["clone", url, talks], { env })).toMatchObject({ code: 0, stderr: "" });
  await sandbox.jpg(["compact"]);
  expect(await sandbox.jpg(["push"], { env })).toMatchObject({ code: 0 });
  expect(await sandbox.json(["pull"], { cwd: talks, env })).toMatchObject({ branches: [{ status: "updated" }] });
  expect(sandbox.git(["rev-parse", main], talks)).toBe(sandbox.git(["rev-parse", main]));
}

const why = sshdMissing === null ? "" : `: ${sshdMissing}`;
describe.skipIf(sshdMissing !== null)(`a host reached over ssh (sshd)${why}`, () => {
  let ssh: SshServer;
  beforeEach(async () => {
    ssh = await startSshServer(join(sandbox.root, "keys"));
    server = ssh;
  });

  it("is pushed to, cloned from and pulled from", { tags: ["slow"] }, async () => {
    await expectRoundTrip(`${ssh.url}${bare}`, { GIT_SSH_COMMAND: ssh.command() });
  });

  it("says what is wrong with the key, the host, the path and the connection; then it works", {
    tags: ["slow"],
  }, async () => {
    await sandbox.jpg(["remote", "add", "team", `${ssh.url}${bare}`]);
    const here = refs(sandbox.store);
    const env = (...changes: string[]): Env => ({ GIT_SSH_COMMAND: ssh.command(...changes) });
    const at = (name: string): string => join(ssh.keys, name);
    for (const words of [["push"], ["pull"]]) {
      expect((await failure(words, env("UserKnownHostsFile=/dev/null"))).code).toBe("remote_host_unknown");
      expect((await failure(words, env(`UserKnownHostsFile=${at("other_hosts")}`))).code).toBe("remote_host_unknown");
      expect((await failure(words, env(`IdentityFile=${at("stranger")}`, "IdentityAgent=none"))).code).toBe(
        "remote_credentials",
      );
    }
    // A server whose program ends in the middle of what is said.
    const keyLine = readFileSync(at("authorized_keys"), "utf8");
    writeFileSync(at("authorized_keys"), `command="exit 1" ${keyLine}`);
    for (const words of [["push"], ["pull"]]) expect((await failure(words, env())).code).toBe("remote_broke_off");
    writeFileSync(at("authorized_keys"), keyLine);
    await sandbox.jpg(["remote", "add", "gone", `${ssh.url}${bare}.gone`]);
    expect((await failure(["push", "--to", "gone"], env())).code).toBe("remote_not_found");
    expect(refs(sandbox.store)).toBe(here);
    expect(await sandbox.jpg(["push", "--to", "team"], { env: env() })).toMatchObject({ code: 0 });
    await server?.close();
    expect((await failure(["pull", "--from", "team"], env())).code).toBe("remote_unreachable");
  });
});

describe("a host reached through git's daemon", () => {
  it("is pushed to, cloned from and pulled from", { tags: ["slow"] }, async () => {
    server = await startGitDaemon(join(sandbox.root, "served"), { writable: true });
    await expectRoundTrip(`${server.url}/talks.git`);
  });

  it("that may only be read, or has no such repository, says so", async () => {
    server = await startGitDaemon(join(sandbox.root, "served"), { writable: false });
    await sandbox.jpg(["remote", "add", "team", `${server.url}/talks.git`]);
    expect(await failure(["push"])).toMatchObject({ code: "remote_not_served" });
    await sandbox.jpg(["remote", "add", "gone", `${server.url}/gone.git`]);
    expect(await failure(["pull", "--from", "gone"])).toMatchObject({ code: "remote_not_served" });
    expect(refs()).toBe("");
  });
});

describe("a host with rules of its own", () => {
  const hook = (name: string, lines: string): void => {
    writeFileSync(join(bare, "hooks", name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(bare, "hooks", name), 0o755);
  };

  it.each([
    [
      "the update hook",
      () => hook("update", 'case $1 in refs/heads/*) ;; *) echo "only branches here" >&2; exit 1;; esac'),
    ],
    ["receive.hideRefs", () => sandbox.git(["config", "receive.hideRefs", "refs/jpg"], bare)],
    ["transfer.hideRefs", () => sandbox.git(["config", "transfer.hideRefs", "refs/jpg"], bare)],
  ])("refuses hidden refs by %s: it is told to take branches, which work", async (_what, forbid) => {
    forbid();
    await sandbox.jpg(["remote", "add", "team", bare, "--as", "hidden"]);
    const refused = await sandbox.jpg(["push"]);
    expect([refused.code, refs()]).toEqual([3, ""]);
    expect(refused.stderr).toContain(`team (${bare}) refused ${main}: `);
    expect(refused.stderr).toContain("--as branches");
    await sandbox.jpg(["remote", "rm", "team"]);
    await sandbox.jpg(["remote", "add", "team", bare, "--as", "branches"]);
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
  });

  it.each(["pre-receive", "update"])(
    "is quoted where its %s hook refuses, made safe, and nothing is lost",
    async (name) => {
      hook(name, String.raw`printf 'No talks on Sundays.\n\033[2JAsk https://ada:sesame@host/rules\n' >&2; exit 1`);
      await sandbox.jpg(["remote", "add", "team", bare, "--as", "branches"]);
      const { code, stderr } = await sandbox.jpg(["push"]);
      expect([code, refs()]).toEqual([3, ""]);
      expect(stderr).toContain('hook declined. It says: "No talks on Sundays. Ask https://***@host/rules"');
      rmSync(join(bare, "hooks", name));
      expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
    },
  );

  it("sends no tags, and a fetch writes nowhere but below refs/remotes", async () => {
    await sandbox.jpg(["remote", "add", "team", bare]);
    await sandbox.jpg(["push"]);
    sandbox.git(["tag", "-m", "one", "v1", main], bare);
    sandbox.git(["update-ref", "refs/notes/x", main], bare);
    sandbox.git(["update-ref", `refs/heads/${sandbox.conversation}/more`, main], bare);
    const before = refs(sandbox.store).split("\n");
    await sandbox.jpg(["fetch"]);
    const added = refs(sandbox.store)
      .split("\n")
      .filter((line) => !before.includes(line));
    expect(added.map((line) => line.split(" ")[1])).toEqual([`refs/remotes/team/${sandbox.conversation}/more`]);
  });
});

describe("what a clone may bring", () => {
  it("is passed over or stays data: links, filters, foreign refs, a large file", { tags: ["slow"] }, async () => {
    await sandbox.jpg(["remote", "add", "team", bare]);
    await sandbox.jpg(["push"]);
    const stdin = (args: string[], input: string): string => git(bare, sandbox.env, args, input).trim();
    const link = stdin(["hash-object", "-w", "--stdin"], join(sandbox.root, "target"));
    const attributes = stdin(["hash-object", "-w", "--stdin"], "* filter=evil diff=evil\n");
    writeFileSync(join(sandbox.root, "large"), "x\n".repeat(30_000_000));
    const large = sandbox.git(["hash-object", "-w", join(sandbox.root, "large")], bare);
    const entries = git(bare, sandbox.env, ["ls-tree", main])
      .trim()
      .split("\n")
      .filter((line) => !line.endsWith(".gitattributes"));
    const own = [
      `120000 blob ${link}\tVIEW.md`,
      `100644 blob ${attributes}\t.gitattributes`,
      `100644 blob ${large}\tlarge`,
    ];
    const tree = stdin(["mktree"], `${[...entries, ...own].join("\n")}\n`);
    const commit = sandbox.git(["commit-tree", tree, "-p", main, "-m", "odd"], bare);
    sandbox.git(["update-ref", `refs/heads/${main}`, commit], bare);
    for (const name of ["docs", "a/b/c", "x/\u202e", `${sandbox.conversation}/-x`, "HEAD/main"]) writeRef(name, commit);
    const talks = join(sandbox.root, "talks");
    const cloned = await sandbox.jpg(["clone", bare, talks]);
    expect(cloned.code).toBe(0);
    expect(cloned.stdout + cloned.stderr).not.toContain("\u202e");
    expect(readdirSync(sandbox.root)).not.toContain("target");
    expect(await sandbox.jpg(["compact"], { cwd: talks })).toMatchObject({ code: 0 });
    expect(readdirSync(sandbox.root)).not.toContain("target");
    expect((await sandbox.json<{ id: string }[]>(["ls"], { cwd: talks })).map(({ id }) => id)).toContain(
      sandbox.conversation,
    );
  });

  /** As no git would make it: below the folder of refs. */
  function writeRef(name: string, commit: string): void {
    const path = join(bare, "refs/heads", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, `${commit}\n`);
  }
});
