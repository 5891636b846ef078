// `jpg hooks` and `jpg sync --spool`: agents are told to call jpg and are told no more, and what their hooks put aside comes in.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { git } from "../helpers/temp-repository.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const home = (...names: string[]): string => join(sandbox.home, ...names);
const settings = (): string => home(".claude", "settings.json");
const spool = (): string => home(".local", "state", "jpg", "spool");
const read = (path: string): string => readFileSync(path, "utf8");

function write(path: string, content: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Runs jpg and expects its exit code; gives all that it printed. */
async function jpg(args: readonly string[], code = 0): Promise<string> {
  const result = await sandbox.jpg(args);
  expect([result.code, result.stdout + result.stderr]).toEqual([code, expect.any(String)]);
  return result.stdout + result.stderr;
}

const MINE = `{
  "model": "opus",
  "hooks": {
    "SessionEnd": [
      { "matcher": "", "hooks": [{ "type": "command", "command": "say bye" }] }
    ]
  }
}
`;

describe("hooks install", () => {
  it("leaves what is there, is done once however often it is asked for, and uninstall gives the bytes back", async () => {
    write(settings(), MINE);
    chmodSync(settings(), 0o640);
    expect(await jpg(["hooks", "install", "claude-code"])).toContain("Hooks of claude-code installed:");
    const installed = read(settings());
    const { hooks } = JSON.parse(installed) as { hooks: Record<string, { hooks: { command: string }[] }[]> };
    expect(hooks["SessionEnd"]?.map((entry) => entry.hooks[0]?.command.includes("keep.sh"))).toEqual([false, true]);
    expect(Object.keys(hooks)).toEqual(["SessionEnd", "PreCompact"]);
    expect(statSync(settings()).mode & 0o777).toBe(0o640);
    expect(await jpg(["hooks", "install", "claude-code"])).toContain("are there already");
    expect(read(settings())).toBe(installed);
    expect(await jpg(["hooks", "uninstall", "claude-code"])).toContain("Hooks of claude-code removed:");
    expect(read(settings())).toBe(MINE);
    expect(statSync(settings()).mode & 0o777).toBe(0o640);
    expect(await jpg(["hooks", "uninstall", "claude-code"])).toContain("are not there");
  });

  it("lists the agents that are on this machine, and with --all every one", async () => {
    const env = { PATH: "/usr/bin:/bin" };
    mkdirSync(join(sandbox.home, ".codex"), { recursive: true });
    const listed = async (...more: string[]): Promise<readonly string[]> =>
      (await sandbox.jpg(["hooks", ...more], { env })).stdout.split("\n").map((line) => line.split(" ")[0] ?? "");
    expect(await listed()).toContain("codex");
    expect(await listed()).not.toContain("gemini-cli");
    expect(await listed("--all")).toEqual(expect.arrayContaining(["codex", "gemini-cli", "opencode"]));
    expect((await sandbox.jpg(["hooks", "install", "codex", "--all"], { env })).code).toBe(2);
  });

  it("passes over a folder of PATH that cannot be looked into", async () => {
    const env = { PATH: `${"/too-long".repeat(1000)}:${sandbox.env["PATH"]}` };
    expect(await sandbox.jpg(["hooks", "install", "--mcp", "claude-code"], { env })).toMatchObject({ code: 0 });
  });

  it("makes files that are not there, and uninstall takes them away again, for every agent", async () => {
    const names = (await sandbox.json<{ agent: string }[]>(["hooks"])).map(({ agent }) => agent);
    const agents = [...new Set(names)];
    expect(agents).toEqual(expect.arrayContaining(["claude-code", "codex", "pi"]));
    for (const options of [[], ["--project"]]) {
      const reports = await sandbox.json<{ path: string; status: string }[]>([
        "hooks",
        "install",
        ...agents,
        ...options,
      ]);
      for (const { path, status } of reports) expect([status, existsSync(path)]).toEqual(["installed", true]);
      const rows = await sandbox.json<{ path: string; what: string; state: string }[]>(["hooks"]);
      const paths = reports.map(({ path }) => path);
      expect(rows.filter(({ state }) => state === "installed").map(({ path }) => path)).toEqual(paths);
      await jpg(["hooks", "uninstall", ...agents, ...options]);
      for (const path of paths) expect(existsSync(path)).toBe(false);
    }
    expect(existsSync(home(".local", "state", "jpg", "hooks", "keep.sh"))).toBe(false);
  });

  it("says what an agent wants of the user first", async () => {
    expect(await jpg(["hooks", "install", "codex"])).toContain("once you have reviewed them");
  });

  it("takes out its own entry alone from settings that were changed since", async () => {
    write(settings(), MINE);
    await jpg(["hooks", "install", "claude-code"]);
    const changed = JSON.parse(read(settings())) as { hooks: { SessionEnd: unknown[] } };
    changed.hooks.SessionEnd.push({ hooks: [] });
    write(settings(), JSON.stringify(changed));
    await jpg(["hooks", "uninstall", "claude-code"]);
    const mine = JSON.parse(MINE) as { hooks: { SessionEnd: unknown[] } };
    expect(JSON.parse(read(settings()))).toEqual({
      ...mine,
      hooks: { SessionEnd: [...mine.hooks.SessionEnd, { hooks: [] }] },
    });
  });

  it("still finds its entry when its own record is gone", async () => {
    write(settings(), MINE);
    await jpg(["hooks", "install", "claude-code"]);
    rmSync(home(".local", "state", "jpg"), { recursive: true });
    await jpg(["hooks", "uninstall", "claude-code"]);
    expect(read(settings())).toBe(MINE);
  });

  it.each([
    ["is a link", "is a link to"],
    ["is read-only", "is read-only"],
    ["is no JSON", "is not JSON"],
    ["is no text", "it is not UTF-8"],
    ["is a folder", "it is not a file"],
    ["holds something else", '"hooks" that is not an object'],
  ])("changes nothing where the file %s, and says so", async (kind, message) => {
    const content = kind === "is no JSON" ? '{"a": ' : kind === "holds something else" ? '{"hooks": 1}' : MINE;
    if (kind === "is a folder") mkdirSync(settings(), { recursive: true });
    else if (kind === "is a link") {
      write(home("dotfiles", "settings.json"), MINE);
      mkdirSync(dirname(settings()), { recursive: true });
      symlinkSync(home("dotfiles", "settings.json"), settings());
    } else write(settings(), kind === "is no text" ? Buffer.from([0x7b, 0xff, 0x7d]) : content);
    if (kind === "is read-only") chmodSync(settings(), 0o444);
    const before = lstatSync(settings());
    const said = await jpg(["hooks", "install", "claude-code"], 2);
    expect(said).toContain(settings());
    expect(said).toContain(message);
    expect(said).toMatch(/hint: /);
    const after = lstatSync(settings());
    expect([after.ino, after.mtimeMs, after.size]).toEqual([before.ino, before.mtimeMs, before.size]);
    expect(readdirSync(dirname(settings()))).toEqual(["settings.json"]);
  });

  it("gives agents the tools of jpg mcp, beside those of others, and takes them away", async () => {
    const toml = '# mine\n[mcp_servers.other]\ncommand = "o"\n';
    write(home(".codex", "config.toml"), toml);
    write(home(".claude.json"), '{"numStartups": 3, "mcpServers": {"other": {"command": "o"}}}');
    await jpg(["hooks", "install", "codex", "claude-code", "--mcp"]);
    expect(read(home(".codex", "config.toml"))).toContain("[mcp_servers.jpg]\ncommand = ");
    expect(JSON.parse(read(home(".claude.json")))).toMatchObject({
      numStartups: 3,
      mcpServers: { other: { command: "o" }, jpg: { args: expect.arrayContaining(["mcp"]) } },
    });
    expect(existsSync(settings())).toBe(false);
    await jpg(["hooks", "install", "claude-code"]);
    await jpg(["hooks", "uninstall", "codex", "claude-code"]);
    expect(read(home(".codex", "config.toml"))).toBe(toml);
    expect(read(home(".claude.json"))).toBe('{"numStartups": 3, "mcpServers": {"other": {"command": "o"}}}');
    expect(existsSync(settings())).toBe(false);
  });

  it("leaves another server of the name jpg alone", async () => {
    write(home(".claude.json"), '{"mcpServers": {"jpg": {"command": "other"}}}');
    expect(await jpg(["hooks", "install", "claude-code", "--mcp"], 2)).toContain("something else under jpg's name");
    expect(await jpg(["hooks", "uninstall", "claude-code", "--mcp"])).toContain("are not there");
    expect(read(home(".claude.json"))).toBe('{"mcpServers": {"jpg": {"command": "other"}}}');
  });

  it.each([
    [["install"], "install needs an agent"],
    [["remove", "codex"], "there is no action remove"],
    [["ls", "codex"], "ls takes no agent"],
    [["install", "claude-cod"], "Did you mean claude-code?"],
    [["install", "jsonl"], "is not an agent that jpg can set up"],
    [["install", "pi", "--mcp"], "pi has no MCP servers"],
  ])("%s is refused", async (args, message) => {
    expect(await jpg(["hooks", ...args], 2)).toContain(message);
  });
});

/** An event with its session, as a hook puts them aside; `ago` = seconds. */
function putAside(
  name: string,
  { event, session, ago = 0, ready = true }: { event: unknown; session?: Uint8Array; ago?: number; ready?: boolean },
): string {
  const at = join(spool(), name);
  write(join(at, "event"), typeof event === "string" ? event : JSON.stringify(event));
  write(join(at, "agent"), "claude-code");
  if (session !== undefined) write(join(at, "session"), session);
  const time = Date.now() / 1000 - ago;
  utimesSync(join(at, "event"), time, time);
  if (ready) write(join(at, "ready"), "");
  return at;
}

interface SyncDocument {
  readonly sessions: readonly { readonly status: string; readonly turns: number }[];
  readonly failed: readonly { readonly error: { readonly code: string } }[];
}

const drain = (...args: string[]): Promise<SyncDocument> => sandbox.json<SyncDocument>(["sync", "--spool", ...args]);
const turnsOf = ({ sessions }: SyncDocument): unknown => sessions.map(({ status, turns }) => [status, turns]);

describe("sync --spool", () => {
  it("imports into the store of the directory that the agent worked in, and forgets what is in", async () => {
    const other = join(sandbox.root, "other");
    mkdirSync(other);
    git(other, sandbox.env, ["init", "--quiet", "."]);
    const id = "0c0ffee0-0000-4000-8000-000000000001";
    putAside("a", { event: { cwd: sandbox.project }, session: smallSession({ turns: 2 }) });
    putAside("b", { event: { cwd: other }, session: smallSession({ turns: 3, id }) });
    expect(turnsOf(await drain())).toEqual([
      ["created", 2],
      ["created", 3],
    ]);
    expect(readdirSync(spool())).toEqual([]);
    expect(await sandbox.json(["ls"])).toMatchObject([{ turns: 2 }]);
    expect(await sandbox.json(["ls"], { cwd: other })).toMatchObject([{ turns: 3 }]);
  });

  it("imports into the store of the project that the session was begun in, wherever its agent went", async () => {
    const other = join(sandbox.root, "other");
    mkdirSync(other);
    git(other, sandbox.env, ["init", "--quiet", "."]);
    const begunIn = (cwd: string): Buffer =>
      Buffer.from(smallSession({ turns: 2 }).toString().replaceAll("/home/sam/tidepool", cwd));
    const file = sandbox.session("one.jsonl", begunIn(join(sandbox.project, "gone", "worktree")));
    putAside("a", { event: { cwd: other, transcript_path: file } });
    expect(turnsOf(await drain())).toEqual([["created", 2]]);
    expect(await sandbox.json(["ls"])).toMatchObject([{ turns: 2 }]);
    // Its file is gone: what was kept of it says the same.
    putAside("b", {
      event: { cwd: sandbox.project, transcript_path: join(sandbox.root, "no.jsonl") },
      session: begunIn(other),
    });
    expect(turnsOf(await drain())).toEqual([["created", 2]]);
    expect(await sandbox.json(["ls"], { cwd: other })).toMatchObject([{ turns: 2 }]);
  });

  it("takes the user's own store where that directory is gone, or unsaid", async () => {
    putAside("a", { event: { cwd: "/nowhere" }, session: smallSession({ turns: 2 }) });
    expect(turnsOf(await drain())).toEqual([["created", 2]]);
    expect(await sandbox.json(["ls"], { cwd: sandbox.home })).toMatchObject([{ turns: 2 }]);
  });

  it("imports what was kept, then what the file has become", async () => {
    const file = sandbox.session("one.jsonl", smallSession({ turns: 4 }));
    const event = { cwd: sandbox.project, transcript_path: file };
    putAside("grown", { event, session: smallSession({ turns: 2 }), ago: 3 });
    expect(turnsOf(await drain())).toEqual([["created", 4]]);
    // The agent has emptied it since, or removed it.
    putAside("gone", { event, session: smallSession({ turns: 6 }), ago: 2 });
    truncateSync(file, 0);
    expect(turnsOf(await drain())).toEqual([["updated", 6]]);
    putAside("removed", { event, session: smallSession({ turns: 7 }), ago: 1 });
    rmSync(file);
    expect(turnsOf(await drain())).toEqual([["updated", 7]]);
    expect(readdirSync(spool())).toEqual([]);
  });

  it("reads an event of which the shell could make nothing", async () => {
    const file = sandbox.session('a "b"\n\\c.jsonl', smallSession({ turns: 2 }));
    putAside("a", { event: { cwd: sandbox.project, transcript_path: file } });
    expect(turnsOf(await drain())).toEqual([["created", 2]]);
  });

  it("keeps what cannot be imported, says why, and comes to the others", async () => {
    putAside("bad", { event: { cwd: sandbox.project }, session: Buffer.from("no session\n"), ago: 2 });
    putAside("good", { event: { cwd: sandbox.project }, session: smallSession({ turns: 2 }), ago: 1 });
    const { stdout, stderr, code } = await sandbox.jpg(["sync", "--spool"]);
    expect([code, stdout, stderr]).toEqual([
      1,
      expect.stringContaining("1 created"),
      expect.stringContaining("is not a session"),
    ]);
    expect(readdirSync(spool())).toEqual(["bad"]);
    const { checks } = await sandbox.json<{ checks: { name: string; message: string }[] }>(["doctor"]);
    expect(checks.find(({ name }) => name === "spool")?.message).toContain("1 session that an agent's hook put aside");
    // What runs by itself waits for a day; who asks is told again.
    expect(await jpg(["sync", "--spool", "--quiet"])).toBe("");
    expect((await drain()).failed).toMatchObject([{ error: { code: "not_a_session" } }]);
  });

  it.each([
    ["no JSON", "x"],
    ["no path", "{}"],
    ["a path of another kind", { transcript_path: 1 }],
    ["a path that is not from the top", { transcript_path: "s.jsonl" }],
    ["a file that is not there", { transcript_path: "/nowhere/s.jsonl" }],
    ["a path that no system has", { transcript_path: "/a\0b" }],
  ])("forgets an event that holds %s", async (_, event) => {
    putAside("a", { event });
    expect(await drain()).toMatchObject({ sessions: [], failed: [] });
    expect(readdirSync(spool())).toEqual([]);
  });

  it("forgets sessions in which nothing was said", async () => {
    putAside("a", { event: { cwd: sandbox.project }, session: Buffer.from("") });
    expect(await drain()).toMatchObject({ sessions: [], failed: [] });
    expect(readdirSync(spool())).toEqual([]);
  });

  it("leaves a hook alone that is at work, but not one that was killed", async () => {
    putAside("a", { event: { cwd: sandbox.project }, session: smallSession({ turns: 2 }), ready: false });
    expect(turnsOf(await drain())).toEqual([]);
    const long = Date.now() / 1000 - 120;
    utimesSync(join(spool(), "a", "event"), long, long);
    expect(turnsOf(await drain())).toEqual([["created", 2]]);
  });

  it("follows no link in the spool", async () => {
    const secret = sandbox.session("secret.jsonl", smallSession({ turns: 2 }));
    const at = putAside("a", { event: { cwd: sandbox.project } });
    symlinkSync(secret, join(at, "session"));
    symlinkSync(at, join(spool(), "b"));
    expect(turnsOf(await drain())).toEqual([]);
  });

  it("comes before what `jpg import` and `jpg sync` find", async () => {
    const file = write(
      home(".claude", "projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"), "one.jsonl"),
      smallSession({ turns: 1 }),
    );
    for (const [turns, command] of [
      [3, "import"],
      [5, "sync"],
    ] as const) {
      putAside("a", { event: { cwd: sandbox.project, transcript_path: file }, session: smallSession({ turns }) });
      await jpg([command]);
      expect(readdirSync(spool())).toEqual([]);
      const rows = await sandbox.json<{ turns: number }[]>(["ls"]);
      expect(Math.max(...rows.map((row) => row.turns))).toBe(turns);
    }
  });

  it("takes nothing else", async () => {
    for (const args of [["--watch"], ["file.jsonl"]])
      expect(await jpg(["sync", "--spool", ...args], 2)).toContain("takes no other options");
  });
});

