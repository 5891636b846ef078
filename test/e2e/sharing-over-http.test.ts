// Sharing with a server that answers as git's own, refuses, breaks off, vanishes: what is said, and that trying again works.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitHttpServer, startGitHttpServer } from "../helpers/git-http-server.ts";
import { startJpg } from "../helpers/live-jpg.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { initRepository } from "../helpers/temp-repository.ts";

let sandbox: ImportedSandbox;
let server: GitHttpServer;
let bare: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  const folder = join(sandbox.root, "served");
  bare = join(folder, "talks.git");
  mkdirSync(folder);
  initRepository(bare, "--bare");
  sandbox.git(["config", "http.receivepack", "true"], bare);
  server = await startGitHttpServer(folder);
  await sandbox.jpg(["remote", "add", "team", `${server.url}/talks.git`, "--as", "hidden"]);
});
afterEach(async () => {
  await server.close();
  sandbox.remove();
});

const refs = (where: string): string => sandbox.git(["for-each-ref", "--format=%(objectname) %(refname)"], where);
const code = async (...words: string[]): Promise<string> =>
  (await sandbox.json<{ error?: { code: string } }>(words)).error?.code ?? "none";

describe("a server", () => {
  it("is pushed to, cloned from and pulled from", { tags: ["slow"] }, async () => {
    expect(await sandbox.jpg(["push"])).toMatchObject({
      code: 0,
      stderr: `To team (hidden refs): ${server.url}/talks.git\n`,
    });
    const talks = join(sandbox.root, "talks");
    expect(await sandbox.jpg(["clone", `${server.url}/talks.git`, talks])).toMatchObject({ code: 0, stderr: "" });
    expect(await sandbox.json(["ls"], { cwd: talks })).toMatchObject([{ id: sandbox.conversation, turns: 6 }]);
    await sandbox.jpg(["compact"]);
    await sandbox.jpg(["push"]);
    expect(await sandbox.json(["pull"], { cwd: talks })).toMatchObject({ branches: [{ status: "updated" }] });
    expect(await sandbox.json(["log"], { cwd: talks })).toHaveLength(1);
  });

  it.each([
    ["500", "remote_broke_off"],
    ["cut", "remote_broke_off"],
    ["vanish", "remote_unreachable"],
  ] as const)(
    "that fails with %s loses nothing, and it works when tried again",
    { tags: ["slow"] },
    async (fault, expected) => {
      await sandbox.jpg(["push"]);
      const [here, there] = [refs(sandbox.store), refs(bare)];
      await sandbox.jpg(["compact"]);
      const compacted = refs(sandbox.store);
      server.state.fault = fault;
      expect(["remote_broke_off", expected]).toContain(await code("push"));
      expect(["remote_broke_off", expected]).toContain(await code("pull"));
      expect(await sandbox.jpg(["clone", `${server.url}/talks.git`, join(sandbox.root, "half")])).toMatchObject({
        code: 3,
      });
      expect(readdirSync(sandbox.root)).not.toContain("half");
      expect(refs(sandbox.store)).toBe(compacted);
      // A push whose answer was cut may have arrived.
      if (fault !== "cut") expect(refs(bare)).toBe(there);
      server.state.fault = "none";
      expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
      expect(refs(bare)).not.toBe(there);
      expect(refs(sandbox.store)).not.toBe(here);
      expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 0 });
    },
  );

  it("that never answers is given up with Ctrl-C, at once", async () => {
    server.state.fault = "hang";
    const asked = new Promise<void>((resolve) => {
      server.state.onRequest = () => resolve();
    });
    const pushing = startJpg(sandbox, ["push"]);
    await asked;
    pushing.child.kill("SIGINT");
    const { code: exit, stderr } = await pushing.ended;
    expect([exit, stderr]).toEqual([130, expect.stringContaining("The transfer was interrupted.")]);
  });

  it("that wants a login is asked with the user's own, and no password is ever shown", async () => {
    server.state.login = "ada:hunter2";
    expect(await code("push")).toBe("remote_credentials");
    const url = server.url.replace("http://", "http://ada:hunter2@");
    await sandbox.jpg(["remote", "add", "mine", `${url}/talks.git`, "--as", "hidden"]);
    const pushed = await sandbox.jpg(["push", "--to", "mine"]);
    expect(pushed).toMatchObject({ code: 0 });
    server.state.login = "ada:other";
    const refused = await sandbox.jpg(["push", "--to", "mine", "-v"]);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("refused the credentials") });
    const listed = await sandbox.jpg(["remote", "ls"]);
    for (const { stdout, stderr } of [pushed, refused, listed]) expect(stdout + stderr).not.toContain("hunter2");
  });

  it("that has no such repository is named with the address", async () => {
    await sandbox.jpg(["remote", "add", "gone", `${server.url}/gone.git`]);
    const { stderr } = await sandbox.jpg(["push", "--to", "gone"]);
    expect(stderr).toContain(
      `Reading from ${server.url}/gone.git failed: it is not a git repository, or you may not see it`,
    );
  });
});
