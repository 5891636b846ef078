// The first minutes: what jpg says where there is nothing yet, where sessions wait, and where a conversation stands.
import { appendFileSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

function keepSession(name: string, bytes: Buffer | string, daysAgo = 0): string {
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, bytes);
  const changed = (Date.now() - daysAgo * 24 * 3600 * 1000) / 1000;
  utimesSync(path, changed, changed);
  return path;
}

describe("jpg alone", () => {
  it("says how to begin where nothing is, and makes nothing", async () => {
    const { stdout, stderr, code } = await sandbox.jpg([]);
    expect({ stdout, stderr, code }).toEqual({
      stdout:
        "No conversations here yet.\nBring a session in: jpg import FILE\nBegin one: jpg chat\nAll projects and agents of this machine: jpg --all\nAll commands: jpg --help\n",
      stderr: "",
      code: 0,
    });
    expect(existsSync(sandbox.store)).toBe(false);
  });

  it("names the sessions that wait", async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f1", smallSession());
    expect((await sandbox.jpg([])).stdout).toContain("\n1 new Claude Code session: jpg import\n");
    expect(JSON.parse((await sandbox.jpg(["status", "--json"])).stdout)).toMatchObject({
      store: null,
      active: null,
      conversations: 0,
      sessions: [{ agent: "Claude Code", count: 1, new: 1, grown: 0 }],
    });
  });

  it("tells of the active conversation, and what can be done with it", async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f2", smallSession());
    expect(await sandbox.jpg(["import"])).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await sandbox.jpg([]);
    expect(stdout).toMatch(/^On \S+\/main: .+\n6 turns, \S+ tokens.*, 0 compactions\n/);
    expect(stdout).toContain("\nShorten what the model sees: jpg compact\n");
    expect(stdout).not.toContain("jpg import");
    const fork = await sandbox.jpg(["fork", "@", "other", "--first", "1"]);
    expect(fork.stdout).toMatch(/^Forked \S+ to \S+ \(1 turn\), now active\n$/);
    expect((await sandbox.jpg(["show"])).stdout).toMatch(/\/other 1 turn\n/);
    await sandbox.jpg(["use", "-"]);
    const { active, conversations } = JSON.parse((await sandbox.jpg(["--json"])).stdout) as Record<string, unknown>;
    expect([active, conversations]).toEqual([expect.objectContaining({ turns: 6 }), 1]);
  });
});

describe("what jpg calls new", () => {
  const says = async (): Promise<readonly string[]> =>
    (await sandbox.jpg([])).stdout.split("\n").filter((line) => /session|Newest/.test(line));

  it("is what is not imported, and what has grown since; nothing else", { tags: ["slow"] }, async () => {
    const path = keepSession("5e551073-0000-4000-8000-0000000000f4", smallSession(), 1);
    await sandbox.jpg(["import"]);
    expect(await says()).toEqual([]);
    // Touched, not grown.
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    expect(await says()).toEqual([]);
    appendFileSync(
      path,
      '{"type":"last-prompt","lastPrompt":"More?","sessionId":"5e551073-0000-4000-8000-000000000001"}\n',
    );
    expect(await says()).toEqual([
      "1 Claude Code session that has grown: jpg import",
      expect.stringContaining("will be deleted by Claude Code in 29 days"),
    ]);
    await sandbox.jpg(["import"]);
    expect(await says()).toEqual([]);
  });

  it("is no file that jpg wrote to resume a conversation, also of one that was removed", {
    tags: ["slow"],
  }, async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f5", smallSession(), 1);
    await sandbox.jpg(["import"]);
    await sandbox.jpg(["compact"]);
    for (const agent of ["claude-code", "codex", "pi"]) {
      expect(await sandbox.jpg(["resume", "--with", agent])).toMatchObject({ code: 0 });
      expect(await says(), agent).toEqual([]);
    }
    const { sessions } = await sandbox.json<{ sessions: { count: number }[] }>(["status"]);
    expect(sessions.map(({ count }) => count)).toEqual([2, 1, 1]);
    await sandbox.jpg(["rm", "@"]);
    expect(await says()).toEqual(["1 new Claude Code session: jpg import", expect.stringContaining("will be deleted")]);
  });

  it.each([
    ["the default", "{}", 27, "in 3 days"],
    ["a setting", '{"cleanupPeriodDays": 60}', 27, "in 33 days"],
    ["a session that is overdue", '{"cleanupPeriodDays": 7}', 27, "when it starts"],
    ["settings that cannot be read", "{", 29, "in 1 day"],
  ])("says when the agent deletes it, by %s", async (_, settings, daysAgo, when) => {
    keepSession("5e551073-0000-4000-8000-0000000000f6", smallSession(), daysAgo - 0.5);
    writeFileSync(join(sandbox.home, ".claude/settings.json"), settings);
    expect(await says()).toEqual([
      "1 new Claude Code session: jpg import",
      `1 session will be deleted by Claude Code ${when}: jpg import keeps it`,
    ]);
  });
});

describe("a session that a hook imports while another is active", () => {
  it("is named as the newest", { tags: ["slow"] }, async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f7", smallSession(), 1);
    await sandbox.jpg(["import"]);
    const newer = smallSession({ id: "5e551074-0000-4000-8000-0000000000f8" })
      .toString()
      .replaceAll("2026-0", "2027-0");
    keepSession("5e551074-0000-4000-8000-0000000000f8", newer);
    await sandbox.jpg(["sync"]);
    const { stdout } = await sandbox.jpg([]);
    const [, name] = /^Newest, but not active: .+ \(jpg use (\S+)\)$/m.exec(stdout) ?? [];
    expect(await sandbox.jpg(["use", name ?? "-"])).toMatchObject({ code: 0 });
    expect((await sandbox.jpg([])).stdout).not.toContain("Newest");
  });
});

describe("jpg after a compaction", () => {
  it("names what comes next while nothing of default reach is left to compact", async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f3", smallSession());
    await sandbox.jpg(["import"]);
    await sandbox.jpg(["compact", "--to", "1"]);
    expect((await sandbox.jpg(["status"])).stdout).toContain("\nShorten what the model sees: jpg compact\n");
    await sandbox.jpg(["compact"]);
    for (const read of ["worked out", "from the cache"]) {
      const { stdout } = await sandbox.jpg(["status"]);
      expect(stdout, read).toContain(
        "\nSee what the model no longer sees: jpg diff --stat\nContinue: jpg resume, or jpg chat\n",
      );
      expect(stdout, read).not.toContain("jpg compact");
    }
    await sandbox.jpg(["undo"]);
    expect((await sandbox.jpg(["status"])).stdout).toContain("\nShorten what the model sees: jpg compact\n");
  });
});

describe("jpg init", () => {
  it("puts a commented template where settings are read, once, and says where", async () => {
    const path = join(sandbox.home, ".config/jpg/config.toml");
    const first = await sandbox.jpg(["init"]);
    expect(first.stdout).toMatch(/^Made the conversation store at /);
    expect(first.stderr).toContain(`Settings go into ${path} (every setting is listed there, commented out)`);
    const settings = readFileSync(path, "utf8").split("\n");
    expect(settings.length).toBeGreaterThan(20);
    expect(settings.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
    writeFileSync(path, "[conversation.compaction]\nkeep_last = 7\n");
    expect((await sandbox.jpg(["init"])).stderr).toBe("");
    expect((await sandbox.jpg(["config", "keep_last"])).stdout).toContain("7");
  });
});
