// The first minutes: what jpg says where there is nothing yet, where sessions wait, and where a conversation stands.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

function keepSession(name: string, bytes: Buffer): void {
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.jsonl`), bytes);
}

describe("jpg alone", () => {
  it("says how to begin where nothing is, and makes nothing", async () => {
    const { stdout, stderr, code } = await sandbox.jpg([]);
    expect({ stdout, stderr, code }).toEqual({
      stdout:
        "No conversations here yet.\nBring a session in: jpg import FILE\nBegin one: jpg chat\nAll commands: jpg --help\n",
      stderr: "",
      code: 0,
    });
    expect(existsSync(sandbox.store)).toBe(false);
  });

  it("names the sessions that wait", async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f1", smallSession());
    expect((await sandbox.jpg([])).stdout).toContain("\n1 Claude Code session here: jpg import\n");
    expect(JSON.parse((await sandbox.jpg(["status", "--json"])).stdout)).toEqual({
      store: null,
      active: null,
      conversations: 0,
      sessions: [{ agent: "Claude Code", count: 1 }],
    });
  });

  it("tells of the active conversation, and what can be done with it", async () => {
    keepSession("5e551073-0000-4000-8000-0000000000f2", smallSession());
    expect(await sandbox.jpg(["import"])).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await sandbox.jpg([]);
    expect(stdout).toMatch(/^On \S+\/main: .+\n6 turns, \S+ tokens.*, 0 compactions\n/);
    expect(stdout).toContain("\nShorten what the model sees: jpg compact\n");
    expect(stdout).toContain("\n1 Claude Code session here: jpg import brings in what is new\n");
    const fork = await sandbox.jpg(["fork", "@", "other", "--first", "1"]);
    expect(fork.stdout).toMatch(/^Forked \S+ to \S+ \(1 turn\), now active\n$/);
    expect((await sandbox.jpg(["show"])).stdout).toMatch(/\/other 1 turn\n/);
    await sandbox.jpg(["use", "-"]);
    const { active, conversations } = JSON.parse((await sandbox.jpg(["--json"])).stdout) as Record<string, unknown>;
    expect([active, conversations]).toEqual([expect.objectContaining({ turns: 6 }), 1]);
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
        "\nSee what the model no longer sees: jpg diff\nContinue: jpg resume --with claude-code, or jpg chat\n",
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
