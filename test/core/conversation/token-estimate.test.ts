import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import {
  estimateByKind,
  estimateEvent,
  estimateEvents,
  estimateKind,
  estimateView,
  formatCount,
  formatTokens,
  measureEvent,
  type TextMeasure,
} from "../../../src/core/conversation/token-estimate.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { plainPdf } from "../../helpers/pdf.ts";

const pdf = (pages: number) => ({
  type: "document",
  media_type: "application/pdf",
  data: Buffer.from(plainPdf(pages)).toString("base64"),
});
const base = { id: "a", timestamp: "t" };
const tokensOf = (event: object): number => estimateEvent({ ...base, ...event } as unknown as Event);

describe("estimateEvent", () => {
  it.each<[string, object, number]>([
    ["prose at 4 characters a token", { type: "chat_request", content: "x".repeat(400) }, 100],
    ["an answer", { type: "chat_response", message: "x".repeat(401) }, 101],
    ["reasoning", { type: "chat_response", reasoning: "x".repeat(40) }, 10],
    [
      "encrypted reasoning by its length",
      { type: "chat_response", reasoning: "", metadata: { encrypted: "x".repeat(770) } },
      100,
    ],
    [
      "withheld reasoning by its signature",
      { type: "chat_response", reasoning: "", metadata: { signature: "x".repeat(770) } },
      100,
    ],
    [
      "reasoning that stands there without its signature",
      { type: "chat_response", reasoning: "x".repeat(40), metadata: { signature: "x".repeat(770) } },
      10,
    ],
    ["tool output at 3", { type: "tool_call_response", content: "x".repeat(300) }, 100],
    [
      "arguments at 2.7, keys and quotes counted",
      { type: "tool_call_request", name: "read", arguments: { path: "x".repeat(88) } },
      39,
    ],
    ["structured data", { type: "chat_response", data: [1, true, null] }, 5],
    ["an image as one size", { type: "chat_request", content: [{ type: "image", data: "x".repeat(99_999) }] }, 1600],
    [
      "a document that is no PDF as five pages",
      { type: "chat_request", content: [{ type: "document", data: "x".repeat(99_999) }] },
      10_000,
    ],
    [
      "a document by address as five pages",
      { type: "chat_request", content: [{ type: "document", url: "https://a.example/report.pdf" }] },
      10_000,
    ],
    ["a PDF by its pages", { type: "chat_request", content: [pdf(20)] }, 40_000],
    [
      "a PDF whose base64 is in lines by its pages",
      { type: "chat_request", content: [{ ...pdf(7), data: pdf(7).data.replace(/.{76}/g, "$&\n") }] },
      14_000,
    ],
    ["a PDF in a result by its pages", { type: "tool_call_response", content: [pdf(2)] }, 4000],
    [
      "a PDF that was moved by the pages that were counted then",
      { type: "chat_request", content: [{ ...pdf(1), data: { $attachment: "a", encoding: "base64", pages: 90 } }] },
      180_000,
    ],
    [
      "a PDF that was moved before pages were counted as five",
      { type: "chat_request", content: [{ ...pdf(1), data: { $attachment: "a", encoding: "base64" } }] },
      10_000,
    ],
    [
      "a document that is a text by that text",
      {
        type: "chat_request",
        content: [{ type: "document", media_type: "text/csv", data: btoa("1,2,3\n".repeat(100)) }],
      },
      335,
    ],
    [
      "a text that was moved by its bytes",
      {
        type: "chat_request",
        content: [{ type: "document", media_type: "text/plain", data: { $attachment: "a", size: 8000 } }],
      },
      2000,
    ],
    [
      "a PDF in a provider's own document by its pages",
      {
        type: "chat_response",
        message: [{ type: "opaque", value: { type: "document", source: { ...pdf(3), type: "base64" } } }],
      },
      6011,
    ],
    [
      "a PDF in a provider's own result by its pages",
      {
        type: "chat_response",
        message: [
          { type: "opaque", value: { type: "web_fetch_result", content: { source: { ...pdf(3), type: "base64" } } } },
        ],
      },
      6016,
    ],
    [
      "an image in a provider's own words as one",
      {
        type: "chat_request",
        content: [{ type: "opaque", value: { type: "image", source: { type: "file", file_id: "file_1" } } }],
      },
      1610,
    ],
    [
      "a file by its id as five pages",
      { type: "chat_request", content: [{ type: "opaque", value: { type: "input_file", file_id: "file_1" } }] },
      10_016,
    ],
    [
      "parts together",
      {
        type: "chat_request",
        content: [
          { type: "text", text: "x".repeat(4) },
          { type: "attachment", name: "ab", text: "xy" },
        ],
      },
      2,
    ],
    [
      "what only its provider knows",
      { type: "chat_request", content: [{ type: "opaque", value: "x".repeat(38) }] },
      10,
    ],
    [
      "a document of text by its text",
      {
        type: "chat_request",
        content: [
          { type: "document", media_type: "text/plain", data: Buffer.from("x".repeat(400)).toString("base64") },
        ],
      },
      100,
    ],
    [
      "a cipher that was moved by its size",
      { type: "chat_response", reasoning: "", metadata: { encrypted: { $attachment: "a", size: 770 } } },
      100,
    ],
    ["a moved text by its recorded size", { type: "chat_request", content: { $attachment: "a", size: 4000 } }, 1000],
    [
      "a moved text without a size as the least that is moved",
      { type: "chat_request", content: { $attachment: "a" } },
      65_536,
    ],
    [
      "a moved argument by its size",
      { type: "tool_call_request", name: "", arguments: { $attachment: "a", size: 27 } },
      10,
    ],
    ["an answer without a text as nothing", { type: "chat_response" }, 0],
    ["an answer before reasoning", { type: "chat_response", message: "x".repeat(8), reasoning: "x".repeat(80) }, 2],
    [
      "an answer without its signature",
      { type: "chat_response", message: "x".repeat(8), metadata: { signature: "x".repeat(770) } },
      2,
    ],
    [
      "encrypted reasoning once, though it is signed",
      { type: "chat_response", reasoning: "", metadata: { encrypted: "x".repeat(77), signature: "x".repeat(770) } },
      10,
    ],
    ["reasoning of which nothing is left as nothing", { type: "chat_response", reasoning: "" }, 0],
    [
      "an answer together with its data and what is encrypted",
      { type: "chat_response", message: "x".repeat(40), data: "x".repeat(25), metadata: { encrypted: "x".repeat(77) } },
      30,
    ],
    ["the name of a tool", { type: "tool_call_request", name: "x".repeat(27), arguments: "x".repeat(25) }, 20],
    ["lists item by item", { type: "tool_call_request", name: "", arguments: Array.from({ length: 27 }, () => 1) }, 21],
    ["nothing, true and false as words", { type: "tool_call_request", name: "", arguments: [null, true, false] }, 7],
    [
      "objects key by key, within each other",
      { type: "tool_call_request", name: "", arguments: { aaaa: { bbbb: "x".repeat(10) }, cccc: 1234 } },
      16,
    ],
    [
      "moved arguments beside others",
      { type: "tool_call_request", name: "", arguments: { a: { $attachment: "long/path", size: 27 } } },
      13,
    ],
    [
      "an attachment without a text by its name",
      { type: "chat_request", content: [{ type: "attachment", name: "abcd" }] },
      1,
    ],
    [
      "an attachment without a name by its text",
      { type: "chat_request", content: [{ type: "attachment", text: "abcd" }] },
      1,
    ],
    [
      "a moved part by its recorded size",
      { type: "tool_call_response", content: [{ type: "text", text: { $attachment: "a", size: 300 } }] },
      100,
    ],
    ["a size that is no number as none", { type: "chat_request", content: { $attachment: "a", size: "4000" } }, 65_536],
    [
      "parts that nobody knows as nothing",
      { type: "chat_request", content: [{ type: "smell", text: "x".repeat(99) }] },
      0,
    ],
    ["no part as nothing", { type: "chat_request", content: [] }, 0],
    ["what no model sees as nothing", { type: "note", kind: "k", data: "x".repeat(99) }, 0],
    ["an unknown kind as nothing", { type: "weather" }, 0],
  ])("counts %s", (_name, event, tokens) => {
    expect(tokensOf(event)).toBe(tokens);
  });
});

