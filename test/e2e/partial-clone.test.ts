// Partial clones: what is hidden stays where it is, and without a connection the turns that are missing are named. How much comes of
// a long conversation: `view-cost.test.ts`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ListRow } from "../../src/app/look/list.ts";
import type { StatsReport } from "../../src/app/look/stats.ts";
import { type GitHttpServer, startGitHttpServer } from "../helpers/git-http-server.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

describe("jpg clone --filter=blob:none", () => {
  let sandbox: ImportedSandbox;
  let server: GitHttpServer;
  let main: string;
  let talks: string;
  beforeEach(async () => {
    sandbox = await copyImportedSandbox();
    main = `${sandbox.conversation}/main`;
    talks = join(sandbox.root, "talks");
    const folder = join(sandbox.root, "served");
    mkdirSync(folder);
    const bare = join(folder, "talks.git");
    sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
    for (const key of ["http.receivepack", "uploadpack.allowFilter"]) sandbox.git(["config", key, "true"], bare);
    server = await startGitHttpServer(folder);
    await sandbox.jpg(["compact", "--profile", "heavy", "--to", "3"]);
    await sandbox.jpg(["remote", "add", "team", `${server.url}/talks.git`]);
    await sandbox.jpg(["push"]);
    const cloned = await sandbox.jpg(["clone", "--filter", "blob:none", `${server.url}/talks.git`, talks]);
    expect(cloned).toMatchObject({ code: 0, stderr: "" });
  });
  afterEach(async () => {
    await server.close();
    sandbox.remove();
  });

  const missing = (): number =>
    sandbox.git(["rev-list", "--objects", "--all", "--missing=print"], talks).match(/^\?/gm)?.length ?? 0;

  it("leaves hidden turns there until they are read; what others add comes the same way, and pushes work", {
    tags: ["slow"],
  }, async () => {
    const hidden = missing();
    expect(hidden).toBeGreaterThan(2);
    expect((await sandbox.jpg(["log"], { cwd: talks })).code).toBe(0);
    expect((await sandbox.jpg(["print", "--compacted"], { cwd: talks })).stdout).toContain("Summary");
    expect(missing()).toBe(hidden);
    const [row] = await sandbox.json<readonly ListRow[]>(["ls"], { cwd: talks });
    expect(row).toMatchObject({ turns: 6, turns_elsewhere: 3 });
    expect(await sandbox.json(["stats"], { cwd: talks })).toMatchObject({ turns: 6, turns_elsewhere: 3 });
    expect((await sandbox.jpg(["ls"], { cwd: talks })).stdout).toContain(`~?→${row?.tokens.view}+`);
    expect((await sandbox.jpg(["show"], { cwd: talks })).stdout).toContain(
      "3 turns of this partial clone are not here",
    );
    expect(missing()).toBe(hidden);
    await sandbox.jpg(["title", "@", "The tide"]);
    await sandbox.jpg(["push"]);
    expect(await sandbox.json(["pull"], { cwd: talks })).toMatchObject({ branches: [{ status: "updated" }] });
    expect(sandbox.git(["config", "--get-regexp", "promisor"], talks)).toBe("remote.origin.promisor true");
    expect((await sandbox.jpg(["print"], { cwd: talks })).stdout).toBe((await sandbox.jpg(["print"])).stdout);
    // Now that they are here, they are counted.
    expect((await sandbox.json<readonly ListRow[]>(["ls"], { cwd: talks }))[0]).not.toHaveProperty("turns_elsewhere");
    const [theirs, own] = [
      await sandbox.json<StatsReport>(["stats"], { cwd: talks }),
      await sandbox.json<StatsReport>(["stats"]),
    ];
    expect(theirs).not.toHaveProperty("turns_elsewhere");
    expect([theirs.events, theirs.tokens.by_kind["messages"]]).toEqual([own.events, own.tokens.by_kind["messages"]]);
    expect(await sandbox.jpg(["undo"], { cwd: talks })).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["push"], { cwd: talks })).toMatchObject({ code: 0 });
    expect(await sandbox.json(["pull"])).toMatchObject({ branches: [{ status: "updated" }] });
    expect(await sandbox.json(["log"])).toHaveLength(2);
  });

  it("needs of the turns that a compaction hides the first alone, whose time its summary has", {
    tags: ["slow"],
  }, async () => {
    await sandbox.jpg(["compact", "--profile", "heavy", "--keep", "0"]);
    await sandbox.jpg(["push"]);
    const all = join(sandbox.root, "all");
    await sandbox.jpg(["clone", "--filter", "blob:none", `${server.url}/talks.git`, all]);
    server.state.fault = "vanish";
    expect(await sandbox.json(["ls"], { cwd: all })).toMatchObject([{ turns: 6, turns_elsewhere: 5 }]);
    expect(await sandbox.jpg(["print", "--compacted"], { cwd: all })).toMatchObject({ code: 0, stderr: "" });
  });

  it("has the long texts of what it shows, too", { tags: ["slow"] }, async () => {
    const lines = ["What is wrong?", `${"a line of the log\n".repeat(20_000)}the end of it`].map((content, at) => ({
      type: "user",
      uuid: `u${at}`,
      parentUuid: at === 0 ? null : `u${at - 1}`,
      timestamp: new Date(Date.UTC(2026, 2, 9, 8, 0, at)).toISOString(),
      sessionId: "5e551073-0000-4000-8000-00000000000c",
      message: { role: "user", content },
    }));
    await sandbox.jpg(["import", sandbox.session("long.jsonl", lines.map((line) => JSON.stringify(line)).join("\n"))]);
    const [{ id } = { id: "" }] = (await sandbox.json<readonly ListRow[]>(["ls"])).filter(
      (row) => row.id !== sandbox.conversation,
    );
    await sandbox.jpg(["push", id]);
    const all = join(sandbox.root, "all");
    await sandbox.jpg(["clone", "--filter", "blob:none", `${server.url}/talks.git`, all]);
    expect((await sandbox.jpg(["print", id], { cwd: all })).stdout).toContain("the end of it");
    const [own, theirs] = [
      await sandbox.json<readonly ListRow[]>(["ls"]),
      await sandbox.json<readonly ListRow[]>(["ls"], { cwd: all }),
    ];
    const tokensOf = (rows: readonly ListRow[]) => rows.find((row) => row.id === id)?.tokens.view;
    expect(tokensOf(theirs)).toBe(tokensOf(own));
    server.state.fault = "vanish";
    expect((await sandbox.jpg(["print", id], { cwd: all })).stdout).toContain("the end of it");
  });

  it("names the turns that are not here when nobody answers, and works again when somebody does", {
    tags: ["slow"],
  }, async () => {
    server.state.fault = "vanish";
    const offline = await sandbox.json<{ error: { code: string; message: string } }>(["print"], { cwd: talks });
    expect(offline.error).toMatchObject({
      code: "turns_elsewhere",
      message: expect.stringMatching(
        new RegExp(`^Turns 1\\.\\.3 of ${main} are not in this partial clone\\. Fetching from http\\S+ failed: `),
      ),
    });
    const said = await sandbox.jpg(["print"], { cwd: talks });
    expect([said.code, said.stdout]).toEqual([3, ""]);
    expect(said.stderr).toContain("jpg git fetch --refetch --no-filter origin");
    // What is shown is here.
    expect(await sandbox.jpg(["print", "--compacted"], { cwd: talks })).toMatchObject({ code: 0 });
    server.state.fault = "none";
    expect((await sandbox.jpg(["print"], { cwd: talks })).code).toBe(0);
    expect((await sandbox.jpg(["git", "fetch", "--refetch", "--no-filter", "origin"], { cwd: talks })).code).toBe(0);
    expect(missing()).toBe(0);
  });
});
