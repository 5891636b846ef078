// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event, EventMetadata } from "../../../src/core/conversation/event.ts";
import type { ModelPrice } from "../../../src/core/model/model-provider.ts";
import {
  addUsage,
  isCounted,
  listAnswers,
  priceOf,
  type RecordedAnswer,
  readUsage,
  sizeOf,
} from "../../../src/core/model/usage.ts";

describe("readUsage", () => {
  it.each<[string, object, object]>([
    [
      "Anthropic, cached tokens in addition to the input",
      { input_tokens: 4, cache_creation_input_tokens: 30, cache_read_input_tokens: 200, output_tokens: 7 },
      { input: 4, cacheRead: 200, cacheWrite: 30, output: 7 },
    ],
    [
      "Anthropic, what is cached for an hour, and searches",
      {
        input_tokens: 4,
        cache_creation_input_tokens: 30,
        cache_read_input_tokens: 200,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 7,
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      },
      { input: 4, cacheRead: 200, cacheWrite: 30, output: 7, cacheWrite1h: 20, webSearches: 2 },
    ],
    [
      "no more for an hour than is written at all",
      { cache_creation_input_tokens: 5, cache_creation: { ephemeral_1h_input_tokens: 9 } },
      { input: 0, cacheRead: 0, cacheWrite: 5, output: 0, cacheWrite1h: 5 },
    ],
    [
      "pi, what is cached for an hour",
      { input: 1, cacheRead: 2, cacheWrite: 30, cacheWrite1h: 20, output: 4, cost: { total: 1 } },
      { input: 1, cacheRead: 2, cacheWrite: 30, output: 4, cacheWrite1h: 20 },
    ],
    [
      "Gemini CLI, cached tokens within the input, thoughts counted as output",
      { input: 100, output: 5, cached: 60, thoughts: 4, tool: 0, total: 109 },
      { input: 40, cacheRead: 60, cacheWrite: 0, output: 9 },
    ],
    [
      "Anthropic without a cache",
      { input_tokens: 12, output_tokens: 3 },
      { input: 12, cacheRead: 0, cacheWrite: 0, output: 3 },
    ],
    [
      "OpenAI responses, cached tokens within the input",
      { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 9 },
      { input: 40, cacheRead: 60, cacheWrite: 0, output: 9 },
    ],
    [
      "Codex",
      { input_tokens: 100, cached_input_tokens: 60, output_tokens: 9, reasoning_output_tokens: 5 },
      { input: 40, cacheRead: 60, cacheWrite: 0, output: 9 },
    ],
    [
      "OpenAI chat",
      { prompt_tokens: 50, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 20 } },
      { input: 30, cacheRead: 20, cacheWrite: 0, output: 6 },
    ],
    [
      "Google, thoughts counted as output",
      { promptTokenCount: 80, cachedContentTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 4 },
      { input: 70, cacheRead: 10, cacheWrite: 0, output: 9 },
    ],
    [
      "its own keys",
      { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
      { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
    ],
    [
      "more cached than sent as all cached",
      { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 20 } },
      { input: 0, cacheRead: 5, cacheWrite: 0, output: 0 },
    ],
    [
      "Anthropic, only what was read from the cache",
      { cache_read_input_tokens: 8 },
      { input: 0, cacheRead: 8, cacheWrite: 0, output: 0 },
    ],
    [
      "Anthropic, only what was written to the cache",
      { cache_creation_input_tokens: 8, input_tokens: 0 },
      { input: 0, cacheRead: 0, cacheWrite: 8, output: 0 },
    ],
    [
      "an answer to nothing",
      { input_tokens: 0, output_tokens: 1 },
      { input: 0, cacheRead: 0, cacheWrite: 0, output: 1 },
    ],
    ["only one of its own keys: input", { input: 3 }, { input: 3, cacheRead: 0, cacheWrite: 0, output: 0 }],
    ["only one of its own keys: cacheRead", { cacheRead: 3 }, { input: 0, cacheRead: 3, cacheWrite: 0, output: 0 }],
    ["only one of its own keys: cacheWrite", { cacheWrite: 3 }, { input: 0, cacheRead: 0, cacheWrite: 3, output: 0 }],
    [
      "Google without thoughts or cache",
      { promptTokenCount: 80, candidatesTokenCount: 5 },
      { input: 80, cacheRead: 0, cacheWrite: 0, output: 5 },
    ],
    ["a count as large as any", { input_tokens: 1e9 }, { input: 1e9, cacheRead: 0, cacheWrite: 0, output: 0 }],
    [
      "what is no count as absent",
      { input_tokens: 5, cache_read_input_tokens: "9", cache_creation_input_tokens: -1, output_tokens: Number.NaN },
      { input: 5, cacheRead: 0, cacheWrite: 0, output: 0 },
    ],
  ])("reads %s", (_name, value, usage) => {
    expect(readUsage(value)).toEqual(usage);
  });

  it.each([
    undefined,
    null,
    7,
    "input_tokens",
    [],
    {},
    { input_tokens: 1e30 },
    { input_tokens: 1e9 + 1 },
    { input_tokens: 1.5 },
    { output: 4 },
    { input_tokens: 0 },
    { prompt_tokens: {} },
  ])("finds none in %j", (value) => {
    expect(readUsage(value)).toBeNull();
  });

  it("gives whole numbers from 0 on, whatever it is handed", () => {
    const keys = [
      "input_tokens",
      "output_tokens",
      "cache_read_input_tokens",
      "prompt_tokens",
      "promptTokenCount",
      "input",
    ];
    const value = fc.oneof(fc.double(), fc.integer(), fc.string(), fc.bigInt(), fc.constant(null), fc.object());
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(fc.constantFrom(...keys), value)), (usage) => {
        const read = readUsage(usage);
        if (read === null) return;
        for (const count of Object.values(read)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
        expect(sizeOf(read) + read.output).toBeGreaterThan(0);
      }),
    );
  });
});