describe("estimates of many events", () => {
  const turns = parseConversation("U R T t A S | U A");
  const events = turns.flatMap((turn) => turn.events);

  it("add up, in total, by kind and over a view", () => {
    const byKind = estimateByKind(events);
    const { total, ...kinds } = byKind;
    expect(total).toBe(estimateEvents(events));
    expect(Object.values(kinds).reduce((sum, tokens) => sum + tokens, 0)).toBe(total);
    const view = {
      turns: turns.map((turn) => ({ origin: { kind: "kept", turn: turn.index } as const, events: turn.events })),
    };
    expect(estimateView(view)).toBe(total);
  });

  it("distinguish the kinds", () => {
    expect(estimateByKind(events)).toMatchObject({
      requests: 4,
      messages: 4,
      reasoning: 3,
      tool_calls: 9,
      tool_results: 13,
      harness: 3,
    });
  });

  it("count as requests only what somebody typed", () => {
    const base = {
      type: "chat_request",
      id: "a",
      timestamp: "2026-01-01T00:00:00Z",
      content: "four words of text",
    } as const;
    const kindOf = (more: object): string | null => estimateKind({ ...base, ...more });
    expect(kindOf({})).toBe("requests");
    expect(kindOf({ metadata: { origin: "queued" } })).toBe("requests");
    expect(kindOf({ metadata: { origin: "index" } })).toBe("index");
    expect(kindOf({ metadata: { origin: "notice" } })).toBe("index");
    expect(kindOf({ metadata: { origin: "summary" } })).toBe("summaries");
    expect(kindOf({ role: "system", metadata: { origin: "summary" } })).toBe("summaries");
    expect(kindOf({ role: "developer" })).toBe("system");
    expect(kindOf({ role: "system", metadata: { origin: "harness" } })).toBe("harness");
    expect(kindOf({ metadata: { origin: "merge" } })).toBe("harness");
  });

  it("leave out what no model sees, and count by another count where one is given", () => {
    const counted = estimateByKind(parseConversation("U N X R A D S T t")[0]!.events, () => 10);
    expect(counted).toEqual({
      requests: 10,
      messages: 20,
      reasoning: 10,
      tool_calls: 10,
      tool_results: 10,
      harness: 10,
      system: 0,
      summaries: 0,
      index: 0,
      total: 70,
    });
  });
});

