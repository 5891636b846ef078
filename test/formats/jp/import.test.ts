// What is read of a stream of jp, entry by entry, sound and not.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { JP } from "../../../src/formats/jp/agent.ts";
import type { Entry } from "../../helpers/jp-rules.ts";
import { jpTurns, readJp, throughJpg } from "../../helpers/jp-session.ts";
import { base64, variedJpStream } from "../../helpers/jp-steps.ts";

const TIME = "2026-03-04 05:06:07.0";
const start: Entry = { timestamp: TIME, type: "turn_start" };
const ask = (content: string, more: Entry = {}): Entry => ({ timestamp: TIME, type: "chat_request", content, ...more });
const say = (message: string, more: Entry = {}): Entry => ({
  timestamp: TIME,
  type: "chat_response",
  message,
  ...more,
});
const call = (args: Entry): Entry => ({
  timestamp: TIME,
  type: "tool_call_request",
  id: "a",
  name: "t",
  arguments: args,
});
const result = (content: unknown): Entry => ({
  timestamp: TIME,
  type: "tool_call_response",
  id: "a",
  content,
  is_error: false,
});

function eventsOf(entries: readonly unknown[]): readonly Event[] {
  return jpTurns(readJp(entries)).flatMap(({ events }) => events);
}

function contentOf(stored: string): unknown {
  const found = eventsOf([start, ask("q"), call({}), result(stored)]).at(-1);
  return found?.type === "tool_call_response" ? found.content : undefined;
}

