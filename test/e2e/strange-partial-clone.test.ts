// @module-tag slow
// A partial clone that somebody else made: nothing is asked of the address in its configuration, whatever is read, until the user
// fetches from it in that very folder.
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GitHttpServer, startGitHttpServer } from "../helpers/git-http-server.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import type { JpgResult } from "../helpers/run-jpg.ts";
import { copyStore, git } from "../helpers/temp-repository.ts";

let sandbox: ImportedSandbox;
let server: GitHttpServer;
let main: string;
let url: string;
/** A partial clone that jpg made. */
let own: string;
/** The same as somebody else would give it. */
let given: string;
beforeAll(async () => {
  sandbox = await copyImportedSandbox();
  main = `${sandbox.conversation}/main`;
  own = join(sandbox.root, "own");
  const folder = join(sandbox.root, "served");
  mkdirSync(folder);
  const bare = join(folder, "talks.git");
  sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
  for (const key of ["http.receivepack", "uploadpack.allowFilter"]) sandbox.git(["config", key, "true"], bare);
  server = await startGitHttpServer(folder);
  url = `${server.url}/talks.git`;
  await sandbox.jpg(["compact", "--profile", "heavy", "--to", "3"]);
  await sandbox.jpg(["remote", "add", "team", url]);
  await sandbox.jpg(["push"]);
  expect(await sandbox.jpg(["clone", "--filter", "blob:none", url, own])).toMatchObject({ code: 0, stderr: "" });
});
afterAll(async () => {
  await server.close();
  sandbox.remove();
});
beforeEach(() => {
  given = copyOf(own);
  server.state.connections = 0;
});

let copies = 0;
function copyOf(folder: string): string {
  const copy = join(sandbox.root, `given-${++copies}`);
  copyStore(folder, copy);
  return copy;
}

const jpg = (folder: string, ...words: string[]): Promise<JpgResult> => sandbox.jpg(words, { cwd: folder });
const missing = (folder: string): number =>
  sandbox.git(["rev-list", "--objects", "--all", "--missing=print"], folder).match(/^\?/gm)?.length ?? 0;

/** Commands that read, and their exit codes: what the view shows is here, what it hides is not. */
const READS: readonly (readonly [number, ...string[]])[] = [
  [0, "ls"],
  [0, "log"],
  [0, "status"],
  [0, "stats"],
  [0, "show"],
  [0, "print", "--compacted"],
  [0, "doctor"],
  [3, "print"],
  [3, "print", "--turn", "2"],
  [3, "diff"],
  [3, "export", "--to", "markdown", "--full-history"],
  [3, "search", "tide"],
  [3, "fsck"],
  [3, "undo"],
  [3, "push"],
  [3, "review"],
];