describe("measureEvent", () => {
  it("counts texts by the measure, and what has no loaded text by the estimate", () => {
    const asked: unknown[] = [];
    const measure: TextMeasure = {
      text: (text, charsPerToken) => asked.push([text, charsPerToken]),
      json: (value, charsPerToken, name) => asked.push([value, charsPerToken, name]),
    };
    const of = (event: object): number => {
      asked.length = 0;
      return measureEvent({ ...base, ...event } as unknown as Event, measure);
    };
    const parts = [
      { type: "text", text: "a" },
      { type: "image" },
      { type: "attachment", name: "n", text: "t" },
      { type: "opaque", value: 7 },
      { type: "text", text: { $attachment: "m", size: 400 } },
    ];
    expect(of({ type: "chat_request", content: parts })).toBe(1 + 1600 + 2 + 3 + 4 + 100);
    expect(asked).toEqual([
      ["a", 4],
      ["t", 4],
      ["n", 4],
      [7, 4, undefined],
    ]);
    expect(of({ type: "tool_call_request", name: "read", arguments: { a: 1 } })).toBe(1);
    expect(asked).toEqual([[{ a: 1 }, 2.7, "read"]]);
    expect(of({ type: "tool_call_response", content: "out" })).toBe(1);
    expect(asked).toEqual([["out", 3]]);
    expect(of({ type: "chat_response", data: [1], metadata: { encrypted: "x".repeat(77) } })).toBe(1 + 2 + 10);
    expect(asked).toEqual([
      ["", 4],
      [[1], 2.7, undefined],
    ]);
  });
});

describe("formatCount", () => {
  it("gives one thing its noun as it is, and any other number the plural", () => {
    expect([0, 1, 2].map((count) => formatCount(count, "turn"))).toEqual(["0 turns", "1 turn", "2 turns"]);
  });
});

describe("formatTokens", () => {
  it.each([
    [0, "0"],
    [950, "950"],
    [999.6, "1.0k"],
    [1000, "1.0k"],
    [1250, "1.3k"],
    [1450, "1.4k"],
    [84_213, "84.2k"],
    [999_949, "999.9k"],
    [999_950, "1.0M"],
    [1_234_567, "1.2M"],
  ])("writes %d as %s", (tokens, text) => {
    expect(formatTokens(tokens)).toBe(text);
  });
});
