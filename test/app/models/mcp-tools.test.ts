// Tools of MCP servers, against a small server of our own that can misbehave in every way.

import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type McpToolOptions, openMcpTools } from "../../../src/app/models/mcp-server.ts";
import { MAX_TEXT_BYTES, type Tool, type ToolBox, type ToolResult } from "../../../src/app/models/tool-box.ts";
import type { Config, McpServerConfig } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { areGone } from "../../helpers/processes.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, createTestRuntime } from "../../helpers/workspace.ts";

const SERVER = fileURLToPath(new URL("../../fixtures/mcp/server.mjs", import.meta.url));
const boxes: ToolBox[] = [];
let folder: TempFolder;
beforeAll(() => {
  folder = createTempFolder();
});
afterEach(async () => {
  for (const box of boxes.splice(0)) await box.close();
});
afterAll(() => folder.remove());

const server = (modes: readonly string[] = ["good"], more: McpServerConfig = {}): McpServerConfig => ({
  command: process.execPath,
  args: [SERVER, ...modes],
  ...more,
});

/** One that says something and then nothing; a shell is there sooner than a Node. */
const shell = (says: string): McpServerConfig => ({ command: "/bin/sh", args: ["-c", `${says}exec cat >/dev/null`] });

async function open(
  servers: Readonly<Record<string, McpServerConfig>>,
  options: McpToolOptions = {},
  env: Record<string, string> = {},
): Promise<ToolBox> {
  const { config } = loadConfig({ conversation: [], overrides: [] });
  const store = (await createMemoryWorkspace()).store;
  const world = { PATH: process.env["PATH"] ?? "", HOME: folder.path, ...env };
  const workspace = {
    ...(await createMemoryWorkspace(folder.path, store, createTestRuntime(folder.path, world))),
    location: { root: folder.path, kind: "flag" as const, exists: true },
  };
  const asked: Config = { ...config, mcp: { servers } };
  const box = await openMcpTools(workspace, asked, { openingMs: 60_000, ...options });
  boxes.push(box);
  return box;
}

function tool({ tools }: ToolBox, name: string): Tool {
  const found = tools.find(({ definition }) => definition.name === name);
  if (found === undefined) throw new Error(`no tool ${name} among ${tools.map((t) => t.definition.name).join(", ")}`);
  return found;
}

