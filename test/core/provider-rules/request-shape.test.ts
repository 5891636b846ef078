import { describe, expect, it } from "vitest";
import { providerOf } from "../../../src/core/provider-rules/provider.ts";
import { recognizeRequest } from "../../../src/core/provider-rules/request-shape.ts";

const user = { role: "user", content: "go" };
const called = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: {} }] };

describe("recognizeRequest", () => {
  it.each<[string, unknown, string]>([
    ["contents", { contents: [] }, "google"],
    ["a list with parts", [{ role: "user", parts: [{ text: "go" }] }], "google"],
    ["input items", { input: [user] }, "openai-responses"],
    ["an input text", { input: "go" }, "openai-responses"],
    ["a list with calls that are items", [user, { type: "function_call", call_id: "a" }], "openai-responses"],
    ["a list with input texts", [{ role: "user", content: [{ type: "input_text", text: "go" }] }], "openai-responses"],
    ["messages with tool calls", { messages: [user, { role: "assistant", tool_calls: [] }] }, "openai-chat"],
    ["a list with tool messages", [user, { role: "tool", tool_call_id: "a", content: "" }], "openai-chat"],
    ["messages with image urls", [{ role: "user", content: [{ type: "image_url" }] }], "openai-chat"],
    [
      "messages that begin with a system message",
      { messages: [{ role: "system", content: "x" }, user] },
      "openai-chat",
    ],
    ["messages with blocks of calls", { messages: [user, called] }, "anthropic"],
    ["a list with blocks of calls", [user, called], "anthropic"],
    ["messages beside a system prompt", { system: "x", messages: [user] }, "anthropic"],
    ["messages for a Claude model", { model: "claude-opus-4-8", messages: [user] }, "anthropic"],
    ["messages for a GPT model", { model: "gpt-5.2", messages: [user] }, "openai-chat"],
    ["messages for a model of another maker", { model: "deepseek-v3", messages: [user] }, "openai-chat"],
    ["blocks of calls, whatever the model", { model: "deepseek-v3", messages: [user, called] }, "anthropic"],
  ])("tells %s", (_, value, provider) => {
    expect(recognizeRequest(value)?.provider).toBe(provider);
  });

  it("says which providers a list could be for when nothing tells them apart", () => {
    expect(recognizeRequest({ messages: [user] })?.possible).toEqual(["anthropic", "openai-chat"]);
    expect(recognizeRequest([user])?.possible).toEqual(["anthropic", "openai-chat", "openai-responses"]);
    expect(recognizeRequest([user, called])?.possible).toEqual(["anthropic"]);
  });

  it("brings what the body says about model, thinking and the response before", () => {
    expect(
      recognizeRequest({ model: "m", thinking: { type: "enabled" }, messages: [user], previous_response_id: "r1" }),
    ).toMatchObject({ model: "m", thinking: true, previousResponse: "r1" });
    expect(recognizeRequest({ messages: [user], thinking: { type: "disabled" } })?.thinking).toBe(false);
    expect(recognizeRequest({ messages: [user] })).not.toHaveProperty("thinking");
  });

  it.each([
    [null],
    [1],
    ["text"],
    [{}],
    [{ messages: "x" }],
    [{ error: { message: "no" } }],
    [[1, 2]],
    [[{ a: 1 }]],
    [{ messages: [{ type: "user", content: "go" }] }],
    [{ messages: [{ info: { role: "user" }, parts: [] }] }],
  ])("takes %j for no request", (value) => {
    expect(recognizeRequest(value)).toBeNull();
  });
});

describe("providerOf", () => {
  it("goes by the model, then by its maker", () => {
    expect(providerOf("us.anthropic.claude-opus-4-6-v1:0")).toBe("anthropic");
    expect(providerOf("models/gemini-3-pro")).toBe("google");
    for (const model of ["gpt-5.2", "openai/gpt-4.1", "o3-mini", "gpt-5-codex"])
      expect(providerOf(model)).toBe("openai-responses");
    expect(providerOf("claude-opus-4-8", "google")).toBe("anthropic");
    expect(providerOf(undefined, "google")).toBe("google");
    expect(providerOf("<synthetic>", "openai")).toBe("openai-responses");
    expect(providerOf("deepseek-v3")).toBeUndefined();
    expect(providerOf(undefined)).toBeUndefined();
  });
});
