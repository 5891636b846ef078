// Whether an agent has jpg's tools, by its settings: what `jpg hooks install --mcp` writes there, and what people write.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasServer } from "../../../src/app/import/has-server.ts";
import { installSetup, setupAgents, uninstallSetup } from "../../../src/app/import/hooks.ts";
import { agents } from "../../../src/app/sessions/session-registry.ts";
import { createTestRuntime, type TestRuntime } from "../../helpers/workspace.ts";

let folder: string;
let project: string;
let runtime: TestRuntime;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "jpg-has-server-"));
  project = join(folder, "project");
  runtime = createTestRuntime(project, { HOME: folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const agentOf = (name: string) => agents().find((agent) => agent.name === name)!;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

describe("hasServer", () => {
  it.each(setupAgents("server").flatMap(({ name }) => [[name, null] as const, [name, "project"] as const]))(
    "sees what is installed for %s (%s)",
    async (agent, where) => {
      const request = { agent, what: "server", project: where === null ? null : project } as const;
      expect(await hasServer(runtime, agentOf(agent), project)).toBe(false);
      await installSetup(runtime, request);
      expect(await hasServer(runtime, agentOf(agent), project)).toBe(true);
      expect(await hasServer(runtime, agentOf(agent), null)).toBe(where === null);
      await uninstallSetup(runtime, request);
      expect(await hasServer(runtime, agentOf(agent), project)).toBe(false);
    },
  );

  it("takes any way to start jpg, and nothing that is switched off or something else", async () => {
    const claude = agentOf("claude-code");
    const serves = async (entry: object): Promise<boolean> => {
      write(".claude.json", JSON.stringify({ mcpServers: { jpg: entry } }));
      return hasServer(runtime, claude, null);
    };
    expect(await serves({ command: "node", args: ["/opt/jpg/bin/jpg.js", "mcp"] })).toBe(true);
    expect(await serves({ command: "/usr/local/bin/jpg", args: ["mcp", "--store", "x"], env: {} })).toBe(true);
    expect(await serves({ command: "jpg", args: ["mcp"], disabled: true })).toBe(false);
    expect(await serves({ command: "jpg", args: ["ls"] })).toBe(false);
    expect(await serves({ command: "jpeg-tools", args: ["mcp"] })).toBe(false);
    expect(await serves({ url: "http://127.0.0.1:1" })).toBe(false);
  });

  it("sees what `claude mcp add` wrote for this project alone", async () => {
    const servers = { jpg: { type: "stdio", command: "jpg", args: ["mcp"], env: {} } };
    write(".claude.json", JSON.stringify({ projects: { [project]: { mcpServers: servers } } }));
    expect(await hasServer(runtime, agentOf("claude-code"), project)).toBe(true);
    expect(await hasServer(runtime, agentOf("claude-code"), join(folder, "other"))).toBe(false);
    expect(await hasServer(runtime, agentOf("claude-code"), null)).toBe(false);
  });

  it.each([
    ["the user's settings", ".claude/settings.json", (refused: object) => refused],
    ["the project's", "project/.claude/settings.json", (refused: object) => refused],
    ["the user's of the project", "project/.claude/settings.local.json", (refused: object) => refused],
    [
      "what Claude Code knows of the project",
      ".claude.json",
      (refused: object) => ({ projects: { [project]: refused } }),
    ],
  ])("does not count a server of a project's .mcp.json that its user refused: %s", async (_, path, settings) => {
    const claude = agentOf("claude-code");
    await installSetup(runtime, { agent: "claude-code", what: "server", project });
    write(path, JSON.stringify(settings({ disabledMcpjsonServers: ["other"] })));
    expect(await hasServer(runtime, claude, project)).toBe(true);
    write(path, JSON.stringify(settings({ disabledMcpjsonServers: ["other", "jpg"] })));
    expect(await hasServer(runtime, claude, project)).toBe(false);
    // That is said of .mcp.json alone.
    const servers = { jpg: { command: "jpg", args: ["mcp"] } };
    const mine = path === ".claude.json" ? settings({ disabledMcpjsonServers: ["jpg"] }) : {};
    write(".claude.json", JSON.stringify({ ...mine, mcpServers: servers }));
    expect(await hasServer(runtime, claude, project)).toBe(true);
  });

  it("is no where the settings cannot be read, and where the agent knows no servers", async () => {
    write(".claude.json", "{ no JSON");
    expect(await hasServer(runtime, agentOf("claude-code"), null)).toBe(false);
    write(".codex/config.toml", '[mcp_servers.jpg]\ncommand = "jpg"\nargs = ["mcp"]\nenabled = false\n');
    expect(await hasServer(runtime, agentOf("codex"), null)).toBe(false);
    expect(await hasServer(runtime, agentOf("pi"), project)).toBe(false);
  });
});
