// jpg compact with a model server on loopback: tangents that it names, and summaries in parts.
import { afterEach, describe, expect, it } from "vitest";
import { type ChatAnswer, type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { SHORT_COMMIT } from "../helpers/name-beginning.ts";
import { createSandbox, type Sandbox, storeState } from "../helpers/run-jpg.ts";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

const words = (count: number, seed: string): string => Array.from({ length: count }, (_, n) => `${seed}${n}`).join(" ");

async function prepare(answer: ChatAnswer): Promise<{ sandbox: Sandbox; server: ChatServer }> {
  const server = await startChatServer(answer);
  cleanUp.push(() => server.close());
  const sandbox = createSandbox();
  cleanUp.push(sandbox.remove);
  const writer = createClaudeWriter();
  for (let turn = 0; turn < 9; turn += 1) {
    writer.prompt(`request ${turn}`);
    writer.say(`answer ${turn} ${words(300, `w${turn}x`)}`);
  }
  await sandbox.jpg(["import", sandbox.session("s.jsonl", sessionBytes(writer.lines))]);
  writeUserConfig(sandbox, server.config);
  return { sandbox, server };
}

const name =
  (...turns: readonly number[]): ChatAnswer =>
  (stream) => {
    stream.text(JSON.stringify({ tangents: turns.map((turn) => ({ turn, reason: `a joke in turn ${turn}` })) }));
    stream.finish();
  };

const view = async (sandbox: Sandbox): Promise<string> => (await sandbox.jpg(["print", "--compacted"])).stdout;

describe("jpg compact -s classify-tangents", () => {
  const tangents = ["compact", "-s", "classify-tangents"];

  it("lists what the model names in a dry run, and commits nothing", async () => {
    const { sandbox, server } = await prepare(name(1, 3));
    const state = storeState(sandbox);
    const { stdout, code } = await sandbox.jpg([...tangents, "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toContain("test/model-1 calls 2 turns a tangent:\n");
    expect(stdout).toContain('  turn 1 "request 1": a joke in turn 1\n');
    expect(stdout).toMatch(/Would compact .* 1\.\.3: /);
    expect(storeState(sandbox)).toBe(state);
    expect(server.requests).toHaveLength(1);
  });

  it("leaves all of them out with --yes, in one compaction that undo takes back", async () => {
    const { sandbox } = await prepare(name(3, 1));
    const before = await view(sandbox);
    const report = await sandbox.json<Record<string, unknown>>([...tangents, "--yes"]);
    expect(report).toMatchObject({
      from_turn: 1,
      to_turn: 3,
      model: "test/model-1",
      commit: expect.any(String) as string,
    });
    expect(report["tangents"]).toMatchObject([{ turn: 1 }, { turn: 3 }]);
    const after = await view(sandbox);
    for (const turn of [1, 3]) expect(after).not.toContain(`answer ${turn} `);
    for (const turn of [0, 2, 4]) expect(after).toContain(`answer ${turn} `);
    expect((await sandbox.jpg(["undo"])).code).toBe(0);
    expect(await view(sandbox)).toBe(before);
  });

  it("asks no model where nobody could confirm, and names the flags (exit 2)", async () => {
    const { sandbox, server } = await prepare(name(1));
    const { stderr, code } = await sandbox.jpg(tangents);
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect(server.requests).toHaveLength(0);
  });

  it("says so when the model finds none", async () => {
    const { sandbox } = await prepare(name());
    const { stdout } = await sandbox.jpg([...tangents, "--yes"]);
    expect(stdout).toBe("Nothing to compact. test/model-1 found no tangent.\n");
    expect(await sandbox.json([...tangents, "--yes"])).toMatchObject({ compaction: null, commit: null, tangents: [] });
  });

  it("goes first beside other strategies, which follow also where it finds none", async () => {
    const none = await prepare(name());
    const nothing = await none.sandbox.jpg([...tangents, "-s", "strip-reasoning", "--yes"]);
    expect(nothing.stderr).toContain("No turn is left out: test/model-1 found no tangent.");
    expect(nothing.stdout).toMatch(
      /^Nothing to compact\. Turns \S+ hold nothing that strip-reasoning would change\.\n/,
    );
    const one = await prepare(name(1));
    const report = await one.sandbox.json<Record<string, unknown>>([...tangents, "-s", "strip-reasoning", "--yes"]);
    const [omitted, stripped] = report["compactions"] as Record<string, unknown>[];
    expect(omitted).toMatchObject({ from_turn: 1, to_turn: 1, event: { turns: "omit" } });
    expect(stripped).toMatchObject({ compaction: null, reason: expect.stringContaining("strip-reasoning") as string });
    // What was made is what the document is of.
    expect(report).toMatchObject({
      compaction: omitted?.["compaction"],
      commit: omitted?.["commit"],
      from_turn: 1,
      to_turn: 1,
    });
  });

  it("leaves out turns that the user names, apart from each other, without any model", async () => {
    const { sandbox, server } = await prepare(name());
    expect((await sandbox.jpg([...tangents, "--turns", "0,2-3"])).stdout).toMatch(/^Compacted .* 0\.\.3: /);
    expect(server.requests).toHaveLength(0);
    expect((await sandbox.jpg(["compact", "--turns", "1"])).code).toBe(2);
    expect((await sandbox.jpg(["compact", "--yes"])).code).toBe(2);
  });
});

describe("jpg compact --chunks", () => {
  it("writes an extract of each part where no model can be asked", async () => {
    const { sandbox } = await prepare(name());
    const { stdout, code } = await sandbox.jpg(["compact", "--chunks", "2", "-m", "extractive"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `^Compacted .* in 2 parts {2}[\\d.]+k → [\\d.]+k -[\\d.]+%\\n {2}turns 0\\.\\.2 {2}commit ${SHORT_COMMIT} {2,}compaction`,
      ),
    );
    expect(sandbox.git(["log", "-2", "--format=%s", "HEAD"])).toMatch(
      /^compact 3\.\.5: summary .*\ncompact 0\.\.2: summary/,
    );
    expect(await view(sandbox)).toContain("not a summary written by a model");
    const again = await sandbox.json<Record<string, unknown>>(["compact", "--chunks", "auto", "-m", "extractive"]);
    expect(again).toMatchObject({ compaction: null, compactions: [], reason: expect.any(String) as string });
  });

  it("names the parts and the model in a dry run, without asking it", async () => {
    const { sandbox, server } = await prepare(name());
    const { stdout } = await sandbox.jpg(["compact", "--chunks", "2", "--dry-run", "-m", "test/model-1"]);
    expect(stdout).toContain("will generate a summary for turns 0-2 using model test/model-1");
    expect(stdout).toContain("will generate a summary for turns 3-5 using model test/model-1");
    expect(server.requests).toHaveLength(0);
  });

  it("keeps what is committed when the model fails at a later part, and says how to go on", async () => {
    const summary = ["TASK STATE", "FILES", "TOOL HISTORY", "ERRORS", "DECISIONS", "USER GUIDANCE", "NEXT STEPS"]
      .map((section) => `## ${section}\nnone`)
      .join("\n");
    const { sandbox } = await prepare((stream, _, request) => {
      if (request > 0) return stream.fail(400, "no such thing");
      stream.text(summary);
      stream.finish();
    });
    const { stderr, code } = await sandbox.jpg(["compact", "--chunks", "2", "-m", "test/model-1"]);
    expect(code).toBe(4);
    expect(stderr).toContain("Turns 3..5 were not summarised");
    expect(stderr).toContain("are committed and stay: turns 0..2.");
    expect(stderr).toMatch(/To continue: jpg compact \S+ --chunks auto --model test\/model-1 --from 3 --to 5/);
    expect(sandbox.git(["log", "-1", "--format=%s", "HEAD"])).toMatch(/^compact 0\.\.2: summary/);
  });

  it.each(["0", "many", "-1", "2000"])("refuses --chunks %s", async (count) => {
    const { sandbox } = await prepare(name());
    expect(await sandbox.jpg(["compact", "--chunks", count])).toMatchObject({ code: 2 });
  });
});

const SECTIONS = ["TASK STATE", "FILES", "TOOL HISTORY", "ERRORS", "DECISIONS", "USER GUIDANCE", "NEXT STEPS"];
const summary = SECTIONS.map((section) => `## ${section}\nnone`).join("\n\n");

const say =
  (text: string): ChatAnswer =>
  (stream) => {
    stream.text(text);
    stream.finish();
  };

describe("jpg compact -p with a model", () => {
  it("stores the sections of an answer without what the model thought before them, and its lists", async () => {
    const block = '```json\n{"files":["src/parser.ts"],"open_tasks":["write the docs"]}\n```';
    const { sandbox, server } = await prepare(say(`<analysis>\n## FILES\nhm\n</analysis>\n\n${summary}\n\n${block}`));
    expect(await sandbox.jpg(["compact", "-p", "heavy", "-m", "test/model-1"])).toMatchObject({ code: 0 });
    expect(JSON.stringify(server.requests[0])).toContain("<analysis>");
    const shown = await view(sandbox);
    for (const section of SECTIONS) expect(shown).toContain(`## ${section}`);
    expect(shown).not.toMatch(/\bhm\b/);
    expect(sandbox.git(["log", "-1", "--format=%b", "HEAD"])).toMatch(/src\/parser\.ts[\s\S]*write the docs/);
  });

  it("asks for what a profile's instructions say, and takes an answer that follows them, at once", async () => {
    const { sandbox, server } = await prepare(say("The parser reads,\nthe lexer heeds."));
    writeUserConfig(
      sandbox,
      `${server.config}[conversation.compaction.profiles.verse.summary]\ninstructions = "Write one verse."\n`,
    );
    expect(await sandbox.jpg(["compact", "-p", "verse", "-m", "test/model-1"])).toMatchObject({ code: 0 });
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(server.requests[0])).toContain("Write one verse.");
    expect(JSON.stringify(server.requests[0])).not.toContain("## TASK STATE");
    expect(await view(sandbox)).toContain("the lexer heeds.");
  });

  it("makes one System message of a summary where the settings say so, and tells which formats have none", async () => {
    const { sandbox } = await prepare(say(summary));
    await sandbox.jpg(["compact", "-p", "heavy", "-m", "test/model-1", "-c", "inject=system"]);
    const opening = /CONVERSATION HISTORY SUMMARY - \d+ messages/;
    const first = async (to: string): Promise<readonly [string, string]> => {
      const { stdout, stderr } = await sandbox.jpg(["export", "--to", to, "--messages"]);
      const list = Object.values(JSON.parse(stdout) as object).find((value) => Array.isArray(value)) as object[];
      expect(JSON.stringify(list[0])).toMatch(opening);
      return [String((list[0] as { role: string }).role), stderr];
    };
    expect(await first("openai-chat")).toEqual(["system", ""]);
    expect(await first("openai-responses")).toEqual(["system", ""]);
    const said = /has no System messages inside a conversation: the summary is written as a reminder/;
    for (const to of ["anthropic", "google"]) expect(await first(to)).toEqual(["user", expect.stringMatching(said)]);
    const agent = await sandbox.jpg(["export", "--to", "claude-code"]);
    expect(agent.stdout).toMatch(/<system-reminder>\\n\[CONVERSATION HISTORY SUMMARY/);
    expect(agent.stderr).toMatch(said);
    expect((await sandbox.jpg(["check"])).code).toBe(0);
    for (const provider of ["anthropic", "openai-chat", "openai-responses", "google"])
      expect((await sandbox.jpg(["check", "--provider", provider])).code).toBe(0);
  });
});