describe("listAnswers", () => {
  const listUsage = (events: readonly Event[]): readonly RecordedAnswer[] => listAnswers(events).filter(isCounted);

  it("takes what a note says of an answer's usage, and ends the answer where it ended", () => {
    const time = { timestamp: "2026-03-01T09:00:00.000Z" };
    const metadata = { message_id: "m" };
    const events: readonly Event[] = [
      { type: "tool_call_request", id: "c", ...time, call_id: "c", name: "ls", arguments: {}, metadata },
      { type: "tool_call_response", id: "r", ...time, call_id: "c", content: "x", is_error: false },
      { type: "note", id: "n", ...time, kind: "usage", metadata: { ...metadata, usage: { input_tokens: 7 } } },
    ];
    expect(listAnswers(events)).toMatchObject([{ position: 0, end: 1, message: "m", usage: { input: 7 } }]);
  });
  const answer = (id: string, metadata: EventMetadata): Event => ({
    type: "chat_response",
    id,
    timestamp: "t",
    message: "x",
    metadata,
  });
  const usage = (input: number) => ({ input_tokens: input, output_tokens: 1 });

  it("counts the events of one message once, by the usage written last", () => {
    const records = listUsage([
      answer("a", { message_id: "m1", model: "claude", usage: usage(10) }),
      answer("b", { message_id: "m1" }),
      answer("c", { message_id: "m1", usage: usage(12) }),
      answer("d", { message_id: "m2", usage: usage(30) }),
    ]);
    const counted = (input: number) => ({ input, cacheRead: 0, cacheWrite: 0, output: 1 });
    expect(records).toEqual([
      { position: 0, end: 3, message: "m1", model: "claude", usage: counted(12) },
      { position: 3, end: 4, message: "m2", usage: counted(30) },
    ]);
  });

  it("keeps the usage that could be read, and the model that is a name", () => {
    const odd = { message_id: "m", model: 7, usage: { input_tokens: "many" } } as unknown as EventMetadata;
    const records = listUsage([answer("a", { message_id: "m", model: "one", usage: usage(10) }), answer("b", odd)]);
    expect(records).toMatchObject([{ position: 0, end: 2, model: "one", usage: { input: 10 } }]);
    expect(listUsage([answer("a", odd)])).toEqual([]);
  });

  it("takes an id that is no text for none", () => {
    const numbered = { message_id: 5, usage: usage(10) } as unknown as EventMetadata;
    expect(listUsage([answer("a", numbered), answer("b", numbered)])).toHaveLength(2);
    expect(listUsage([answer("a", { message_id: 5 } as unknown as EventMetadata)])).toEqual([]);
  });

  it("skips events without metadata", () => {
    const bare: Event = { type: "turn_start", id: "s", timestamp: "t" };
    expect(listUsage([bare, answer("a", { usage: usage(10) })])).toMatchObject([{ position: 1, end: 2 }]);
  });

  it("takes events without a message id one by one, and leaves out messages that no provider was asked for", () => {
    const nothing = { input_tokens: 0, output_tokens: 0 };
    const records = listUsage([
      answer("a", { usage: usage(10) }),
      answer("b", { usage: usage(11) }),
      answer("c", { message_id: "m", usage: nothing }),
      answer("d", {}),
    ]);
    expect(records.map(({ position, usage }) => [position, usage?.input])).toEqual([
      [0, 10],
      [1, 11],
    ]);
  });
});

