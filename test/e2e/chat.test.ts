// The chat as a person has it: in a real terminal, over a real socket to a model on this machine.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatBody, type ChatServer, type ChatStream, startChatServer } from "../helpers/chat-server.ts";
import type { Json } from "../helpers/claude-session.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
const BOX = "Conversation History Compaction";

/** What was asked last. */
function askedIn({ messages }: ChatBody): string {
  const content = messages.at(-1)?.content;
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** Answers with a sentence; writes the sections of a summary; asked to count, goes on until the other side is gone. */
async function answer(stream: ChatStream, body: ChatBody): Promise<void> {
  const asked = askedIn(body);
  const sections = [...asked.matchAll(/^## ([A-Z ]+)/gm)].map(([, name]) => `## ${name}\n- the tide is measured\n`);
  if (asked.startsWith("count")) return count(stream);
  stream.text(sections.length > 0 ? sections.join("\n") : `The answer to "${asked}".`);
  stream.finish();
}

async function count(stream: ChatStream): Promise<void> {
  let isOpen = true;
  void stream.closed.then(() => {
    isOpen = false;
  });
  for (let number = 1; isOpen; number++) {
    stream.text(`${number} `);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer(answer, 20_000);
});
afterAll(() => server.close());

let sandbox: ImportedSandbox;
let pane: Pane | null = null;
afterEach(() => {
  pane?.close();
  pane = null;
  sandbox.remove();
});

interface ChatWindow {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Begins a chat in a conversation of so many turns, three messages each. */
async function chatIn(turns: number, settings = "", { columns = 100, env = {} }: ChatWindow = {}): Promise<Pane> {
  sandbox = await copyImportedSandbox(turns);
  mkdirSync(join(sandbox.home, ".config", "jpg"), { recursive: true });
  writeFileSync(join(sandbox.home, ".config", "jpg", "config.toml"), server.config + settings);
  pane = openPane([process.execPath, BIN, "chat"], {
    cwd: sandbox.project,
    env: { ...sandbox.env, ...env },
    columns,
  });
  await pane.shows(`[${3 * turns} messages]`);
  return pane;
}

async function say(chat: Pane, text: string, until: string | RegExp): Promise<string> {
  chat.type("-l", text);
  chat.type("Enter");
  return chat.shows(until);
}

const viewLines = async (): Promise<readonly string[]> =>
  (await sandbox.jpg(["print", "--compacted", "--format", "jsonl"])).stdout.trimEnd().split("\n");
const times = (text: string, part: string): number => text.split(part).length - 1;

describe.skipIf(tmuxMissing !== null)("jpg chat in a terminal (tmux)", { tags: ["slow"] }, () => {
  it("offers to compact after the user's message: not now, again, never again; /compact works all the same", async () => {
    const chat = await chatIn(16); // 48 messages
    await say(chat, "forty-nine", "[50 messages]");
    expect(chat.screen()).not.toContain(BOX);
    const offered = await say(chat, "fifty-one", "compact manually");
    expect(offered).toContain("Your conversation has 51 messages");
    expect(offered).toContain("[Y] Yes, compact now (keep last 15)");
    expect(server.requests.map(askedIn)).not.toContain("fifty-one");
    chat.type("n");
    expect(await chat.shows("[52 messages]")).toContain('The answer to "fifty-one".');
    for (const messages of [54, 56, 58, 60]) await say(chat, `up to ${messages}`, `[${messages} messages]`);
    expect(times(chat.screen(), BOX)).toBe(1);
    await say(chat, "sixty-one", "Your conversation has 61 messages");
    chat.type("v");
    await chat.shows("[62 messages]");
    for (let messages = 64; messages <= 74; messages += 2)
      await say(chat, `up to ${messages}`, `[${messages} messages]`);
    expect(times(chat.screen(), BOX)).toBe(2);
    await say(chat, "/compact", "[Summary + 16 messages]");
    // The summary is asked for behind what the model was sent before, which it may still have in its cache.
    const [sent, summed] = server.requests.slice(-2);
    const thread = summed?.messages.slice(0, -1) ?? [];
    expect(thread).toEqual(sent?.messages.slice(0, thread.length));
    expect([summed?.tools, thread.length > 30]).toEqual([sent?.tools, true]);
  });

  it("/compact puts a summary before recent messages, which stay as they were; undo brings the rest back", async () => {
    const chat = await chatIn(20);
    const before = await viewLines();
    const shown = await say(chat, "/compact", "[Summary + 15 messages]");
    expect(shown).toContain("This chat's model writes the summary: test/model-1. --model NAME names another one.");
    expect(shown).toMatch(
      /— context compacted \(\S+ → \S+ tokens\) —\nCompacted 45 messages into summary\n\/diff shows/,
    );
    expect(shown).toMatch(/\[60 messages\] \[ctx: \d+%\]/);
    const after = await viewLines();
    expect(after.join("\n")).toContain("[CONVERSATION HISTORY SUMMARY - 45 messages]");
    const recent = before.slice(before.findIndex((line) => line.includes("Request 15 about")));
    expect(after.slice(-recent.length)).toEqual(recent);
    const [row] = await sandbox.json<Json[]>(["log"]);
    expect(row).toMatchObject({ kind: "compaction", from_turn: 0, to_turn: 14, live: true, source: "manual" });
    await say(chat, "/compact", "Conversation too short to compact (< 30 messages)");
    await chat.shows("[N] No");
    chat.type("n");
    await chat.shows(/\[N\] No\n\n\[Summary \+ 15 messages\][^\n]*\n>$/);
    await say(chat, "/compact undo", "Reverted");
    await chat.shows(/\[60 messages\][^\n]*\n>$/);
    expect(await viewLines()).toEqual(before);
    await say(chat, "/compact abc", "got abc");
    expect(await viewLines()).toEqual(before);
  });

  it("keeps what came of an answer that Ctrl-C interrupts, and leaves the terminal as it was", async () => {
    const chat = await chatIn(3);
    await say(chat, "count for me", "1 2 3 4 5");
    chat.type("C-c");
    const shown = await chat.shows("[11 messages]");
    expect(shown).toContain("Interrupted: what had arrived is kept as turn 3");
    const told = /1 2 (?:\d+ )+/.exec(shown)?.[0] ?? "";
    await say(chat, "and then?", "[13 messages]");
    chat.type("half a line", "C-c");
    chat.type("C-d");
    const left = await chat.shows("left with 0");
    expect(left).toMatch(/[^-]icanon/);
    expect(left).toMatch(/[^-]echo /);
    const history = (await sandbox.jpg(["print", "--format", "jsonl"])).stdout;
    expect(history).toContain("count for me");
    expect(history).toContain(told.trim());
    expect(history).toContain('"kind":"interrupted"');
    expect((await sandbox.json(["show", "@"]))["turns"]).toBe(5);
  });

  it("says once what is wrong with an MCP server", async () => {
    const chat = await chatIn(1, '[mcp.servers.buoy]\ncommand = "/nonexistent/buoy"\n');
    await say(chat, "one", "[5 messages]");
    await say(chat, "two", "[7 messages]");
    expect(times(chat.screen(), "MCP server buoy")).toBe(1);
  });

  it.each([80, 40])("goes on after Alt+Enter, and after Esc with Enter or Ctrl-C, in %i columns", async (columns) => {
    const chat = await chatIn(1, "", { columns });
    chat.type("-l", "first");
    chat.type("M-Enter");
    chat.type("-l", "second");
    chat.type("Escape", "Enter"); // at once, which is Alt+Enter for a terminal
    await say(chat, "third", "[5 messages]");
    expect(server.requests.map(askedIn)).toContain("first\nsecond\nthird");
    chat.type("-l", "thrown away");
    chat.type("Escape", "C-c");
    await chat.shows("thrown away^C");
    chat.type("-l", "fourth");
    chat.type("Escape");
    // Nothing shows that the key counts as one of its own; what follows it sooner is held with it.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await say(chat, "", "[7 messages]");
    expect(server.requests.map(askedIn).at(-1)).toBe("fourth");
  });

  it("ends an answer with Esc, and what is typed right after it stands at the next prompt", async () => {
    const chat = await chatIn(1);
    await say(chat, "count up", "1 2 3 4 5");
    chat.type("Escape");
    chat.type("-l", "hello there");
    await chat.shows(/Interrupted: what had arrived is kept[^>]*> hello there/s);
    await say(chat, "", "[7 messages]");
    expect(server.requests.map(askedIn).at(-1)).toBe("hello there");
  });

  it("draws the line again when the terminal has another width while it is typed", async () => {
    const chat = await chatIn(1, "", { columns: 80 });
    chat.type("-l", "a line that is longer than forty columns, and stays one");
    await chat.shows("stays one");
    const sent = chat.sent().length;
    chat.resize(40);
    await expect.poll(() => chat.sent().length).toBeGreaterThan(sent);
    await say(chat, "!", "[5 messages]");
    const line = "a line that is longer than forty columns, and stays one!";
    expect(server.requests.map(askedIn).at(-1)).toBe(line);
    expect(times(chat.screen().replaceAll("\n", ""), "a line that is longer")).toBe(2); // and in the answer
  });

  it("attaches a file that is typed, and nothing else with an @", async () => {
    const chat = await chatIn(1);
    writeFileSync(join(sandbox.project, "tide.txt"), "high at noon");
    chat.paste("see @tide.txt");
    await say(chat, " and @ada", "[5 messages]");
    expect(server.requests.map(askedIn).at(-1)).toBe("see @tide.txt and @ada");
    await say(chat, "see @tide.txt", "[7 messages]");
    expect(server.requests.map(askedIn).at(-1)).toContain("high at noon");
  });

  it("takes a paste of several lines as one message", async () => {
    const chat = await chatIn(1);
    chat.paste("first line\nsecond line\n@Override\n");
    await chat.shows("[pasted #1: 4 lines]");
    await say(chat, " what is this?", "[5 messages]");
    expect(server.requests.map(askedIn)).toContain("first line\nsecond line\n@Override\n what is this?");
  });
});

describe("jpg chat without a terminal", () => {
  beforeEach(async () => {
    sandbox = await copyImportedSandbox(1);
  });

  it("says what to type instead", async () => {
    const result = await sandbox.jpg(["chat"], { input: "hello\n" });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/error: .*needs a terminal.*\nhint: .*jpg query/);
  });

  it.each([[["--new", "@"]], [["--new", "--fork"]], [["--json"]]])("refuses %j", async (words) => {
    expect((await sandbox.jpg(["chat", ...words], { process: false })).code).toBe(2);
  });
});