describe("a partial clone that somebody gave", () => {
  it("reaches nobody, whatever is read", async () => {
    const before = missing(given);
    expect(before).toBeGreaterThan(2);
    const codes: unknown[] = [];
    for (const [, ...words] of READS) {
      const { code, stderr } = await jpg(given, ...words);
      codes.push([code, ...words, server.state.connections, code === 70 ? stderr : ""]);
    }
    expect(codes).toEqual(READS.map(([code, ...words]) => [code, ...words, 0, ""]));
    expect(missing(given)).toBe(before);
  });

  it("names the turns, the remote that has them, and the command that allows it to be asked", async () => {
    await jpg(given, "ls");
    const named = url.replace("//", "//ada:sesame@");
    sandbox.git(["config", "remote.origin.url", `${named}\u001b[2J`], given);
    const [print, fsck] = [await jpg(given, "print"), await jpg(given, "fsck")];
    const said =
      `error: Turns 1..3 of ${main} are not in this partial clone. origin (${url.replace("//", "//***@")}\u241b[2J) was not asked: ` +
      `only the configuration of the store ${given} names it, and the store's maker wrote that.\n`;
    expect([print.code, print.stdout, fsck.code, fsck.stdout]).toEqual([3, "", 3, ""]);
    // An address with a control character is none that can be asked.
    expect(print.stderr).toBe(
      `${said}hint: \`jpg clone URL\` makes a store of your own, from an address that you know.\n`,
    );
    sandbox.git(["config", "remote.origin.url", named], given);
    expect((await jpg(given, "fsck")).stderr).toBe(
      `${said.replace("\u241b[2J", "")}hint: \`jpg fetch --from origin\` fetches from it, and lets later commands ask it, in this folder.\n`,
    );
    expect(fsck.stderr).toContain("Turns 1..3");
    expect(server.state.connections).toBe(0);
  });

  it("asks once the user has fetched from it, and only in that folder", async () => {
    expect(existsSync(join(given, ".git", "jpg-promisors"))).toBe(true);
    expect(await jpg(given, "fetch")).toMatchObject({ code: 0 });
    expect((await jpg(given, "print")).stdout).toBe((await sandbox.jpg(["print"])).stdout);
    expect(missing(given)).toBeLessThan(missing(own));
    const [asked, moved] = [copyOf(own), join(sandbox.root, "moved")];
    expect(await jpg(asked, "fetch")).toMatchObject({ code: 0 });
    const copied = copyOf(asked);
    renameSync(asked, moved);
    server.state.connections = 0;
    for (const folder of [moved, copied]) expect(await jpg(folder, "print")).toMatchObject({ code: 3, stdout: "" });
    expect(server.state.connections).toBe(0);
    expect(await jpg(moved, "pull")).toMatchObject({ code: 0 });
    expect((await jpg(moved, "print")).code).toBe(0);
  });

  it("asks no other address than the one that was fetched from", async () => {
    await jpg(given, "fetch");
    server.state.connections = 0;
    sandbox.git(["config", "remote.origin.url", `${url}?other`], given);
    expect(await jpg(given, "print")).toMatchObject({ code: 3 });
    expect(server.state.connections).toBe(0);
  });

  it.each<[string, () => void]>([
    ["yes for true", () => sandbox.git(["config", "remote.origin.promisor", "yes"], given)],
    ["a filter alone", () => sandbox.git(["config", "--unset", "remote.origin.promisor"], given)],
    [
      "an extension",
      () => {
        for (const key of ["promisor", "partialclonefilter"])
          sandbox.git(["config", "--unset", `remote.origin.${key}`], given);
        sandbox.git(["config", "extensions.partialClone", "origin"], given);
      },
    ],
    ["an extension that is an address", () => sandbox.git(["config", "extensions.partialClone", url], given)],
    [
      "a file that is included",
      () => {
        for (const key of ["promisor", "partialclonefilter"])
          sandbox.git(["config", "--unset", `remote.origin.${key}`], given);
        writeFileSync(join(given, ".git", "more"), '[remote "origin"]\n\tpromisor\n');
        sandbox.git(["config", "include.path", "more"], given);
      },
    ],
    [
      "the settings of a worktree",
      () => {
        for (const key of ["promisor", "partialclonefilter"])
          sandbox.git(["config", "--unset", `remote.origin.${key}`], given);
        sandbox.git(["config", "extensions.worktreeConfig", "true"], given);
        sandbox.git(["config", "--worktree", "remote.origin.promisor", "true"], given);
      },
    ],
    [
      "a file of old remotes",
      () => {
        sandbox.git(["config", "--unset", "remote.origin.url"], given);
        mkdirSync(join(given, ".git", "remotes"));
        writeFileSync(join(given, ".git", "remotes", "origin"), `URL: ${url}\n`);
      },
    ],
  ])("reaches nobody where the promisor is named by %s", async (_, name) => {
    name();
    for (const words of [["ls"], ["print"], ["fsck"], ["print", "--compacted"]]) await jpg(given, ...words);
    expect(server.state.connections).toBe(0);
    expect(await jpg(given, "print")).toMatchObject({ code: 3, stdout: "" });
  });

  it("starts nothing where the promisor's name is an option of git", async () => {
    const mark = join(sandbox.root, "started");
    const served = join(sandbox.root, "served", "talks.git");
    const name = `--upload-pack=touch ${mark};git-upload-pack`;
    for (const folder of [given, copyOf(given)]) {
      await jpg(folder, folder === given ? "ls" : "fetch");
      sandbox.git(["config", "remote.origin.url", served], folder);
      sandbox.git(["config", "--unset", "remote.origin.promisor"], folder);
      sandbox.git(["config", "--unset", "remote.origin.partialclonefilter"], folder);
      sandbox.git(["config", `remote.${name}.promisor`, "true"], folder);
      sandbox.git(["config", `remote.${name}.url`, served], folder);
      expect(await jpg(folder, "print")).toMatchObject({ code: 3, stdout: "" });
      expect(await jpg(folder, "fetch", "--from", name)).not.toMatchObject({ code: 0 });
      expect(existsSync(mark)).toBe(false);
    }
  });

  it("asks, of two, each only after a fetch from it", async () => {
    sandbox.git(["config", "remote.other.url", `${url}?other`], given);
    sandbox.git(["config", "remote.other.promisor", "true"], given);
    const refused = await jpg(given, "fetch", "--from", "origin");
    expect([refused.code, server.state.connections]).toEqual([3, 0]);
    expect(refused.stderr).toContain("`jpg fetch --from other`");
  });

  it("names what is missing of one without trees, too, and asks for it after a fetch", async () => {
    const bare = join(sandbox.root, `treeless-${copies}`);
    // Not from the server, which this process is.
    const served = `file://${join(sandbox.root, "served", "talks.git")}`;
    sandbox.git(["clone", "--quiet", "--no-checkout", "--filter=tree:0", served, bare], sandbox.root);
    sandbox.git(["update-ref", `refs/heads/${main}`, `refs/remotes/origin/${main}`], bare);
    sandbox.git(["symbolic-ref", "HEAD", `refs/heads/${main}`], bare);
    sandbox.git(["config", "remote.origin.url", url], bare);
    sandbox.git(["config", "jpg.format", "1"], bare);
    server.state.connections = 0;
    for (const words of [["ls"], ["log"], ["print"], ["fsck"], ["status"]]) {
      const { code, stderr } = await jpg(bare, ...words);
      expect([words, code, server.state.connections]).toEqual([words, 3, 0]);
      expect(stderr).toContain("`jpg fetch --from origin`");
    }
    expect(await jpg(bare, "pull")).toMatchObject({ code: 0 });
    expect((await jpg(bare, "print", main)).stdout).toBe((await sandbox.jpg(["print", main])).stdout);
  });

  it("leaves stock git as it is, and its hooks reach nobody by themselves", async () => {
    await jpg(given, "ls");
    const env = { ...sandbox.env, GIT_ALLOW_PROTOCOL: "file" };
    git(given, env, ["commit", "--quiet", "--allow-empty", "-m", "by hand"]);
    expect(server.state.connections).toBe(0);
    expect(await jpg(given, "git", "cat-file", "-p", "HEAD:turns/0000/000002.jsonl")).toMatchObject({ code: 0 });
    expect(server.state.connections).toBeGreaterThan(0);
  });
});