describe("addUsage", () => {
  it("adds up each count, and a size is all that was sent", () => {
    const one = { input: 1, cacheRead: 20, cacheWrite: 300, output: 4000 };
    const sum = { input: 3, cacheRead: 40, cacheWrite: 600, output: 8001 };
    expect(addUsage(one, { input: 2, cacheRead: 20, cacheWrite: 300, output: 4001 })).toEqual(sum);
    expect(sizeOf(one)).toBe(321);
  });
});

describe("usage of two requests", () => {
  it("adds up, with what was paid in addition to plain tokens", () => {
    const plain = { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 };
    expect(addUsage({ ...plain, cacheWrite1h: 2 }, { ...plain, webSearches: 7 })).toEqual({
      input: 2,
      cacheRead: 4,
      cacheWrite: 6,
      output: 8,
      cacheWrite1h: 2,
      webSearches: 7,
    });
  });
});

const FLAT: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TIERED: ModelPrice = {
  ...FLAT,
  larger: [
    { above: 100, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5 },
    { above: 1000, input: 9, output: 45, cacheRead: 0.9, cacheWrite: 11.25 },
  ],
};
const count = fc.nat({ max: 1_000_000 });
const usages = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count });

describe("the price of a request", () => {
  it("counts each kind of token at its own price", () => {
    const usage = { input: 1_000_000, output: 100_000, cacheRead: 2_000_000, cacheWrite: 40_000 };
    expect(priceOf(usage, FLAT)).toBeCloseTo(3 + 1.5 + 0.6 + 0.15, 10);
  });

  it("is higher for what is kept in a cache for an hour, listed or twice the input, and for searches", () => {
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 100_000 };
    expect(priceOf({ ...usage, cacheWrite1h: 100_000 }, FLAT)).toBeCloseTo(0.6, 10);
    expect(priceOf({ ...usage, cacheWrite1h: 60_000 }, FLAT)).toBeCloseTo(0.51, 10);
    expect(priceOf({ ...usage, cacheWrite1h: 60_000 }, { ...FLAT, cacheWrite1h: 5 })).toBeCloseTo(0.45, 10);
    const larger = [{ above: 1000, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5, cacheWrite1h: 12 }];
    expect(priceOf({ ...usage, cacheWrite1h: 100_000 }, { ...FLAT, larger })).toBeCloseTo(1.2, 10);
    expect(priceOf({ ...usage, webSearches: 5 }, FLAT)).toBeCloseTo(0.375 + 0.05, 10);
    expect(priceOf({ ...usage, webSearches: 5 }, { ...FLAT, webSearches: 20 })).toBeCloseTo(0.375 + 0.1, 10);
  });

  it("follows the size of what was sent, cached tokens included, for the whole request", () => {
    const at = (input: number, cacheRead: number) => priceOf({ input, cacheRead, cacheWrite: 0, output: 0 }, TIERED);
    expect(at(100, 0)).toBeCloseTo(300e-6, 12);
    expect(at(101, 0)).toBeCloseTo(606e-6, 12);
    expect(at(1, 100)).toBeCloseTo(66e-6, 12);
    expect(at(1001, 0)).toBeCloseTo(9009e-6, 12);
    expect(priceOf({ input: 1, cacheRead: 0, cacheWrite: 0, output: 5000 }, TIERED)).toBeCloseTo(75003e-6, 12);
  });

  it("grows with every count and is nothing for nothing", () => {
    fc.assert(
      fc.property(usages, usages, (a, b) => {
        const both = {
          input: a.input + b.input,
          output: a.output + b.output,
          cacheRead: a.cacheRead + b.cacheRead,
          cacheWrite: a.cacheWrite + b.cacheWrite,
        };
        expect(priceOf(both, TIERED)).toBeGreaterThanOrEqual(priceOf(a, TIERED));
        expect(priceOf(both, FLAT)).toBeCloseTo(priceOf(a, FLAT) + priceOf(b, FLAT), 6);
      }),
    );
    expect(priceOf({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, TIERED)).toBe(0);
  });
});
