// Answers of the client contract: what every API's client makes of them, against a mock of the providers' APIs.
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readUsage } from "../../src/core/model/usage.ts";
import type { AnswerPart, Completion, LlmClient, LlmRequest } from "../../src/llm/client.ts";
import { call, kept, request, result, view } from "../helpers/sample-view.ts";
import { type ApiUnderTest, ASK, collect, deltasOf, openClient, stopOf } from "./llm-under-test.ts";

const WEATHER = {
  name: "weather",
  description: "Tells the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const TOOL_CALLS = [
  { name: "weather", arguments: '{"city":"Ulm"}', id: "call_a" },
  { name: "weather", arguments: '{"city":"Bonn"}', id: "call_b" },
];

const USAGE = {
  prompt_tokens: 30,
  completion_tokens: 7,
  input_tokens: 30,
  output_tokens: 7,
  promptTokenCount: 30,
  candidatesTokenCount: 7,
};

function asking(text: string): LlmRequest {
  return { ...ASK, view: view(kept(0, request("a", text))) };
}

function createMock(): LLMock {
  const mock = new LLMock({ port: 0, logLevel: "silent", chunkSize: 6 });
  mock.onMessage("say hello", { content: "Hello there, friend.", usage: USAGE });
  mock.onMessage("think", { content: "42", reasoning: "Let me see." });
  mock.onMessage("two cities", { toolCalls: TOOL_CALLS });
  mock.onMessage("text and call", { content: "I look.", toolCalls: TOOL_CALLS.slice(0, 1) });
  mock.on({ toolResultContains: "sunny" }, { content: "It is sunny." });
  return mock;
}

/** Declares these tests for one API. */
export function testAnswers(api: ApiUnderTest): void {
  describe(`${api.api} client: answers`, () => {
    const mock = createMock();
    let client: LlmClient;

    beforeAll(async () => {
      await mock.start();
      client = await openClient(api, mock.url);
    });
    afterAll(() => mock.stop());

    /** Asks both ways; both must give the same parts and reason. */
    async function ask(llmRequest: LlmRequest): Promise<Completion> {
      const { parts, error } = await collect(client.stream(llmRequest));
      expect(error).toBeNull();
      const streamed = parts.flatMap((part) => (part.type === "part" ? [part.part] : []));
      const whole = await client.complete(llmRequest);
      expect(streamed.map(withoutIds)).toEqual(whole.parts.map(withoutIds));
      expect(stopOf(parts).reason).toBe(whole.stop.reason);
      return { parts: streamed, stop: stopOf(parts) };
    }

    it("streams a text in pieces, then gives it whole, then stops", async () => {
      const { parts } = await collect(client.stream(asking("say hello")));
      expect(deltasOf(parts, "message").length).toBeGreaterThan(1);
      expect(deltasOf(parts, "message").join("")).toBe("Hello there, friend.");
      expect(parts.slice(-2)).toMatchObject([
        { type: "part", part: { kind: "message", text: "Hello there, friend." } },
        { type: "stop", stop: { reason: "complete" } },
      ]);
    });

    it("gives the provider's counts as they are, streamed and not", async () => {
      const { parts } = await collect(client.stream(asking("say hello")));
      const { stop } = await client.complete(asking("say hello"));
      for (const { usage } of [stopOf(parts), stop]) {
        expect(readUsage(usage)).toEqual({ input: 30, cacheRead: 0, cacheWrite: 0, output: 7 });
      }
      expect(stop.model).not.toBe("");
    });

    it("tells reasoning from the answer", async () => {
      const { parts } = await ask(asking("think"));
      expect(parts.map(({ kind }) => kind)).toEqual(["reasoning", "message"]);
      expect(parts.map((part) => (part.kind === "tool_call" ? "" : part.text))).toEqual(["Let me see.", "42"]);
    });

    it("gives parallel calls in their order, each whole and with an id of its own", async () => {
      const { parts, stop } = await ask({ ...asking("two cities"), tools: [WEATHER] });
      expect(stop.reason).toBe("tool_calls");
      expect(parts.filter(({ kind }) => kind !== "reasoning")).toMatchObject([
        { kind: "tool_call", name: "weather", arguments: { city: "Ulm" } },
        { kind: "tool_call", name: "weather", arguments: { city: "Bonn" } },
      ]);
      expect(new Set(parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []))).size).toBe(2);
    });

    it("gives a text before the call that follows it", async () => {
      const { parts } = await ask({ ...asking("text and call"), tools: [WEATHER] });
      expect(parts.map(({ kind }) => kind).filter((kind) => kind !== "reasoning")).toEqual(["message", "tool_call"]);
    });

    it("sends results back with their calls", async () => {
      const { parts, error } = await collect(
        client.stream({
          ...ASK,
          tools: [WEATHER],
          view: view(kept(0, request("a", "go on"), call("b", "weather", { city: "Ulm" }), result("c", "b", "sunny"))),
        }),
      );
      expect(error).toBeNull();
      expect(deltasOf(parts, "message").join("")).toBe("It is sunny.");
    });
  });
}

function withoutIds(part: AnswerPart): unknown {
  const { metadata: _, ...rest } = part;
  return part.kind === "tool_call" ? { ...rest, callId: "" } : rest;
}