describe("a hook that is installed", () => {
  it("has the session imported without anybody doing anything", { tags: ["slow"] }, async () => {
    await jpg(["hooks", "install", "claude-code"]);
    const { hooks } = JSON.parse(read(settings())) as { hooks: Record<string, { hooks: { command: string }[] }[]> };
    const session = home(".claude", "projects", "x", "s.jsonl");
    write(session, smallSession({ turns: 2 }));
    const run = (): void => {
      const input = JSON.stringify({ session_id: "s", transcript_path: session, cwd: sandbox.project });
      const command = hooks["SessionEnd"]?.[0]?.hooks[0]?.command ?? "false";
      const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
        env: sandbox.env,
        input,
        encoding: "utf8",
      });
      expect([status, stdout, stderr]).toEqual([0, "", ""]);
    };
    const turns = async (): Promise<unknown> => {
      const rows = existsSync(sandbox.store) ? await sandbox.json<{ turns: number }[]>(["ls"]) : [];
      return [rows.map((row) => row.turns), existsSync(spool()) ? readdirSync(spool()).length : 0];
    };
    run();
    await expect.poll(turns, { interval: 100 }).toEqual([[2], 0]);
    appendFileSync(session, smallSession({ turns: 5 }).subarray(smallSession({ turns: 2 }).length));
    for (let index = 0; index < 4; index++) run();
    await expect.poll(turns, { interval: 100 }).toEqual([[5], 0]);
  });
});
