// The real agents with jpg's hooks in their settings: a session that ends, or is compacted, is in jpg without anybody doing
// anything. Also with the tools of `jpg mcp`. The model is the mock; nothing else is reached.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLivePlace } from "../agents/claude-live.ts";
import { findAgent } from "../agents/drivers.ts";
import { makeOlder } from "../helpers/older-plugin.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { hasAgent, type Mock, prepareAgent, runAgent, startModel } from "../helpers/run-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { tmuxMissing } from "../helpers/tmux.ts";

let sandbox: Sandbox;
let mock: Mock;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => {
  await mock.close();
  sandbox.remove();
});

async function start(agent: string, ...options: string[]): Promise<void> {
  mock = await startModel();
  prepareAgent(agent, sandbox, mock);
  const { code, stderr } = await sandbox.jpg(["hooks", "install", agent, ...options]);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
}

/** What jpg has, once the spool is empty. */
async function conversations(): Promise<unknown> {
  const spool = join(sandbox.home, ".local", "state", "jpg", "spool");
  const isWaiting = existsSync(spool) && readdirSync(spool).length > 0;
  if (!existsSync(sandbox.store) || isWaiting) return null;
  const rows = await sandbox.json<{ turns: number; compactions: number }[]>(["ls"]);
  return rows.map(({ turns, compactions }) => [turns, compactions]);
}

/** Whether a plug-in that an older jpg wrote becomes this jpg's when the agent runs: then it asks jpg. */
async function asksJpg(place: { readonly home: string }, file: string, run: () => Promise<unknown>): Promise<void> {
  const now = readFileSync(file, "utf8");
  makeOlder(place, file);
  await run();
  await expect.poll(() => readFileSync(file, "utf8"), SOON).toBe(now);
}

const SOON = { interval: 200, timeout: 40_000 };

/** The session that the agent keeps, by its file's name. */
function sessionId(): string {
  const folder = join(sandbox.home, ".claude", "projects");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  return /[0-9a-f-]{36}/.exec(files[0] ?? "")?.[0] ?? "";
}

describe.skipIf(!hasAgent("claude-code"))("Claude Code with jpg's hooks (real agent: needs JPG_AGENTS_DIR)", () => {
  it("has its session imported when it ends, and again when it is compacted", async () => {
    await start("claude-code");
    await runAgent("claude-code", sandbox, mock, ["-p", "say something"]);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
    await runAgent("claude-code", sandbox, mock, ["-p", "--resume", sessionId(), "say more"]);
    await expect.poll(conversations, SOON).toEqual([[2, 0]]);
    await runAgent("claude-code", sandbox, mock, ["-p", "--resume", sessionId(), "/compact"]);
    await expect.poll(conversations, SOON).toEqual([[2, 1]]);
  });

  it("goes on where the hook finds no jpg any more", async () => {
    await start("claude-code", "--project");
    const settings = join(sandbox.project, ".claude", "settings.local.json");
    expect(readFileSync(settings, "utf8")).toContain("keep.sh");
    await sandbox.jpg(["hooks", "install", "claude-code"]);
    await sandbox.jpg(["hooks", "uninstall", "claude-code"]);
    const { env } = sandbox;
    await runAgent("claude-code", { ...sandbox, env: { ...env, XDG_STATE_HOME: join(sandbox.root, "none") } }, mock, [
      "-p",
      "say something",
    ]);
    expect(existsSync(sandbox.store)).toBe(false);
  });

  it("has jpg's tools once they are installed", async () => {
    await start("claude-code", "--mcp");
    await runAgent("claude-code", sandbox, mock, ["-p", "say something", "--model", "claude-sonnet-4-5"]);
    expect(toolNames()).toEqual(expect.arrayContaining(["mcp__jpg__compact", "mcp__jpg__search"]));
  });
});

