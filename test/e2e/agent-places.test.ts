// This repository as the agents take it: a marketplace for Claude Code and Codex, an extension for Gemini CLI, packages for pi and
// OpenCode. Each is checked by the agent's own tool where it has one, installed from a local folder, seen by the model, and removed.
// @module-tag slow
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasAgent, type Mock, outputOfAgent, prepareAgent, runAgent, startModel } from "../helpers/run-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };

/** The beginning of the skill's description, which agents show to the model. */
const SKILL = "Finds, undoes and makes compactions of conversations with coding agents.";

let sandbox: Sandbox;
let mock: Mock;
beforeEach(async () => {
  sandbox = createSandbox();
  mock = await startModel();
  mkdirSync(bin());
  writeFileSync(join(bin(), "jpg"), `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, "bin/jpg.js")}' "$@"\n`, {
    mode: 0o755,
  });
});
afterEach(async () => {
  await mock.close();
  sandbox.remove();
});

const bin = (): string => join(sandbox.root, "bin");
const read = (...path: string[]): string => readFileSync(join(sandbox.home, ...path), "utf8");

const SOON = { interval: 200, timeout: 40_000 };

/** What jpg has: agents and turns. */
async function conversations(): Promise<unknown> {
  if (!existsSync(sandbox.store)) return null;
  const rows = await sandbox.json<readonly { agent: string; turns: number }[]>(["ls"]);
  return rows.map(({ agent, turns }) => [agent, turns]);
}

/** What `jpg hooks` prints of an agent, and what installing all of a level prints. */
async function hooksOf(agent: string, ...options: string[]): Promise<readonly [row: string, installed: string]> {
  const { stdout } = await sandbox.jpg(["hooks"]);
  const { stdout: out, stderr } = await sandbox.jpg(["hooks", "install", agent, ...options]);
  return [stdout.split("\n").find((line) => line.startsWith(agent)) ?? "", out + stderr];
}

/** An agent that finds `jpg`. */
function prepared(name: string): {
  run(...args: string[]): Promise<string>;
  /** What it says on both streams. */
  says(...args: string[]): Promise<string>;
  /** All that the model has been sent. */
  sent(): string;
} {
  prepareAgent(name, sandbox, mock);
  const place = { ...sandbox, bin: bin() };
  return {
    run: (...args) => outputOfAgent(name, place, mock, args),
    says: async (...args) => (await outputOfAgent(name, place, mock, args)) + (await runAgent(name, place, mock, args)),
    sent: () => JSON.stringify(mock.records.map(({ body }) => body)),
  };
}

describe.skipIf(!hasAgent("claude-code"))("Claude Code (real agent: needs JPG_AGENTS_DIR)", () => {
  it("takes the repository as a marketplace, and the plug-in with its skill and tools", async () => {
    const claude = prepared("claude-code");
    expect(await claude.run("plugin", "validate", "--strict", ROOT)).toContain("Validation passed");
    expect(await claude.run("plugin", "validate", "--strict", join(ROOT, "plugins/claude-code"))).toContain(
      "Validation passed",
    );
    await claude.run("plugin", "marketplace", "add", ROOT);
    await claude.run("plugin", "install", "jpg@jpg");
    expect(await claude.run("plugin", "list")).toMatch(new RegExp(`jpg@jpg\\s+Version: ${version}\\s[\\s\\S]*enabled`));
    await claude.run("-p", "say something");
    expect(claude.sent()).toContain(`jpg:jpg: ${SKILL}`);
    expect(claude.sent()).toContain('"name":"mcp__jpg__search"');

    const [row, installed] = await hooksOf("claude-code", "--live");
    expect(row).toMatch(/^claude-code( +by the plug-in){3}$/);
    expect(installed).toMatch(
      /Live part of claude-code is there already, by the plug-in: .*\/\.claude\/settings\.json/,
    );
    expect(installed).toContain("To remove the plug-in: claude plugin uninstall jpg@jpg");
    await sandbox.jpg(["hooks", "uninstall", "claude-code"]);

    await claude.run("plugin", "uninstall", "jpg@jpg");
    await claude.run("plugin", "marketplace", "remove", "jpg");
    expect(await claude.run("plugin", "list")).not.toContain("jpg");
    // Its copy stays in the cache, marked for Claude Code's own tidying.
    expect(readdirSync(join(sandbox.home, ".claude/plugins/cache/jpg/jpg", version))).toContain(".orphaned_at");
    expect(read(".claude", "settings.json")).not.toContain("jpg");
    const before = claude.sent().length;
    await claude.run("-p", "say more");
    expect(claude.sent().slice(before)).not.toContain("mcp__jpg__search");
  });
});

