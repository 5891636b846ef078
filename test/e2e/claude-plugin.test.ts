// Claude Code's plug-in in the real agent, with a jpg whose answers the tests choose: what is sent, what the user sees, and what
// happens where jpg fails. With the real jpg: claude-live.test.ts.
// @module-tag slow
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { createLivePlace, type LiveOptions, type LivePlace, textOfRequest } from "../agents/claude-live.ts";
import { findAgent } from "../agents/drivers.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { tmuxMissing } from "../helpers/tmux.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const claude = agentsFolder === undefined ? null : findAgent("claude-code", agentsFolder);
const cannotRun = claude === null || tmuxMissing !== null;

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Faked extends LivePlace {
  /** What the plug-in has asked so far. */
  asked(): readonly { readonly [field: string]: unknown }[];
}

/** What jpg answers, as the body of a function of `request`; where it gives nothing, an answer that fits. */
async function fake(answer = "", options: Partial<LiveOptions> = {}): Promise<Faked> {
  const folder = mkdtempSync(join(tmpdir(), "jpg-fake-"));
  const requests = join(folder, "requests.jsonl");
  writeFileSync(requests, "");
  writeFileSync(
    join(folder, "answer.mjs"),
    `${FITTING}\nexport const answer = async (request) => (await special(request)) ?? fitting(request);\nasync function special(request) { ${answer} }\n`,
  );
  const place = await createLivePlace({
    program: claude?.program ?? "",
    jpg: [process.execPath, join(ROOT, "test/agents/fake-jpg.mjs")],
    ...options,
    env: { FAKE_JPG: folder, ...options.env },
  });
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  closers.push(() => place.close());
  const asked = () =>
    readFileSync(requests, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { readonly [field: string]: unknown });
  return { ...place, asked };
}

const FITTING = `
const fitting = ({ do: done, handles = [], query, event }) => {
  const band = [{ text: "band after " + done }];
  if (done === "status" || done === "keep") return { jpg: 1, done, band, offer: false, act: false };
  if (done !== "compact" && done !== "undo") return { jpg: 1, done, text: "text of " + done + " " + (query ?? event ?? "") };
  const messages = [{ handle: handles[0] }, { role: "assistant", text: "Built by " + done + ".", toolUses: [] }];
  const marker = "Words [jpg 1 " + done + " abcdefgh 0123456789ab 2]";
  return { jpg: 1, done, messages, marker, notice: "notice of " + done, status: { band, offer: false } };
};`;

