import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event, EventMetadata } from "../../../src/core/event.ts";
import { listUsage, readUsage, sizeOf } from "../../../src/core/tokens/usage.ts";

describe("readUsage", () => {
  it.each<[string, object, object]>([
    [
      "Anthropic, cached tokens beside the input",
      { input_tokens: 4, cache_creation_input_tokens: 30, cache_read_input_tokens: 200, output_tokens: 7 },
      { input: 4, cacheRead: 200, cacheWrite: 30, output: 7 },
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

describe("listUsage", () => {
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
    expect(records).toMatchObject([
      { position: 0, end: 3, model: "claude", usage: { input: 12 } },
      { position: 3, end: 4, usage: { input: 30 } },
    ]);
  });

  it("takes events without a message id one by one, and leaves out messages that no provider was asked for", () => {
    const nothing = { input_tokens: 0, output_tokens: 0 };
    const records = listUsage([
      answer("a", { usage: usage(10) }),
      answer("b", { usage: usage(11) }),
      answer("c", { message_id: "m", usage: nothing }),
      answer("d", {}),
    ]);
    expect(records.map(({ position, usage: { input } }) => [position, input])).toEqual([
      [0, 10],
      [1, 11],
    ]);
  });
});
