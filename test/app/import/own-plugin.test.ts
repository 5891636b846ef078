// jpg's plug-in where an agent itself installed it: files as the agents were seen to write them (test/e2e/agent-places.test.ts
// compares with the real ones), and all of them with one thing off, damaged or of somebody else.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasServer } from "../../../src/app/import/has-server.ts";
import {
  doneTwice,
  installLevel,
  installSetup,
  listSetups,
  setupAgents,
  uninstallSetup,
} from "../../../src/app/import/hooks.ts";
import { findOwnPlugin } from "../../../src/app/import/own-plugin.ts";
import { createTestRuntime, type TestRuntime } from "../../helpers/workspace.ts";

let folder: string;
let project: string;
let runtime: TestRuntime;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "jpg-own-plugin-"));
  project = join(folder, "project");
  runtime = createTestRuntime(project, { HOME: folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

function write(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const agentOf = (name: string) => setupAgents().find((agent) => agent.name === name)!;
const find = (agent: string, place: string | null = null) => findOwnPlugin(runtime, agentOf(agent), place);

const CLAUDE_LIST = ".claude/plugins/installed_plugins.json";
const GEMINI = ".gemini/extensions";
const SERVERS = '{"name": "jpg", "mcpServers": {"jpg": {"command": "jpg", "args": ["mcp"]}}}';

/** For each agent, what it writes, and what a user types to remove it. */
const INSTALLED: Readonly<Record<string, { readonly files: Files; readonly removal: RegExp }>> = {
  "claude-code": {
    files: {
      [CLAUDE_LIST]: '{"version": 2, "plugins": {"jpg@jpg": [{"scope": "user"}]}}',
      ".claude/settings.json": '{"enabledPlugins": {"jpg@jpg": true}}',
    },
    removal: /: claude plugin uninstall jpg@jpg$/,
  },
  codex: {
    files: {
      ".codex/plugins/cache/jpg/jpg/0.1.0/.mcp.json": "{}",
      ".codex/config.toml": 'model = "m"\n\n[plugins."jpg@jpg"]\nenabled = true\n',
    },
    removal: /: codex plugin remove jpg@jpg$/,
  },
  "gemini-cli": {
    files: {
      [`${GEMINI}/jpg/.gemini-extension-install.json`]: '{"source": "/opt/jpg/plugins/tools", "type": "local"}',
      [`${GEMINI}/jpg/gemini-extension.json`]: SERVERS,
      [`${GEMINI}/extension-enablement.json`]: '{"jpg": {"overrides": ["/home/*"]}}',
    },
    removal: /: gemini extensions uninstall jpg$/,
  },
  pi: {
    files: {
      "opt jpg/plugins/pi/package.json": '{"name": "jpg-pi"}',
      ".pi/agent/settings.json": '{"packages": ["npm:other", "../../opt jpg/plugins/pi"]}',
    },
    removal: /: pi remove '.*\/opt jpg\/plugins\/pi'$/,
  },
  opencode: {
    files: {
      "opt/plugins/opencode/package.json": '{"name": "jpg-opencode"}',
      ".config/opencode/opencode.jsonc": '{\n  // mine\n  "plugin": ["other", "../../opt/plugins/opencode"],\n}',
    },
    removal: /, take "\.\.\/\.\.\/opt\/plugins\/opencode" out of `plugin` in .*\/opencode\.jsonc\.$/,
  },
};

/** Changes to one file after which nothing is certain, or the plug-in is off. */
const NOT_THERE: readonly (readonly [agent: string, what: string, path: string, text: string])[] = [
  ["claude-code", "off", ".claude/settings.json", '{"enabledPlugins": {"jpg@jpg": false}}'],
  ["claude-code", "of another marketplace", ".claude/settings.json", '{"enabledPlugins": {"jpg@other": true}}'],
  ["claude-code", "enabled and not installed", CLAUDE_LIST, '{"version": 2, "plugins": {"jpg@jpg": []}}'],
  ["claude-code", "damaged", ".claude/settings.json", '{"enabledPlugins": '],
  ["codex", "off", ".codex/config.toml", '[plugins."jpg@jpg"]\nenabled = false\n'],
  ["codex", "damaged", ".codex/config.toml", '[plugins."jpg@jpg"\nenabled = true\n'],
  ["gemini-cli", "off for some folders", `${GEMINI}/extension-enablement.json`, '{"jpg": {"overrides": ["!/home/*"]}}'],
  ["gemini-cli", "without the server", `${GEMINI}/jpg/gemini-extension.json`, '{"name": "jpg"}'],
  ["pi", "a folder of somebody else", "opt jpg/plugins/pi/package.json", '{"name": "other"}'],
  ["pi", "only its skills", ".pi/agent/settings.json", '{"packages": [{"source": "../../opt jpg/plugins/pi"}]}'],
  ["opencode", "a folder that is gone", ".config/opencode/opencode.jsonc", '{"plugin": ["../../gone"]}'],
  ["opencode", "no list", ".config/opencode/opencode.jsonc", '{"plugin": {"a": 1}}'],
];

describe("a plug-in that an agent installed", () => {
  it.each(Object.keys(INSTALLED))("is seen in %s, and how it is removed", async (agent) => {
    expect(find(agent)).toBeNull();
    write(INSTALLED[agent]!.files);
    expect(find(agent)?.removal).toMatch(INSTALLED[agent]!.removal);
    const { does } = agentOf(agent).setup!.ownPlugin!;
    const rows = (await listSetups(runtime, null)).filter((row) => row.agent === agent && row.plugin !== undefined);
    const possible = does.filter((what) => agentOf(agent).setup?.[what] !== undefined);
    expect(rows.map(({ what, state }) => [what, state])).toEqual(possible.map((what) => [what, "absent"]));
    expect(await hasServer(runtime, agentOf(agent), project)).toBe(does.includes("server"));
  });

  it.each(NOT_THERE)("%s: is not claimed where it is %s", (agent, _, path, text) => {
    write(INSTALLED[agent]!.files);
    expect(find(agent)).not.toBeNull();
    write({ [path]: text });
    expect(find(agent)).toBeNull();
  });

  it.each(Object.keys(INSTALLED))("is not doubled in %s by any level, but for hooks that it needs", async (agent) => {
    write(INSTALLED[agent]!.files);
    const { setup } = agentOf(agent);
    const { does } = setup!.ownPlugin!;
    for (const level of ["keep", "tools", "live"] as const) {
      if (level === "tools" && setup?.server === undefined) continue;
      if (level === "live" && setup?.live === undefined) continue;
      for (const { what, status, plugin } of await installLevel(runtime, { agent, level, project: null })) {
        const isDone = does.includes(what) && !(what === "hooks" && agent === "claude-code");
        expect([what, status === "present" && plugin !== undefined]).toEqual([what, isDone]);
      }
    }
    expect(doneTwice(await listSetups(runtime, null))).toEqual([]);
    const { status, plugin } = await uninstallSetup(runtime, { agent, what: does[0]!, project: null });
    expect(status).toBe(agent === "claude-code" ? "removed" : "absent");
    expect(plugin?.removal).toMatch(INSTALLED[agent]!.removal);
    expect(find(agent)).not.toBeNull();
  });

  it("is named where hooks did the same before", async () => {
    await installSetup(runtime, { agent: "codex", what: "server", project: null });
    await installSetup(runtime, { agent: "claude-code", what: "hooks", project: null });
    const now = readFileSync(join(folder, ".codex/config.toml"), "utf8");
    write({ ...INSTALLED["codex"]!.files, [CLAUDE_LIST]: INSTALLED["claude-code"]!.files[CLAUDE_LIST]! });
    const settings = JSON.parse(readFileSync(join(folder, ".claude/settings.json"), "utf8")) as object;
    write({ ".claude/settings.json": JSON.stringify({ ...settings, enabledPlugins: { "jpg@jpg": true } }) });
    write({ ".codex/config.toml": `${now}\n[plugins."jpg@jpg"]\nenabled = true\n` });
    expect(doneTwice(await listSetups(runtime, null)).map(({ agent }) => agent)).toEqual(["codex"]);
  });

  it("counts in a project, unless that switches it off", async () => {
    write(INSTALLED["claude-code"]!.files);
    const request = { agent: "claude-code", what: "server", project } as const;
    expect(await installSetup(runtime, request)).toMatchObject({ status: "present" });
    write({ "project/.claude/settings.local.json": '{"enabledPlugins": {"jpg@jpg": false}}' });
    expect(await installSetup(runtime, request)).not.toHaveProperty("plugin");
  });

  it("of a project says the project's command", () => {
    write({
      [CLAUDE_LIST]: INSTALLED["claude-code"]!.files[CLAUDE_LIST]!,
      "project/.claude/settings.json": '{"enabledPlugins": {"jpg@jpg": true}}',
      "project/pi/package.json": '{"name": "jpg-pi"}',
      "project/.pi/settings.json": '{"packages": ["../pi"]}',
    });
    expect([find("claude-code"), find("pi")]).toEqual([null, null]);
    expect(find("claude-code", project)?.removal).toMatch(/uninstall jpg@jpg --scope project$/);
    expect(find("pi", project)?.removal).toMatch(/pi remove -l \S+\/project\/pi$/);
  });

  it("of Gemini CLI may be a link", () => {
    write({
      "clone/gemini-extension.json": SERVERS,
      [`${GEMINI}/jpg/.gemini-extension-install.json`]: JSON.stringify({ source: join(folder, "clone"), type: "link" }),
    });
    expect(find("gemini-cli")).not.toBeNull();
  });
});