describe.skipIf(!hasAgent("claude-code"))("Claude Code with jpg inside (real agent: needs JPG_AGENTS_DIR)", () => {
  const ask = () => runAgent("claude-code", sandbox, mock, ["-p", "say something", "--model", "claude-sonnet-4-5"]);
  const TOOLS = expect.arrayContaining(["mcp__jpg__search", "mcp__jpg__show"]);

  it("has jpg's tools from the plug-in in the user's folder", async () => {
    await start("claude-code", "--live");
    await ask();
    expect(toolNames()).toEqual(TOOLS);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
  });

  it("finds jpg as a plug-in of this repository's marketplace", async () => {
    mock = await startModel();
    prepareAgent("claude-code", sandbox, mock);
    const root = fileURLToPath(new URL("../../", import.meta.url));
    await runAgent("claude-code", sandbox, mock, ["plugin", "marketplace", "add", root]);
    await runAgent("claude-code", sandbox, mock, ["plugin", "install", "jpg@jpg"]);
    await ask();
    expect(toolNames()).toEqual(TOOLS);
  });
});

const claude = agentsFolder === undefined ? null : findAgent("claude-code", agentsFolder);

describe.skipIf(claude === null || tmuxMissing !== null)(
  "Claude Code with jpg inside, on a terminal (real agent: needs JPG_AGENTS_DIR) (tmux)",
  () => {
    it("brings the plug-in up to date as it starts, and what both wrote goes with it", { tags: ["slow"] }, async () => {
      mock = await startModel();
      const place = await createLivePlace({ program: claude?.program ?? "", jpg: null });
      try {
        await place.jpg("hooks", "install", "claude-code", "--live");
        const folder = join(place.home, ".claude", "skills", "jpg");
        await asksJpg(place, join(folder, "hooks", "register.js"), async () => {
          const session = await place.open();
          await session.prompt("say something");
          await session.shows("jpg: reloaded");
          await session.quit();
        });
        await place.jpg("hooks", "uninstall", "claude-code");
        expect(existsSync(join(place.home, ".claude", "skills"))).toBe(false);
        expect(readFileSync(join(place.home, ".claude", "settings.json"), "utf8")).toBe("{}");
      } finally {
        await place.close();
      }
    });
  },
);

describe.skipIf(!hasAgent("codex"))("Codex with jpg's hooks (real agent: needs JPG_AGENTS_DIR)", () => {
  const prompt = (...more: string[]): string[] => ["exec", "--skip-git-repo-check", ...more, "say something"];

  it("has its session imported when it ends, once its user has reviewed the hooks", async () => {
    await start("codex");
    await runAgent("codex", sandbox, mock, prompt());
    expect(existsSync(join(sandbox.home, ".local", "state", "jpg", "spool"))).toBe(true);
    expect(await conversations()).toBe(null);
    const said = await runAgent("codex", sandbox, mock, prompt("--dangerously-bypass-hook-trust"));
    expect(said).not.toMatch(/clamping|hook.*fail/i);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
  });

  it("has jpg's tools once they are installed", async () => {
    await start("codex", "--mcp");
    await runAgent("codex", sandbox, mock, prompt());
    expect(JSON.stringify(mock.records)).toMatch(/"name":"[^"]*jpg[^"]*"/);
  });
});