describe("a stream of jp", () => {
  it("is read turn by turn", () => {
    const session = readJp(variedJpStream());
    expect(session).toMatchObject({
      format: "jp",
      title: "Map the kelp.",
      turnCount: 3,
      skippedLines: [],
      abandoned: [],
    });
    const kinds = jpTurns(session).map(({ events }) => events.map(({ type }) => type));
    expect(kinds).toEqual([
      [
        "turn_start",
        "chat_request",
        "chat_response",
        "tool_call_request",
        "tool_call_request",
        "tool_call_response",
        "tool_call_response",
        "chat_response",
        "config_delta",
      ],
      [
        "turn_start",
        "chat_request",
        "inquiry_request",
        "inquiry_response",
        "tool_call_request",
        "tool_call_response",
        "chat_response",
        "note",
      ],
      ["turn_start", "chat_request", "chat_response"],
    ]);
    expect(session.compactions).toMatchObject([
      { from_turn: 1, to_turn: 1, reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } },
      { from_turn: 0, to_turn: 0, summary: { summary: "The kelp is mapped.", source: "imported" }, source: "import" },
    ]);
    expect([...session.compactionTurns.values()]).toEqual([1, 1]);
  });

  it("keeps author, schema, structured data and metadata, decoded", () => {
    const schema = { type: "object" };
    const [, request, data, thought] = eventsOf([
      start,
      ask("q", { schema, author: "Ada" }),
      { timestamp: TIME, type: "chat_response", data: { n: 1 } },
      {
        timestamp: TIME,
        type: "chat_response",
        reasoning: "hm",
        metadata: { anthropic_thinking_signature: base64("sig=="), n: 1 },
      },
    ]);
    expect(request).toMatchObject({ content: "q", schema, author: "Ada" });
    expect(data).toMatchObject({ data: { n: 1 } });
    expect(thought?.metadata).toMatchObject({
      provider: "anthropic",
      signature: "sig==",
      jp: { anthropic_thinking_signature: "sig==", n: 1 },
    });
  });

  it("names the model that the settings name from there on", () => {
    const delta = (id: unknown): Entry => ({
      type: "config_delta",
      timestamp: TIME,
      delta: { assistant: { model: { id } } },
    });
    const events = eventsOf([
      start,
      ask("q"),
      say("one"),
      delta({ provider: "anthropic", name: "claude-haiku-4-5" }),
      say("two"),
      start,
      ask("q"),
      delta("openai/gpt-5"),
      say("three"),
    ]);
    const made = events
      .filter(({ type }) => type === "chat_response")
      .map(({ metadata }) => [metadata?.provider, metadata?.model]);
    expect(made).toEqual([
      [undefined, undefined],
      ["anthropic", "claude-haiku-4-5"],
      ["openai", "gpt-5"],
    ]);
  });

  it.each([
    ["standard base64", "ZmlsZSBjb250ZW50cyBoZXJl", "file contents here"],
    ["nothing", "", ""],
    ["the URL-safe alphabet of older versions", "LT4gPz8-Pg==", "-> ??>>"],
    ["the URL-safe alphabet, encoded once more by a newer one", "TFQ0Z1B6OC1QZz09", "-> ??>>"],
    ["a text that was never encoded", "src/main.rs", "src/main.rs"],
    ["a text with its padding cut off", "ZmlsZSBjb250ZW50cyBoZXJ", "ZmlsZSBjb250ZW50cyBoZXJ"],
    ["bytes that are no text", "/////w==", "/////w=="],
    ["a name that only looks URL-safe", "read_the_file_xx", "read_the_file_xx"],
    ["a text that is standard base64 itself", base64("c3JjL21haW4ucnM="), "c3JjL21haW4ucnM="],
  ])("decodes %s", (_, stored, text) => {
    expect(contentOf(stored)).toBe(text);
  });

  it("decodes the texts of arguments wherever they stand, and no keys", () => {
    const [, , request] = eventsOf([
      start,
      ask("q"),
      call({ a2V5: [base64("one"), { deep: base64("two") }, 3, null] }),
    ]);
    expect(request).toMatchObject({ arguments: { a2V5: ["one", { deep: "two" }, 3, null] } });
  });

  it("reads times of every form, and dates what is not dated by what stands before it", () => {
    const times = [
      "2025-07-01 00:00:00",
      "2025-07-01T02:00:00.5+02:00",
      "2025-07-01 00:00:00.123456789",
      "yesterday",
      "2025-07-01 00:00:001",
      undefined,
    ];
    const entries = times.map((timestamp) => ({ ...start, timestamp }));
    expect(eventsOf(entries).map(({ timestamp }) => timestamp)).toEqual([
      "2025-07-01T00:00:00.000Z",
      "2025-07-01T00:00:00.500Z",
      ...Array.from({ length: 4 }, () => "2025-07-01T00:00:00.123456789Z"),
    ]);
  });

  it("takes what is said before the first start for a turn, and puts its start in when it goes back", () => {
    const session = readJp([ask("q"), say("a"), start, ask("q2")]);
    expect(session.turnCount).toBe(2);
    expect(session.readTurn(0).map(({ type }) => type)).toEqual(["turn_start", "chat_request", "chat_response"]);
    expect(throughJpg([ask("q"), say("a")])).toEqual([start, ask("q"), say("a")]);
  });

  it("says what it cannot read, keeps it, and gives it back", () => {
    const damaged = [
      { timestamp: TIME, type: "chat_response" },
      { timestamp: TIME, type: "chat_response", message: "a", reasoning: "b" },
      { timestamp: TIME, type: "tool_call_request", id: "a", name: "t", arguments: "x" },
      { timestamp: TIME, type: "compaction", from_turn: -1, to_turn: 0 },
    ];
    const entries = [start, ask("q"), ...damaged, { kind: "no type" }, 7];
    const session = readJp(entries);
    expect(session.skippedLines).toEqual([
      { line: 3, reason: "kept as a note: chat_response, expected one of `message`, `reasoning` and `data`" },
      { line: 4, reason: "kept as a note: chat_response, expected one of `message`, `reasoning` and `data`" },
      { line: 5, reason: "kept as a note: tool_call_request, expected `arguments` to be an object" },
      { line: 6, reason: "kept as a note: compaction, expected `from_turn` to be a turn" },
      { line: 8, reason: "not a JSON object" },
    ]);
    expect(throughJpg(entries)).toEqual([start, ask("q"), ...damaged, { kind: "no type" }]);
  });

  it("says which overlays change nothing", () => {
    const overlay = (from: number, to: number, more: Entry): Entry => ({
      type: "compaction",
      timestamp: TIME,
      from_turn: from,
      to_turn: to,
      ...more,
    });
    const session = readJp([
      start,
      ask("q"),
      overlay(1, 0, { reasoning: "strip" }),
      overlay(4, 5, { reasoning: "strip" }),
      overlay(0, 0, {}),
      overlay(0, 0, { tool_calls: { policy: "later" } }),
      overlay(0, 9, { summary: { summary: "all" } }),
    ]);
    expect(session.skippedLines.map(({ line }) => line)).toEqual([3, 4, 5, 6]);
    expect(session.compactions).toMatchObject([{ from_turn: 0, to_turn: 0, summary: { summary: "all" } }]);
  });

  it("keeps fields that jpg does not know", () => {
    const entries = [start, ask("q", { later: { of: ["jp"] } }), say("a", { metadata: { key: base64("v") } })];
    expect(throughJpg(entries)).toEqual(entries);
  });

  it("gives the settings that jpg has, from the turn on in which they stand, and no others", () => {
    const delta = (conversation: Entry): Entry => ({ type: "config_delta", timestamp: TIME, delta: { conversation } });
    const session = readJp([
      start,
      ask("q"),
      delta({
        compaction: {
          default_profile: "thin",
          keep_last: 2,
          auto: { enabled: true },
          rules: { value: [{ keep_last: "1", reasoning: "strip" }] },
          profiles: { thin: { reasoning: "strip", tool_calls: "strip-responses", summary: { model: "a/b" } }, odd: 1 },
        },
        tools: {
          fs_read_file: { run: "ask", compaction: { request: "keep", response: "strip" } },
          "*": { run: "ask" },
        },
      }),
      start,
      ask("q2"),
      delta({ title: "no setting of jpg's" }),
      delta({ tools: { git_commit: { compaction: { request: "later", response: "keep" } } } }),
    ]);
    expect(session.settings?.map(({ turn, delta: own }) => [turn, own])).toEqual([
      [
        0,
        {
          conversation: {
            compaction: {
              default_profile: "thin",
              keep_last: 2,
              profiles: {
                thin: { reasoning: "strip", tool_calls: { policy: "strip", request: false, response: true } },
              },
            },
            tools: { fs_read_file: { compaction: { request: "keep", response: "strip" } } },
          },
        },
      ],
      [1, { conversation: { tools: { git_commit: { compaction: { response: "keep" } } } } }],
    ]);
  });

  it("takes the title from the file beside it, where that is one", () => {
    const source = createBufferSource(Buffer.from(JSON.stringify([start, ask("q")])));
    const titlesOf = (about: string | null): readonly string[] =>
      JP.read(source, about).titles.map(({ title }) => title);
    expect(titlesOf('{\n  "title": "Kelp  beds",\n  "pinned_at": null\n}\n')).toEqual(["Kelp beds"]);
    for (const none of [null, "", "{", "[]", '{"title":7}', '{"title":""}']) expect(titlesOf(none)).toEqual([]);
    expect(JP.files.about?.("events.json")).toBe("metadata.json");
    expect(JP.files.about?.("request.json")).toBeNull();
  });

  it("holds no turn while nobody has said anything", () => {
    const settings = { type: "config_delta", timestamp: TIME, delta: {} };
    expect(readJp([settings]).turnCount).toBe(0);
  });

  it.each([
    ["{}", "it is no list"],
    ['[{"timestamp":"2026-03-04 05:06:07.0","type":"turn_start"}', "it is cut off before its end"],
    ['[{"timestamp":}]', "it is not JSON"],
  ])("is not %s", (text, reason) => {
    expect(() => readJp(text)).toThrow(reason);
  });

  it("is called after what it begins with: a fork that jp made is of the same name, another conversation is not", () => {
    const idOf = (entries: readonly Entry[]): string | null =>
      JP.sessionId(createBufferSource(Buffer.from(JSON.stringify(entries))));
    const name = idOf([start, ask("q"), say("a")]);
    expect(idOf([start, ask("q"), say("another")])).toBe(name);
    expect(idOf([start, ask("r"), say("a")])).not.toBe(name);
    expect(idOf([{ ...start, timestamp: "2026-03-04 05:06:08.0" }, ask("q")])).not.toBe(name);
  });
});