describe.skipIf(cannotRun)("Claude Code's plug-in (real agent: needs JPG_AGENTS_DIR) (tmux)", () => {
  it("is valid and passes its own tests, in Claude Code's own opinion", async () => {
    const folder = mkdtempSync(join(tmpdir(), "jpg-plugin-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const plugin = join(folder, "plugin");
    cpSync(join(ROOT, "plugins/claude-code"), plugin, { recursive: true });
    mkdirSync(join(folder, "home"));
    const env = { HOME: join(folder, "home"), PATH: "/usr/bin:/bin" };
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(claude?.program ?? "", ["plugin", ...args, plugin], { env })).stdout;
    expect(await run("validate")).toContain("Validation passed");
    expect(await run("test")).toMatch(/^ 0 fail$/m);
  });

  it("installs jpg's answers, shows the band and serves the tools", async () => {
    const place = await fake();
    const session = await place.open();
    await session.shows("band after status");
    await session.prompt("read a.txt");
    await session.shows("band after keep");
    await session.command("/compact the harbour");
    await session.shows("notice of compact");
    await session.shows("band after compact");
    const sent = textOfRequest(await session.prompt("go on"));
    expect(sent.slice(0, 2)).toEqual(["user: read a.txt", "assistant: Built by compact."]);
    await session.prompt('call mcp__jpg__search {"query":"quay"}');
    expect(textOfRequest(place.model.requests.at(-1)).at(-1)).toBe("user: result text of find quay");
    await session.command("/jpg-undo");
    await session.shows("notice of undo");
    expect(textOfRequest(await session.prompt("on"))[1]).toBe("assistant: Built by undo.");
    await session.command("/jpg-log");
    await session.shows("text of log");
    expect(JSON.stringify(await session.prompt("and on"))).not.toContain("text of log");
    const [compact] = place.asked().filter((request) => request["do"] === "compact");
    expect(compact).toMatchObject({
      agent: "claude-code",
      trigger: "manual",
      in_loop: false,
      instructions: "the harbour",
    });
    await session.quit();
  });

  it("puts the marker right before the boundary, and jpg's notice after it", async () => {
    const place = await fake();
    const session = await place.open();
    await session.prompt("read a.txt");
    await session.command("/compact");
    await session.shows("notice of compact");
    await session.quit();
    const rows = readFileSync(place.session(), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { subtype?: string; content?: string });
    const at = rows.findIndex(({ subtype }) => subtype === "compact_boundary");
    expect(rows[at - 1]?.content).toMatch(/\[jpg 1 compact abcdefgh 0123456789ab 2\]$/);
    expect(rows.findIndex(({ content }) => content?.includes("notice of compact"))).toBeGreaterThan(at);
  });

  it("lets Esc through: nothing is installed, and Claude Code does not compact either", async () => {
    const place = await fake(
      `if (request.do === "compact") await new Promise((resolve) => setTimeout(resolve, 20_000));`,
    );
    const session = await place.open();
    await session.prompt("read a.txt");
    await session.command("/jpg-compact");
    await session.shows("Running PreCompact hooks");
    const before = place.model.requests.length;
    await expect.poll(() => place.asked().some((request) => request["do"] === "compact")).toBe(true);
    session.pane.type("Escape");
    await session.shows(/❯.\/compact \[jpg\] compact\s*\n─/, 10_000);
    expect(place.model.requests.length).toBe(before);
    session.pane.type("C-u");
    expect(textOfRequest(await session.prompt("go on")).join("\n")).toContain("call Read");
    expect(readFileSync(place.session(), "utf8")).not.toContain("compact_boundary");
    await session.quit();
  });

  it.each([
    [
      "has nothing to gain",
      `if (request.do === "compact" || request.do === "undo") return { jpg: 1, pass: "There is nothing to gain.", code: "x" };`,
      /There is nothing to gain\./,
    ],
    [
      "prints no JSON",
      `if (request.do === "compact" || request.do === "undo") { console.error("boom"); return "what\\n"; }`,
      /No answer: boom\./,
    ],
    [
      "is killed",
      `if (request.do === "compact" || request.do === "undo") process.kill(process.pid, "SIGKILL");`,
      /No answer \(exit code 1\)\./,
    ],
    [
      "answers with more than 4 MiB",
      `if (request.do === "compact" || request.do === "undo") return "x".repeat(5e6) + "\\n";`,
      /The answer is over 4 MiB/,
    ],
  ])("compacts by itself with one line why where jpg %s, and never for an undo", async (_, answer, why) => {
    const place = await fake(answer);
    const session = await place.open();
    await session.prompt("read b.txt");
    await session.command("/jpg-undo");
    expect(await session.shows(/Not compacted/)).toMatch(why);
    await session.command("/compact");
    expect(await session.shows(/compacts by\s+itself\./)).toMatch(why);
    await session.shows(/Compacted \(ctrl/);
    expect(readFileSync(place.session(), "utf8")).not.toContain("[jpg 1 ");
    await session.quit();
  });

  it("says at the start that jpg is not there", async () => {
    const place = await fake("", { jpg: ["/nowhere/jpg", "live"] });
    const session = await place.open();
    await session.shows(/could not be started/);
    await session.quit();
  });

  it("is asked in the middle of a turn, before the request that is too long", async () => {
    const place = await fake();
    place.model.plan = (request) => ({ tokens: request === 4 ? 190_000 : 100 });
    await place.stream(["read a.txt", "say something", "run echo hi"], ["--autocompact", "100000"]);
    const [compact] = place.asked().filter((request) => request["do"] === "compact");
    expect(compact).toMatchObject({ trigger: "auto", in_loop: true, tokens: 190_000 });
    expect(textOfRequest(place.model.requests[4])).toEqual(["user: read a.txt", "assistant: Built by compact."]);
  });

  it("leaves the compaction of a sub-agent to Claude Code", async () => {
    const place = await fake();
    const isOfAgent = ({ messages }: { readonly messages: readonly object[] }): boolean =>
      !JSON.stringify(messages[0]).includes("call Agent");
    place.model.plan = (_, request) => ({ tokens: isOfAgent(request) && request.messages.length < 3 ? 190_000 : 100 });
    const input = { description: "look", prompt: "read a.txt", subagent_type: "general-purpose" };
    const prompts = [`call Agent ${JSON.stringify(input)}`, "say something"];
    await place.stream(prompts, ["--autocompact", "100000"]);
    const asked = place.model.requests.filter(isOfAgent).map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(asked.some((text) => text.includes("Respond with TEXT ONLY"))).toBe(true);
    expect(place.asked().filter((request) => request["do"] === "compact")).toEqual([]);
  });

  it("has its server's tools where the user's own server is not, and never both", async () => {
    const names = (place: LivePlace): readonly string[] =>
      (place.model.requests.at(-1)?.tools ?? []).map(({ name }) => name).filter((name) => name.includes("jpg"));
    const place = await fake("", { env: { ENABLE_TOOL_SEARCH: "false" } });
    await place.print("say hi");
    expect(names(place)).toEqual(["mcp__jpg__search", "mcp__jpg__show"]);
    expect(place.log()).toContain("holds a server back: plugin:jpg:jpg");
    const own = { jpg: { command: process.execPath, args: [join(ROOT, "bin/jpg.js"), "mcp"] } };
    await place.print("--mcp-config", JSON.stringify({ mcpServers: own }), "--", "say hi");
    expect(names(place)).toContain("mcp__jpg__stats");
    expect(names(place).filter((name) => name.endsWith("search"))).toEqual(["mcp__jpg__search"]);
  });

  it("is not there with --bare, and the agent works", async () => {
    const place = await fake();
    expect(await place.print("--bare", "say hi")).toContain("Answer 1.");
    expect(place.asked()).toEqual([]);
  });
});