describe.skipIf(!hasAgent("codex"))("Codex with jpg inside (real agent: needs JPG_AGENTS_DIR)", () => {
  const LIMITS = ["-c", "model_context_window=200000", "-c", "model_auto_compact_token_limit=50"];
  const BYPASS = "--dangerously-bypass-hook-trust";
  const exec = (...more: string[]) =>
    runAgent("codex", sandbox, mock, ["exec", "--skip-git-repo-check", BYPASS, ...LIMITS, ...more]);

  it("tells the model what a compaction took away, and how to find it", async () => {
    await start("codex", "--live");
    // Codex keeps 20,000 tokens of what the user said.
    await exec(`say something about ${"kelp and ".repeat(13_000)}`);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
    const said = await exec("resume", "--last", "say more");
    expect(said).not.toMatch(/clamping|hook.*fail/i);
    await expect.poll(conversations, SOON).toEqual([[2, 1]]);
    const [{ id = "" } = {}] = await sandbox.json<{ id?: string }[]>(["ls"]);
    const sent = JSON.stringify(mock.records.at(-1)?.body);
    const [note = ""] = /Codex has compacted this conversation.*?prints the original/.exec(sent) ?? [];
    expect(note).toMatch(/^Codex has compacted this conversation: about [\d.k]+ tokens became [\d.k]+\. jpg kept all/);
    expect(note).toContain(`search --rank \\"WORDS\\" ${id}`);
  });
});

describe.skipIf(!hasAgent("pi"))("pi with jpg's hooks (real agent: needs JPG_AGENTS_DIR)", () => {
  it("has its session imported when it ends", async () => {
    await start("pi");
    await runAgent("pi", sandbox, mock, ["-p", "--provider", "mock", "--model", "mock-model", "-nc", "say something"]);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
  });
});

describe.skipIf(!hasAgent("pi"))("pi with jpg inside (real agent: needs JPG_AGENTS_DIR)", () => {
  it("loads the extension, which keeps its session and asks jpg", async () => {
    await start("pi", "--live");
    await asksJpg(sandbox, join(sandbox.home, ".pi/agent/extensions/jpg.ts"), () =>
      runAgent("pi", sandbox, mock, ["-p", "--provider", "mock", "--model", "mock-model", "-nc", "say something"]),
    );
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
  });
});

describe.skipIf(!hasAgent("opencode"))("OpenCode with jpg's hooks (real agent: needs JPG_AGENTS_DIR)", () => {
  it("has its session imported after each answer", async () => {
    await start("opencode");
    await runAgent("opencode", sandbox, mock, ["run", "say something"]);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
    await runAgent("opencode", sandbox, mock, ["run", "--continue", "say more"]);
    await expect.poll(conversations, SOON).toEqual([[2, 0]]);
  });

  it("has jpg's tools once they are installed", async () => {
    await start("opencode", "--mcp");
    await runAgent("opencode", sandbox, mock, ["run", "say something"]);
    expect(JSON.stringify(mock.records)).toContain('"name":"jpg_search"');
  });
});

describe.skipIf(!hasAgent("opencode"))("OpenCode with jpg inside (real agent: needs JPG_AGENTS_DIR)", () => {
  it("loads the plug-in, which keeps its session", async () => {
    await start("opencode", "--live");
    await runAgent("opencode", sandbox, mock, ["run", "say something"]);
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
  });
});

describe.skipIf(!hasAgent("gemini-cli"))("Gemini CLI with jpg's hooks (real agent: needs JPG_AGENTS_DIR)", () => {
  const ask = (...args: string[]) => runAgent("gemini-cli", sandbox, mock, ["-m", "gemini-2.5-flash", ...args]);

  it("has its session imported when it ends", async () => {
    await start("gemini-cli");
    await ask("-p", "say something");
    await expect.poll(conversations, SOON).toEqual([[1, 0]]);
    await ask("--resume", "latest", "-p", "say more");
    await expect.poll(conversations, SOON).toEqual([[2, 0]]);
  });

  it("has jpg's tools once they are installed", async () => {
    await start("gemini-cli", "--mcp");
    // Without a person, Gemini CLI offers the model no tool that it would ask about.
    await ask("--yolo", "-p", "say something");
    expect(JSON.stringify(mock.records)).toContain('"name":"mcp_jpg_search"');
  });
});

function toolNames(): readonly string[] {
  return mock.records.flatMap(({ body }) => {
    const { tools = [] } = (body ?? {}) as { tools?: readonly { readonly name: string }[] };
    return tools.map(({ name }) => name);
  });
}
