import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { isPiSession, piSessionId, readPiSession } from "../../../src/formats/pi/read.ts";
import { createPiWriter, PI_SESSION, piCall, readPi, sentOf, turnsOf } from "../../helpers/pi-session.ts";

const kinds = (events: readonly { readonly type: string }[]): readonly string[] => events.map(({ type }) => type);

describe("a pi session", () => {
  it("is cut into turns at what the user typed; ids come from the entries", () => {
    const pi = createPiWriter();
    const first = pi.user("map the beds");
    const answer = pi.say("on it", piCall("c1"), piCall("c2"));
    const result = pi.result("c1", "kelp");
    pi.result("c2", "sand");
    pi.say("done");
    pi.user("and the reef");
    pi.say("mapped");
    const session = readPi(pi);
    expect(session).toMatchObject({ format: "pi", sessionId: PI_SESSION, title: "map the beds", cwd: "/home/me/kelp" });
    expect([session.turnCount, session.turnLine(0), session.turnLine(1)]).toEqual([2, 0, 6]);
    const [start, ...events] = session.readTurn(0);
    expect(start).toEqual({ type: "turn_start", id: `${first}.turn`, timestamp: "2026-01-02T10:00:01.000Z" });
    expect(kinds(events)).toEqual([
      "chat_request",
      "chat_response",
      "tool_call_request",
      "tool_call_request",
      "tool_call_response",
      "tool_call_response",
      "chat_response",
    ]);
    expect(events.map(({ id }) => id).slice(0, 5)).toEqual([first, answer, `${answer}.1`, `${answer}.2`, result]);
    expect(session.hasLine(answer)).toBe(true);
    expect(session.hasLine("ffffffff")).toBe(false);
  });

  it("keeps who answered, what it cost, and what reasoning is signed with", () => {
    const pi = createPiWriter();
    pi.user("think");
    const id = pi.say(
      { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" },
      { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "ZW5j", redacted: true },
      { type: "text", text: "so", textSignature: "msg_1" },
      { ...piCall("c1"), thoughtSignature: "dGg=" },
    );
    const made = { provider: "anthropic", model: "claude-sonnet-4-5", api: "anthropic-messages", message_id: id };
    const usage = { input: 3, output: 5, cacheRead: 7, cacheWrite: 11, totalTokens: 26, cost: { total: 0.25 } };
    expect(readPi(pi).readTurn(0).slice(2)).toMatchObject([
      { reasoning: "hm", metadata: { ...made, usage, signature: "c2ln" } },
      { reasoning: "", metadata: { ...made, encrypted: "ZW5j" } },
      { message: "so", metadata: { ...made, signature: "msg_1" } },
      { name: "bash", call_id: "c1", metadata: { ...made, signature: "dGg=" } },
    ]);
  });

  it("finds OpenAI's encrypted reasoning in the item that signs it", () => {
    const pi = createPiWriter();
    pi.user("think");
    const item = JSON.stringify({ type: "reasoning", id: "rs_1", encrypted_content: "gAAA", summary: [] });
    pi.say({ type: "thinking", thinking: "", thinkingSignature: item }, "so");
    expect(readPi(pi).readTurn(0)[2]).toMatchObject({ metadata: { signature: item, encrypted: "gAAA" } });
  });

  it("brings images in, and what it does not know as it is", () => {
    const pi = createPiWriter();
    pi.user("", {
      content: [
        { type: "text", text: "look" },
        { type: "image", data: "iVBO", mimeType: "image/png" },
        { type: "tide", level: 3 },
      ],
    });
    expect(readPi(pi).readTurn(0)[1]).toMatchObject({
      content: [
        { type: "text", text: "look" },
        { type: "image", media_type: "image/png", data: "iVBO" },
        { type: "opaque", provider: "pi", value: { type: "tide", level: 3 } },
      ],
    });
  });

  it("says of a result that is only an image what pi says", () => {
    const pi = createPiWriter();
    pi.user("look");
    pi.say(piCall("c1"));
    pi.result("c1", "", { content: [{ type: "image", data: "iVBO", mimeType: "image/png" }] });
    const [, , , result] = readPi(pi).readTurn(0);
    expect(result).toMatchObject({ content: [{ type: "text", text: "(see attached image)" }, { type: "image" }] });
  });

  it("leaves out, as a note, an answer that was broken off and its calls: pi never sends it again", () => {
    const pi = createPiWriter();
    pi.user("go");
    pi.fail("aborted", "I was about to", piCall("c1"));
    pi.user("go on");
    pi.fail("error");
    pi.say("there");
    const session = readPi(pi);
    expect(session.readTurn(0).at(-1)).toMatchObject({
      type: "note",
      kind: "aborted_answer",
      data: { text: "I was about to", calls: ["bash"], stopReason: "aborted" },
    });
    expect(session.readTurn(1)[2]).toMatchObject({ type: "note", kind: "failed_answer" });
    expect(sentOf(session)).toEqual(["user: go", "user: go on", "assistant: there"]);
  });

  it("sends every call without a result with pi's own text, wherever it is", () => {
    const pi = createPiWriter();
    pi.user("go");
    pi.say("looking", piCall("c1"), piCall("c2"), piCall("c3"));
    pi.result("c2", "sand");
    pi.user("stop");
    pi.say(piCall("c4"));
    expect(sentOf(readPi(pi))).toEqual([
      "user: go",
      "assistant: looking",
      "assistant: call c1",
      "assistant: call c2",
      "assistant: call c3",
      'user: result c2 "sand"',
      'user: result c1 "No result provided"',
      'user: result c3 "No result provided"',
      "user: stop",
      "assistant: call c4",
      'user: result c4 "No result provided"',
    ]);
  });

  it("takes what was typed while the agent worked as queued, and what was typed after that as a turn", () => {
    const pi = createPiWriter();
    pi.user("go");
    pi.say(piCall("c1"));
    pi.result("c1", "kelp");
    pi.user("also the reef", { timestamp: Date.parse("2026-01-02T10:00:02.500Z") });
    pi.user("and the sand", { timestamp: Date.parse("2026-01-02T10:00:02.700Z") });
    pi.say(piCall("c2"));
    pi.result("c2", "sand");
    pi.user("stop, something else");
    const session = readPi(pi);
    expect(session.turnCount).toBe(2);
    expect(session.readTurn(0).filter(({ metadata }) => metadata?.origin === "queued")).toMatchObject([
      { content: "also the reef" },
      { content: "and the sand" },
    ]);
  });

  it("says what the user ran, what extensions said and what a branch came to as pi says it", () => {
    const pi = createPiWriter();
    pi.user("go");
    pi.say("gone");
    const bash = { role: "bashExecution", cancelled: false, truncated: false };
    pi.add({ type: "message", message: { ...bash, command: "ls", output: "kelp", exitCode: 0 } });
    pi.add({ type: "message", message: { ...bash, command: "false", output: "", exitCode: 1 } });
    pi.add({ type: "message", message: { ...bash, command: "odd", output: "sand", exitCode: { toString: 1 } } });
    pi.add({ type: "message", message: { ...bash, command: "cat key", output: "secret", excludeFromContext: true } });
    pi.add({ type: "custom_message", customType: "tide", content: "The tide is out.", display: true });
    pi.add({ type: "branch_summary", fromId: "00000009", summary: "We tried sand." });
    const session = readPi(pi);
    expect(sentOf(session).slice(2)).toEqual([
      "user: Ran `ls`\n```\nkelp\n```",
      "user: Ran `false`\n(no output)\n\nCommand exited with code 1",
      "user: Ran `odd`\n```\nsand\n```",
      "user: The tide is out.",
      "user: The following is a summary of a branch that this conversation came back from:\n\n<summary>\nWe tried sand.</summary>",
    ]);
    const events = session.readTurn(0);
    expect(events.filter(({ metadata }) => metadata?.origin === "harness")).toHaveLength(5);
    expect(events.find(({ type }) => type === "note")).toMatchObject({ kind: "bash_execution" });
    expect(session.turnCount).toBe(1);
  });

  it("notes what no model sees, keeps names as titles, and the session that it was split off", () => {
    const pi = createPiWriter({ header: { parentSession: "/home/me/parent.jsonl" } });
    pi.add({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" });
    pi.add({ type: "thinking_level_change", thinkingLevel: "high" });
    const id = pi.user("go");
    pi.add({ type: "label", targetId: id, label: "here" });
    pi.add({ type: "custom", customType: "tide", data: { level: 3 } });
    pi.add({ type: "seaweed", weight: 3 });
    pi.add({ type: "session_info", name: "Kelp beds" });
    const session = readPi(pi);
    expect(session.readTurn(0).slice(1)).toMatchObject([
      { kind: "parent_session", data: { path: "/home/me/parent.jsonl" } },
      { kind: "model_change", data: { modelId: "claude-sonnet-4-5" } },
      { kind: "thinking_level_change", data: { thinkingLevel: "high" } },
      { type: "chat_request" },
      { kind: "label", data: { label: "here", targetId: id } },
      { kind: "custom", data: { customType: "tide", level: 3 } },
      { kind: "seaweed", data: { weight: 3 } },
    ]);
    expect(session.titles).toEqual([{ timestamp: "2026-01-02T10:00:07.000Z", title: "Kelp beds", id: "00000007" }]);
  });

  it("lists the tools that the system messages of pi 1.x add and take away", () => {
    const pi = createPiWriter();
    const tool = (name: string): object => ({ name, description: name, parameters: { type: "object" } });
    pi.add({ type: "message", message: { role: "system", content: "", toolsAdded: [tool("read"), tool("write")] } });
    pi.user("go");
    pi.say("gone");
    pi.user("more");
    pi.add({ type: "message", message: { role: "system", content: "", toolsRemoved: [{ name: "write" }] } });
    const session = readPi(pi);
    expect(session.toolLists?.map(({ turn, tools }) => [turn, tools.map(({ name }) => name)])).toEqual([
      [0, ["read", "write"]],
      [1, ["read"]],
    ]);
    expect(sentOf(session)).toEqual(["user: go", "assistant: gone", "user: more"]);
  });

  it("reads files without ids, and those that still say hookMessage", () => {
    for (const version of [1, 2] as const) {
      const pi = createPiWriter({ version });
      pi.user("go");
      pi.say("gone");
      pi.add({ type: "message", message: { role: "hookMessage", customType: "tide", content: "The tide is out." } });
      const session = readPi(pi);
      expect(sentOf(session)).toEqual(["user: go", "assistant: gone", "user: The tide is out."]);
      expect(session.readTurn(0)[1]?.id).toBe(version === 1 ? `${PI_SESSION}-1` : "00000001");
    }
  });

  it("is the same conversation once pi has given ids to a file without", () => {
    const model = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
    const before = createPiWriter({ version: 1, header: model });
    before.user("go");
    before.say("gone");
    before.user("more");
    before.add({ type: "compaction", summary: "all that was", firstKeptEntryIndex: 3, tokensBefore: 1 });
    const after = createPiWriter({ header: model });
    const ids = ["1b2c3d4e", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d"];
    after.lines.push(
      ...before.lines.slice(1).map((line, at) => {
        const { firstKeptEntryIndex: kept, ...rest } = line;
        return {
          ...rest,
          id: ids[at],
          parentId: ids[at - 1] ?? null,
          ...(kept !== undefined && { firstKeptEntryId: ids[2] }),
        };
      }),
    );
    const [old, now] = [readPi(before), readPi(after)];
    expect(now.skippedLines).toEqual([]);
    expect(turnsOf(now)).toEqual(turnsOf(old));
    expect(now.compactions).toEqual(old.compactions);
    expect(now.compactions[0]?.keep).toHaveLength(1);
    expect([now.hasLine("1b2c3d4e"), old.hasLine("1b2c3d4e")]).toEqual([true, false]);
  });
});

describe("a pi session with something wrong in it", () => {
  it("is known by its first line alone", () => {
    const known = (text: string): readonly unknown[] => {
      const source = createBufferSource(Buffer.from(text));
      return [isPiSession(source), piSessionId(source)];
    };
    expect(known('\n{"type":"session","id":"kelp"}\n')).toEqual([true, "kelp"]);
    expect(known('{"type":"session","id":"../kelp"}\n')).toEqual([
      true,
      expect.stringMatching(/^session-[0-9a-z]{13}$/),
    ]);
    for (const text of [
      "",
      "\n",
      "kelp\n",
      '{"type":"session"}\n',
      '{"type":"message","id":"1"}\n{"type":"session","id":"kelp"}\n',
    ])
      expect(known(text)).toEqual([false, null]);
    expect(() => readPi('{"type":"user","uuid":"1"}\n')).toThrow(
      /^The file is not a pi session: expected a first line of/,
    );
  });

  it("names every line that it cannot use", () => {
    const pi = createPiWriter();
    pi.user("go");
    pi.say("gone");
    const [header, ...entries] = pi.bytes().toString().trimEnd().split("\n");
    const deep = `{"type":"custom","id":"deep","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const lines = [
      header,
      "kelp",
      '"text"',
      header,
      ...entries,
      '{"type":"custom","parentId":"00000002"}',
      deep,
      '{"id":"x"}',
      '{"type":"mess',
    ];
    const session = readPi(lines.join("\n"));
    expect(session.skippedLines).toEqual([
      { line: 2, reason: "not JSON" },
      { line: 3, reason: "not a JSON object" },
      { line: 4, reason: "a further header" },
      { line: 7, reason: "no `id`" },
      { line: 8, reason: "nested deeper than 500 levels" },
      { line: 9, reason: "no `type`" },
      { line: 10, reason: "not JSON: cut off before its end" },
    ]);
    expect(sentOf(session)).toEqual(["user: go", "assistant: gone"]);
  });

  it("takes the last of entries with one id, and says which it left out", () => {
    const pi = createPiWriter();
    pi.user("go");
    const text = pi.bytes().toString();
    const session = readPi(`${text}${text.trimEnd().split("\n").at(-1)!.replace("go", "go there")}\n`);
    expect(session.skippedLines).toEqual([{ line: 2, reason: "its id is used again in line 3" }]);
    expect(sentOf(session)).toEqual(["user: go there"]);
    expect(session.turnLine(0)).toBe(0);
  });

  it("ends the path where parents go round in a circle", () => {
    const pi = createPiWriter();
    const first = pi.user("one");
    pi.say("answer");
    const last = pi.user("two");
    pi.lines[1]!["parentId"] = last;
    expect(sentOf(readPi(pi))).toEqual(["user: one", "assistant: answer", "user: two"]);
    pi.lines[1]!["parentId"] = first;
    expect(sentOf(readPi(pi))).toEqual(["user: one", "assistant: answer", "user: two"]);
  });

  it("keeps what stands before a lost line, though pi does not send it", () => {
    const pi = createPiWriter();
    pi.user("one");
    pi.say("answer");
    pi.add({ type: "thinking_level_change", thinkingLevel: "high" });
    pi.user("two");
    pi.lines.splice(3, 1);
    const session = readPi(pi);
    expect(session.compactions).toMatchObject([{ turns: "omit", reason: "broken-parent", from_turn: 0, to_turn: 0 }]);
    expect(sentOf(session)).toEqual(["user: two"]);
    expect(sentOf(session, [])).toEqual(["user: one", "assistant: answer", "user: two"]);
  });

  it("makes usable ids of those that are none", () => {
    const pi = createPiWriter();
    pi.user("one");
    pi.lines[1]!["id"] = "a.b/../c";
    const session = readPi(pi);
    expect(session.readTurn(0)[1]?.id).toMatch(/^entry-[0-9a-z]{13}$/);
    expect(session.hasLine("a.b/../c")).toBe(true);
  });

  it.each([{ toString: 1 }, [], null, "none"])("takes %j for no version of the format", (version) => {
    const pi = createPiWriter({ header: { version } });
    pi.user("one");
    expect(readPi(pi)).toMatchObject({ turnCount: 1, title: "one" });
  });

  it("has no turn when nobody said anything", () => {
    const pi = createPiWriter();
    pi.add({ type: "model_change", provider: "anthropic", modelId: "x" });
    expect(readPi(pi).turnCount).toBe(0);
    expect(turnsOf(readPiSession(createBufferSource(createPiWriter().bytes())))).toEqual([]);
  });
});
