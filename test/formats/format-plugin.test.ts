// What jpg takes from a format plug-in, line by line (docs/formats/plug-ins.md).
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { JpgError } from "../../src/core/errors.ts";
import { createPluginReader, type PluginReading } from "../../src/formats/format-plugin.ts";

const HEADER = { type: "session", protocol: 1, id: "s1" };
const ASK = { type: "chat_request", id: "a", content: "Why?" };
const CALL = { type: "tool_call_request", id: "c", call_id: "1", name: "Bash", arguments: { command: "ls" } };
const RESULT = { type: "tool_call_response", id: "r", call_id: "1", content: "a.txt", is_error: false };

function read(...lines: readonly (object | string)[]): PluginReading {
  const reader = createPluginReader("plain");
  for (const line of lines) reader.take(typeof line === "string" ? line : JSON.stringify(line));
  return reader.end();
}

function problem(...lines: readonly (object | string)[]): string {
  try {
    read(...lines);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    expect(error.code).toBe("bad_plugin_output");
    return error.message;
  }
  return "none";
}

describe("the lines of a plug-in", () => {
  it("become turns: each request of a person opens one, what comes before the first is in its turn", () => {
    const { session } = read(
      { ...HEADER, title: "A\ntitle", created_at: "2026-05-04T11:00:00+02:00", cwd: "/p" },
      "",
      { type: "chat_request", id: "sys", role: "system", content: "Be kind." },
      { ...ASK, timestamp: "2026-05-04T09:00:01Z" },
      CALL,
      { type: "chat_request", id: "q", content: "And this.", metadata: { origin: "queued" } },
      RESULT,
      { type: "chat_request", id: "b", content: "Next." },
      { type: "skipped", line: 7, reason: "cut off" },
    );
    expect(session).toMatchObject({ sessionId: "s1", turnCount: 2, createdAt: "2026-05-04T09:00:00.000Z", cwd: "/p" });
    expect(session.title).not.toContain("\n");
    expect(session.readTurn(0).map(({ id }) => id)).toEqual(["sys.turn", "sys", "a", "c", "q", "r"]);
    expect(session.readTurn(1).map(({ id }) => id)).toEqual(["b.turn", "b"]);
    // Without a time of its own an event has that of the one before it.
    expect(session.readTurn(1).map(({ timestamp }) => timestamp)).toEqual(Array(2).fill("2026-05-04T09:00:01Z"));
    expect(session.skippedLines).toEqual([{ line: 7, reason: "cut off" }]);
  });

  it("are data: text with control characters stays, unknown fields stay", () => {
    const text = "\u001b]0;title\u0007 \u0000 \ud800";
    const { session } = read(HEADER, { ...ASK, content: text, own: { $attachment: "x" } });
    expect(session.readTurn(0)[1]).toMatchObject({ content: text, own: { $attachment: "x" } });
  });

  it("may have a result whose call is nowhere, as sessions have whose beginning was cut off", () => {
    expect(read(HEADER, ASK, RESULT).session.turnCount).toBe(1);
  });

  it.each<[name: string, lines: readonly (object | string)[], expected: RegExp]>([
    ["nothing", [], /no line/],
    ["blank lines", ["", "  "], /no line/],
    ["no JSON", ["hello"], /line 1: not JSON/],
    ["a list", ["[1]"], /line 1: not a JSON object/],
    ["an event first", [ASK], /line 1: "type"/],
    ["a later protocol", [{ ...HEADER, protocol: 2 }], /"protocol": expected 1, found 2/],
    ["no protocol", [{ type: "session", id: "x" }], /"protocol": expected 1, found nothing/],
    ["no session id", [{ ...HEADER, id: "" }], /"id"/],
    ["an agent that git could not name", [{ ...HEADER, agent: "A <b@c>\n" }], /"agent"/],
    ["a made-up origin", [{ ...HEADER, origin: { conversation: "x" } }], /"origin"/],
    ["a second first line", [HEADER, HEADER], /line 2: "type"/],
    ["a turn", [HEADER, { type: "turn_start", id: "t", timestamp: "2026-05-04T09:00:00Z" }], /line 2: "type"/],
    ["settings", [HEADER, { type: "config_delta", id: "t", delta: {} }], /line 2: "type"/],
    ["a kind that jpg does not know", [HEADER, { type: "__proto__", id: "t" }], /line 2: "type"/],
    ["an event without an id", [HEADER, { ...ASK, id: undefined }], /"id"/],
    ["an id with a control character", [HEADER, { ...ASK, id: "a\u001b[2J" }], /"id"/],
    ["the same id twice", [HEADER, ASK, { ...ASK }], /line 3: the id a was there before/],
    ["a wrong time", [HEADER, { ...ASK, timestamp: "yesterday" }], /"timestamp"/],
    ["a request without content", [HEADER, { type: "chat_request", id: "a" }], /"content" is missing/],
    ["two answers in one", [HEADER, { type: "chat_response", id: "a", message: "x", reasoning: "y" }], /exactly one/],
    ["a reference to what is stored", [HEADER, { ...ASK, content: { $attachment: "0".repeat(64) } }], /"content"/],
    ["the same in a part", [HEADER, { ...ASK, content: [{ type: "text", text: { $attachment: "x" } }] }], /part/],
    ["a part without its text", [HEADER, { ...ASK, content: [{ type: "text" }] }], /part/],
    ["a part of no kind", [HEADER, { ...ASK, content: [{ type: "sound" }] }], /part/],
    ["metadata of the wrong kind", [HEADER, { ...ASK, metadata: { model: 5 } }], /metadata\.model/],
    ["a merge that jpg did not make", [HEADER, { ...ASK, metadata: { origin: "merge" } }], /merged/],
    ["a result before its call", [HEADER, ASK, RESULT, CALL], /the result r comes before its call/],
    [
      "what nests too deep",
      [HEADER, `{"type":"note","id":"n","kind":"k","data":${"[".repeat(600)}${"]".repeat(600)}}`],
      /deeper/,
    ],
    ["a skipped line without a number", [HEADER, { type: "skipped", line: 0, reason: "x" }], /line number/],
  ])("are refused: %s", (_, lines, expected) => {
    expect(problem(...lines)).toMatch(expected);
  });
});

it("reads the example of docs/formats/plug-ins.md", () => {
  const page = readFileSync(new URL("../../docs/formats/plug-ins.md", import.meta.url), "utf8");
  const [, example = ""] = /```jsonl\n(.*?)```/s.exec(page) ?? [];
  expect(read(...example.split("\n")).session).toMatchObject({
    sessionId: "monday",
    turnCount: 1,
    title: "Which port?",
  });
});