const call = (
  box: ToolBox,
  name: string,
  args: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<ToolResult> => tool(box, name).call(args, { signal: signal ?? new AbortController().signal });

const pids = (name: string): number[] => readFileSync(join(folder.path, name), "utf8").trim().split("\n").map(Number);

describe("openMcpTools", () => {
  it("lists the tools of the servers of the settings and calls them", async () => {
    const box = await open({ harbour: server() });
    expect(box.problems).toEqual([]);
    const tide = tool(box, "tide");
    expect(tide).toMatchObject({
      origin: "harbour",
      confirm: true,
      definition: { description: "The height of the tide.", parameters: { type: "object" } },
    });
    expect(await call(box, "tide", { pier: "west" })).toEqual({
      content: "The tide at west stands at 2 m.",
      isError: false,
    });
  });

  it("asks before each call unless the settings say otherwise", async () => {
    const box = await open({ asked: server(["good"]), trusted: server(["alias"], { confirm: false }) });
    expect(tool(box, "env").confirm).toBe(true);
    expect(tool(box, "trusted__tide").confirm).toBe(false);
  });

  it("reads all pages of a list", async () => {
    const box = await open({ harbour: server(["pages"]) });
    expect(box.tools).toHaveLength(12);
  });

  it("names tools that are called alike after their server, and spares names that are taken", async () => {
    const box = await open({ north: server(["alias"]), south: server() }, { taken: ["large"] });
    const names = box.tools.map(({ definition }) => definition.name);
    expect(names).toContain("north__tide");
    expect(names).toContain("south__tide");
    expect(names).toContain("south__large");
    expect(names).toContain("harbour_chart_v2");
    expect(await call(box, "harbour_chart_v2")).toEqual({ content: "chart", isError: false });
  });

  it("gives a server a minimal environment and its own settings, never the keys of providers", async () => {
    const env = { ANTHROPIC_API_KEY: "sk-secret", OPENAI_API_KEY: "sk-other", LANG: "C.UTF-8", GIT_DIR: "/nowhere" };
    const box = await open({ harbour: server(["good"], { env: { CHART: "north" } }) }, {}, env);
    const seen = JSON.parse(String((await call(box, "env")).content)) as Record<string, string>;
    expect(seen).toMatchObject({ HOME: folder.path, LANG: "C.UTF-8", CHART: "north" });
    expect(Object.keys(seen).filter((name) => /KEY|GIT/.test(name))).toEqual([]);
  });

  it("reports each server that does not start, and has the others", async () => {
    const servers = {
      absent: { command: join(folder.path, "nothing-here") },
      empty: {},
      dead: server(["exits"], { env: { CHART_TOKEN: "token-4711" } }),
      lost: server(["bad-list"]),
      "my server": { command: "x\0y" },
      works: server(["alias"]),
    };
    const box = await open(servers);
    expect(box.tools.map(({ definition }) => definition.name)).toEqual(["tide"]);
    expect(box.problems).toEqual([
      expect.stringMatching(
        /^MCP server absent could not be started: no such program \(settings: mcp\.servers\.absent\)\.$/,
      ),
      expect.stringMatching(
        /^MCP server dead ended with exit code 3; it said: cannot find the harbour chart, token … \(settings: mcp\.servers\.dead\)\.$/,
      ),
      "MCP server empty has no program: set mcp.servers.empty.command.",
      expect.stringMatching(/^MCP server lost answered with an error: .*the list is lost/),
      expect.stringMatching(/^MCP server my server could not be started: .*\(settings: mcp\.servers\."my server"\)\.$/),
    ]);
  });

  it("does not wait for a server that never answers, and says what it printed instead", {
    tags: ["slow"],
  }, async () => {
    const box = await open({ mute: shell(""), noisy: shell("echo 'Welcome to the harbour!'; ") }, { openingMs: 1500 });
    expect(box.tools).toEqual([]);
    expect(box.problems).toEqual([
      "MCP server mute did not answer within 1.5 s (settings: mcp.servers.mute).",
      "MCP server noisy did not answer within 1.5 s; it printed something that is not an MCP message: Welcome to the harbour! (settings: mcp.servers.noisy).",
    ]);
  });

  it("passes over what a server prints between its messages", async () => {
    const box = await open({ harbour: server(["rubbish"]) });
    expect(box.problems).toEqual([]);
    expect((await call(box, "tide", { pier: "east" })).isError).toBe(false);
  });

  it("stops opening when the signal says so, with nothing left running", async () => {
    const stop = new AbortController();
    const env = { PID_FILE: join(folder.path, "opening") };
    const opening = open(
      { mute: server(["silent"], { env }), good: server(["good"], { env }) },
      { signal: stop.signal },
    );
    await expect.poll(() => existsSync(join(folder.path, "opening")) && pids("opening").length).toBe(2);
    stop.abort();
    await expect(opening).rejects.toThrow(/abort/);
    expect(await areGone(pids("opening"))).toBe(true);
  });
});

describe("a call", () => {
  it("gives errors of the tool and of the protocol as results", async () => {
    const box = await open({ harbour: server() });
    expect(await call(box, "fails")).toEqual({ content: "no such pier", isError: true });
    const refused = await call(box, "refuses");
    expect(refused.isError).toBe(true);
    expect(refused.content).toMatch(/^refuses failed: MCP server harbour answered with an error: .*Invalid arguments/);
    expect((await call(box, "tide", { pier: "still" })).isError).toBe(false);
  });

  it("ends after the time of the settings", { tags: ["slow"] }, async () => {
    const box = await open({ harbour: server(["good"], { timeout_ms: 1500 }) });
    expect(await call(box, "hangs")).toEqual({
      content: "hangs failed: MCP server harbour did not answer within 1.5 s (settings: mcp.servers.harbour).",
      isError: true,
    });
    expect((await call(box, "tide", { pier: "still" })).isError).toBe(false);
  });

  it("throws when the signal ends it, before and during", async () => {
    const box = await open({ harbour: server() });
    const stop = new AbortController();
    const hanging = call(box, "hangs", {}, stop.signal);
    stop.abort();
    await expect(hanging).rejects.toThrow(/abort/);
    await expect(call(box, "tide", {}, stop.signal)).rejects.toThrow(/abort/);
  });

  it("starts a server again that died, once, and says so; the call that it died in is not repeated", async () => {
    const box = await open({ harbour: server(["good"], { env: { PID_FILE: join(folder.path, "restarted") } }) });
    const notices: string[] = [];
    const options = { signal: new AbortController().signal, notice: (text: string) => void notices.push(text) };
    const died = (name: string): ToolResult => ({
      content: `${name} failed: MCP server harbour ended with exit code 7; it said: the harbour burns (settings: mcp.servers.harbour).`,
      isError: true,
    });
    expect(await call(box, "dies")).toEqual(died("dies"));
    expect(notices).toEqual([]);
    expect(await tool(box, "tide").call({ pier: "west" }, options)).toMatchObject({ isError: false });
    expect(notices).toEqual(["MCP server harbour ended with exit code 7; it is started again."]);
    expect(await call(box, "tide")).toMatchObject({ isError: false });
    expect(await call(box, "dies")).toEqual(died("dies"));
    expect(await tool(box, "tide").call({}, options)).toEqual(died("tide"));
    expect(notices).toHaveLength(1);
    expect(pids("restarted")).toHaveLength(2);
    await box.close();
    expect(await areGone(pids("restarted"))).toBe(true);
  });

  it("reports a server that cannot be restarted", async () => {
    const script = join(folder.path, "once.mjs");
    copyFileSync(SERVER, script);
    const box = await open({ harbour: { command: process.execPath, args: [script] } });
    await call(box, "dies");
    rmSync(script);
    expect(await call(box, "tide")).toMatchObject({
      content: expect.stringMatching(/^tide failed: MCP server harbour ended with exit code 1; it said: /),
      isError: true,
    });
    // Not tried again and again.
    expect(await call(box, "tide")).toMatchObject({ content: expect.stringContaining("exit code 7"), isError: true });
  });

  it("keeps both ends of a long text and says how much is missing", async () => {
    const box = await open({ harbour: server() });
    const whole = await call(box, "large", { bytes: MAX_TEXT_BYTES - 20 });
    expect(whole.content).not.toContain("left out");
    const { content, isError } = await call(box, "large", { bytes: 3 * MAX_TEXT_BYTES });
    expect(isError).toBe(false);
    expect(content).toMatch(/^begin ä+\n\[… \d+ of 786442 bytes left out …\]\nä+ end$/);
    expect(Buffer.byteLength(String(content))).toBeLessThan(MAX_TEXT_BYTES + 100);
    expect(content).not.toContain("\ufffd");
  });

  it("takes images up to a limit and puts a word in the place of the others", async () => {
    const box = await open({ harbour: server() });
    const { content } = await call(box, "pictures", { sizes: [3, 6 << 20, 3 << 20, 3 << 20, 3 << 20, 3 << 20] });
    expect(Array.isArray(content) && content.map((part) => (part.type === "text" ? part.text : part.type))).toEqual([
      "image",
      "[image left out: 6144 KiB, more than fits]",
      "image",
      "image",
      "image",
      "[image left out: 3072 KiB, more than fits]",
    ]);
  });

  it("says something of every kind of content", async () => {
    const box = await open({ harbour: server() });
    expect((await call(box, "parts")).content).toEqual([
      { type: "text", text: "one\ntwo" },
      { type: "image", media_type: "image/png", data: "AAAA" },
      {
        type: "text",
        text: [
          "[image left out: models do not take image/svg+xml]",
          "[audio of type audio/wav left out: 1 KiB]",
          "[resource file:///chart: the chart]",
          "[resource file:///log]",
          "the log",
          "[resource file:///dump left out: 1 KiB]",
        ].join("\n"),
      },
    ]);
    expect((await call(box, "structured")).content).toBe('{\n "n": 3\n}');
  });

  it("gives up on a line without end, and ends its server", async () => {
    const env = { PID_FILE: join(folder.path, "flood") };
    const box = await open({ harbour: server(["good"], { env }) });
    const { content, isError } = await call(box, "flood");
    expect(isError).toBe(true);
    expect(content).toBe(
      "flood failed: MCP server harbour wrote a line of more than 32 MiB (settings: mcp.servers.harbour).",
    );
    expect(await areGone(pids("flood"))).toBe(true);
  });
});

describe("closing", () => {
  it("ends servers with what they started, also those that do not want to", { tags: ["slow"] }, async () => {
    const env = { PID_FILE: join(folder.path, "closing") };
    const box = await open({
      polite: server(["child"], { env }),
      stubborn: server(["slow-end", "child"], { env }),
    });
    const running = pids("closing");
    expect(running).toHaveLength(4);
    await box.close();
    expect(await areGone(running)).toBe(true);
    await box.close();
  });
});