describe.skipIf(!hasAgent("codex"))("Codex (real agent: needs JPG_AGENTS_DIR)", () => {
  it("takes the repository as a marketplace, and the plug-in with its skill and tools", async () => {
    const codex = prepared("codex");
    await codex.run("plugin", "marketplace", "add", ROOT);
    await codex.run("plugin", "add", "jpg@jpg");
    const { installed } = JSON.parse(await codex.run("plugin", "list", "--json")) as { readonly installed: unknown };
    expect(installed).toEqual([expect.objectContaining({ pluginId: "jpg@jpg", version, enabled: true })]);
    expect(await codex.run("mcp", "list")).toMatch(/^jpg +jpg +mcp .*enabled/m);
    await codex.run("exec", "--skip-git-repo-check", "say something");
    expect(codex.sent()).toContain(SKILL);
    expect(codex.sent()).toMatch(/mcp__jpg/);

    expect(await hooksOf("codex", "--mcp")).toEqual([
      expect.stringMatching(/^codex +- +by the plug-in +-$/),
      expect.stringContaining("To remove the plug-in: codex plugin remove jpg@jpg"),
    ]);
    expect(read(".codex", "config.toml")).not.toContain("mcp_servers");

    await codex.run("plugin", "remove", "jpg@jpg");
    await codex.run("plugin", "marketplace", "remove", "jpg");
    expect(read(".codex", "config.toml")).not.toContain("jpg");
    expect(await codex.run("mcp", "list")).not.toMatch(/^jpg /m);
  });
});

describe.skipIf(!hasAgent("gemini-cli"))("Gemini CLI (real agent: needs JPG_AGENTS_DIR)", () => {
  const extension = join(ROOT, "plugins/tools");

  it("takes the extension with its context, skill and tools", async () => {
    const gemini = prepared("gemini-cli");
    expect(await gemini.says("extensions", "validate", extension)).toContain("has been successfully validated");
    await gemini.run("extensions", "install", extension, "--consent");
    const listed = await gemini.says("extensions", "list");
    expect(listed).toContain(`jpg (${version})`);
    expect(listed).toContain(SKILL);
    // Without a person, it offers the model no tool that it would ask about.
    await gemini.run("-m", "gemini-2.5-flash", "--yolo", "-p", "say something");
    expect(gemini.sent()).toContain("ask its tool `search`");
    expect(gemini.sent()).toContain(SKILL);
    expect(gemini.sent()).toContain('"name":"mcp_jpg_search"');

    expect(await hooksOf("gemini-cli", "--mcp")).toEqual([
      expect.stringMatching(/^gemini-cli +- +by the plug-in$/),
      expect.stringContaining("To remove the plug-in: gemini extensions uninstall jpg"),
    ]);

    await gemini.run("extensions", "uninstall", "jpg");
    expect(await gemini.says("extensions", "list")).not.toContain("jpg (");
  });

  it("takes it as a link, too", async () => {
    const gemini = prepared("gemini-cli");
    await gemini.run("extensions", "link", extension, "--consent");
    expect(await gemini.says("extensions", "list")).toContain("Type: link");
    await gemini.run("extensions", "uninstall", "jpg");
    expect(await gemini.says("extensions", "list")).not.toContain("jpg (");
    expect(readFileSync(join(extension, "gemini-extension.json"), "utf8")).toContain('"jpg"');
  });
});

describe.skipIf(!hasAgent("pi"))("pi (real agent: needs JPG_AGENTS_DIR)", () => {
  it("takes the package with its skill and tools", async () => {
    const pi = prepared("pi");
    await pi.run("install", join(ROOT, "plugins/pi"));
    expect(await pi.run("list")).toContain(join(ROOT, "plugins/pi"));
    await pi.run("-p", "--provider", "mock", "--model", "mock-model", "say something");
    expect(pi.sent()).toContain(SKILL);
    expect(pi.sent()).toContain('"name":"jpg_search"');

    expect(await hooksOf("pi", "--live")).toEqual([
      expect.stringMatching(/^pi( +by the plug-in){3}$/),
      expect.stringContaining(`To remove the plug-in: pi remove ${join(ROOT, "plugins/pi")}`),
    ]);

    await pi.run("remove", join(ROOT, "plugins/pi"));
    expect(read(".pi", "agent", "settings.json")).not.toContain("plugins");
  });

  it.each([
    ["the user", ["--live"], 1],
    ["the project, and the user", ["--live", "--project"], 2],
    ["the user, without tools", [], 1],
  ])("starts where hooks wrote a copy for %s, with each tool once", async (_, options, copies) => {
    const pi = prepared("pi");
    await sandbox.jpg(["hooks", "install", "pi", ...options]);
    if (copies === 2) await sandbox.jpg(["hooks", "install", "pi", "--live"]);
    await pi.run("install", join(ROOT, "plugins/pi"));
    await pi.run("-p", "--provider", "mock", "--model", "mock-model", "say something");
    expect(pi.sent().match(/"name":"jpg_(?:search|show)"/g)).toEqual(['"name":"jpg_search"', '"name":"jpg_show"']);
  });
});

describe.skipIf(!hasAgent("opencode"))("OpenCode (real agent: needs JPG_AGENTS_DIR)", () => {
  it.each([
    ["alone", []],
    ["beside the copy that hooks wrote", ["hooks", "install", "opencode", "--live"]],
  ])("takes the package that its settings name, %s: jpg has the session when it ends, once", async (_, command) => {
    const opencode = prepared("opencode");
    if (command.length > 0) await sandbox.jpg(command);
    const settings = JSON.parse(read("opencode.json")) as object;
    writeFileSync(
      join(sandbox.home, "opencode.json"),
      JSON.stringify({ ...settings, plugin: [join(ROOT, "plugins/opencode")] }),
    );
    await opencode.run("run", "say something");
    await expect.poll(conversations, SOON).toEqual([["opencode", 1]]);
  });
});
