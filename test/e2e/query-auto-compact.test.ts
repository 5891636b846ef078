// jpg query that compacts by itself: after a turn, and between the calls of one, against a model server on loopback whose
// model has a small window.
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatAnswer, type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import type { Json } from "../helpers/claude-session.ts";
import { startJpg, writeUserConfig } from "../helpers/live-jpg.ts";
import { createLongSession } from "../helpers/long-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { answer } from "../helpers/summaries.ts";

const MCP_SERVER = fileURLToPath(new URL("../fixtures/mcp/server.mjs", import.meta.url));
const ON = "[conversation.compaction.auto]\nenabled = true\nmin_turns = 2\n";
const FILES = `[mcp.servers.files]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([MCP_SERVER])}\nconfirm = false\n`;
const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

/** A sandbox with a conversation, and settings that name a server whose model takes `windowTokens`. */
async function prepare(
  answer: ChatAnswer,
  { windowTokens, settings }: { readonly windowTokens: number; readonly settings: string },
): Promise<{ sandbox: Sandbox; server: ChatServer }> {
  const server = await startChatServer(answer, windowTokens);
  cleanUp.push(() => server.close());
  const sandbox = createSandbox();
  cleanUp.push(sandbox.remove);
  const session = sandbox.session("session.jsonl", createLongSession().turns(6).bytes());
  expect((await sandbox.jpg(["import", session])).code).toBe(0);
  writeUserConfig(sandbox, `${server.config}\n${settings}`);
  return { sandbox, server };
}

const sayDone: ChatAnswer = (stream) => {
  stream.text("Done.");
  stream.finish();
};

/** Calls a tool once, then answers. */
const callFirst: ChatAnswer = (stream, body, request) => {
  if (body.messages.at(-1)?.role === "tool") return sayDone(stream, body, request);
  stream.call("tide", '{"pier":"A"}');
  stream.finish("tool_calls");
};

const logOf = (sandbox: Sandbox): Promise<readonly Json[]> => sandbox.json<readonly Json[]>(["log"]);

describe("a query with automatic compaction", () => {
  it("compacts after its turn when the view has come near the window, says so and reports it", async () => {
    const { sandbox, server } = await prepare(sayDone, { windowTokens: 10_000, settings: ON });
    const { code, stderr } = await sandbox.jpg(["query", "Go on"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^— context compacted \(\S+ → \S+ tokens\) —$/m);
    expect(stderr).toMatch(/^turns 0\.\.3 by profile default: .*`jpg revert \w+` undoes it$/m);
    expect(sandbox.git(["log", "-2", "--format=%s"])).toMatch(/^compact 0\.\.3: .*\nturn 6: Go on$/);
    expect(await logOf(sandbox)).toMatchObject([{ source: "auto", live: true }]);
    expect(JSON.stringify(server.requests[0]?.messages)).not.toContain("[compacted]");
    await sandbox.jpg(["query", "And on"]);
    expect(JSON.stringify(server.requests[1]?.messages)).toContain("[compacted]");
  });

  it("asks for a summary behind the thread that its own requests sent, tools and system prompt with it", async () => {
    const summarize: ChatAnswer = (stream, body, request) => {
      if (request === 0) return sayDone(stream, body, request);
      stream.text(answer("The wall stands."));
      stream.finish();
    };
    const settings = `${ON}profile = "heavy"\ntrigger_ratio = 0.2\n[conversation.compaction]\nmodel = "test/model-1"\n`;
    const { sandbox, server } = await prepare(summarize, { windowTokens: 30_000, settings });
    const config = server.config.replace("[conversation]\n", '[conversation]\nsystem_prompt = "Speak of walls."\n');
    writeUserConfig(sandbox, `${config}\n${settings}`);
    const { code, stderr } = await sandbox.jpg(["query", "Go on"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("by profile heavy")]);
    const [asked, summed] = server.requests;
    expect(server.requests).toHaveLength(2);
    expect(asked?.messages[0]).toEqual({ role: "system", content: "Speak of walls." });
    expect(asked?.messages.some(({ role }) => role === "tool")).toBe(true);
    const before = summed?.messages.slice(0, -1) ?? [];
    expect(before.length).toBeGreaterThan(4);
    expect(before).toEqual(asked?.messages.slice(0, before.length));
    expect(JSON.stringify(summed?.messages.at(-1))).toContain("stands in for the conversation above");
    expect([asked?.tools?.length, summed?.tools]).toEqual([3, asked?.tools]);
    expect(sandbox.git(["log", "-1", "--format=%s"])).toMatch(/^compact 0\.\.\d: summary/);
  });

  it("does not while that is turned off, or the view is small", async () => {
    for (const [windowTokens, settings] of [
      [10_000, ""],
      [1_000_000, ON],
    ] as const) {
      const { sandbox } = await prepare(sayDone, { windowTokens, settings });
      const { compactions } = await sandbox.json<{ compactions: unknown }>(["query", "Go on"]);
      expect(compactions).toEqual([]);
      expect(await logOf(sandbox)).toEqual([]);
    }
  });

  it("counts the system prompt and the tools that it sends itself, not those of the agent that the session is from", async () => {
    // The view has 11,000 tokens; what Claude Code puts in front of it would fill the window alone.
    const { sandbox, server } = await prepare(sayDone, { windowTokens: 20_000, settings: ON });
    const { compactions, tokens } = await sandbox.json<{ compactions: unknown; tokens: { view: number } }>([
      "query",
      "Go on",
    ]);
    expect(compactions).toEqual([]);
    expect(tokens.view).toBeLessThan(13_000);
    const prompt = JSON.stringify("Speak of walls. ".repeat(2000));
    writeUserConfig(
      sandbox,
      `${server.config}\n${ON}`.replace("[conversation]\n", `[conversation]\nsystem_prompt = ${prompt}\n`),
    );
    expect((await sandbox.json<{ compactions: unknown[] }>(["query", "And on"])).compactions).toHaveLength(1);
  });

  it("compacts complete turns between the calls of a turn, and what is sent next is smaller", async () => {
    const { sandbox, server } = await prepare(callFirst, { windowTokens: 10_000, settings: `${ON}${FILES}` });
    expect(await sandbox.jpg(["query", "Call it"])).toMatchObject({ code: 0, stdout: "Done.\n" });
    const [first = "", second = ""] = server.requests.map(({ messages }) => JSON.stringify(messages));
    expect(second).toContain("The tide at A stands at 2 m");
    expect(first).not.toContain("[compacted]");
    expect(second).toContain("[compacted]");
    const [row] = (await logOf(sandbox)).slice(-1);
    expect(row).toMatchObject({ source: "auto", to_turn: 2 });
  });

  it("keeps a turn once and whole that was killed after it had been committed as far as it had come", {
    tags: ["slow"],
  }, async () => {
    let answered = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const callThrice: ChatAnswer = async (stream, _, request) => {
      if (request === 3) {
        stream.text("Almost d");
        answered();
        return stream.closed;
      }
      stream.call("large", '{"bytes":40000}');
      stream.finish("tool_calls");
    };
    const { sandbox } = await prepare(callThrice, { windowTokens: 15_000, settings: `${ON}${FILES}` });
    const jpg = startJpg(sandbox, ["query", "Call it"]);
    await isAnswered;
    await jpg.untilShown("Almost d");
    jpg.child.kill("SIGKILL");
    await jpg.ended;
    const subjects = (): readonly string[] => sandbox.git(["log", "--format=%s"]).split("\n");
    expect(subjects().filter((subject) => subject.startsWith("turn 6"))).not.toHaveLength(0);
    expect((await sandbox.jpg(["ls"])).stderr).toMatch(/^Turn 6 of \S+ was interrupted; it is committed now\.$/m);
    expect(subjects().filter((subject) => subject.startsWith("turn 6: Call it"))).toHaveLength(1);
    expect(subjects()[0]).toMatch(/^turn 6 \(continued\)/);
    const events = sandbox
      .git(["show", "HEAD:turns/0000/000006.jsonl"])
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json);
    expect(events.map(({ type }) => type)).toEqual([
      "turn_start",
      "chat_request",
      ...Array.from({ length: 3 }, () => ["tool_call_request", "tool_call_response"]).flat(),
      "chat_response",
      "note",
    ]);
    expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 0 });
  });

  it("warns from 70 % of the window on where it is turned off, and says what to type", async () => {
    const { sandbox } = await prepare(
      (stream) => {
        stream.text("Done.");
        stream.finish();
      },
      { windowTokens: 1400, settings: "" },
    );
    const { stderr } = await sandbox.jpg(["query", "Go on"]);
    expect(stderr).toMatch(
      /the context has 1\.0k tokens, 73 % of the window of test\/model-1; `jpg compact` makes it smaller/,
    );
    const wide = await prepare(sayDone, { windowTokens: 1500, settings: "" });
    expect((await wide.sandbox.jpg(["query", "Go on"])).stderr).not.toContain("of the window");
  });

  it("offers the model the tools by which it asks for a compaction itself, and finds what one hides", async () => {
    const { sandbox, server } = await prepare(sayDone, { windowTokens: 10_000, settings: "" });
    await sandbox.jpg(["query", "Go on"]);
    const tools = server.requests[0]?.tools as { function: { name: string } }[];
    expect(tools.map((tool) => tool.function.name)).toEqual(["compact", "search", "show"]);
  });
});
