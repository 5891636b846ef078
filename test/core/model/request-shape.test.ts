import { describe, expect, it } from "vitest";
import {
  isProviderName,
  PROVIDER_NAMES,
  providerOf,
  recognizeRequest,
} from "../../../src/core/model/provider-rules.ts";

const user = { role: "user", content: "go" };
const called = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: {} }] };

describe("recognizeRequest", () => {
  it.each<[string, unknown, string]>([
    ["contents", { contents: [] }, "google"],
    ["what Gemini CLI saves of a chat", { history: [{ role: "user", parts: [{ text: "hi" }] }] }, "google"],
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

  it("says which providers a list could be for when nothing distinguishes them", () => {
    expect(recognizeRequest({ messages: [user] })?.possible).toEqual(["anthropic", "openai-chat"]);
    expect(recognizeRequest([user])?.possible).toEqual(["anthropic", "openai-chat", "openai-responses"]);
    expect(recognizeRequest([user, called])?.possible).toEqual(["anthropic"]);
  });

  it("brings what the body says about model, thinking and the response before", () => {
    expect(
      recognizeRequest({ model: "m", thinking: { type: "enabled" }, messages: [user], previous_response_id: "r1" }),
    ).toMatchObject({ model: "m", thinking: true, previousResponse: "r1" });
    expect(recognizeRequest({ messages: [user], thinking: { type: "disabled" } })?.thinking).toBe(false);
    expect(recognizeRequest({ messages: [user] })?.thinking).toBeUndefined();
  });

  it("returns what was found unchanged", () => {
    expect(recognizeRequest({ input: "go" })).toEqual({
      provider: "openai-responses",
      possible: ["openai-responses"],
      list: [{ type: "message", role: "user", content: "go" }],
    });
    expect(recognizeRequest({ model: "gemini-3-pro", thinking: {}, messages: [] })).toEqual({
      provider: "openai-chat",
      possible: ["anthropic", "openai-chat"],
      list: [],
      model: "gemini-3-pro",
      thinking: true,
    });
    expect(recognizeRequest({ model: 5, thinking: true, messages: [user], previous_response_id: 5 })).toEqual({
      provider: "anthropic",
      possible: ["anthropic", "openai-chat"],
      list: [user],
    });
    expect(recognizeRequest([])).toMatchObject({ provider: "anthropic", list: [] });
  });

  it("lets the model decide among what the list can be, not against it", () => {
    const both = { possible: ["anthropic", "openai-chat"] };
    expect(recognizeRequest({ model: "claude-opus-4-8", messages: [user] })).toMatchObject({
      ...both,
      provider: "anthropic",
    });
    expect(recognizeRequest({ model: "claude-opus-4-8", contents: [1] })).toMatchObject({
      provider: "google",
      possible: ["google"],
      list: [1],
    });
    expect(recognizeRequest({ model: "gpt-5.2", system: "x", messages: [user] })?.provider).toBe("anthropic");
  });

  it("takes the list that has a list, contents before input before messages", () => {
    const [contents, input, messages] = [[{ role: "user", parts: [] }], [user], [called]];
    expect(recognizeRequest({ contents, input, messages })).toMatchObject({ provider: "google", list: contents });
    expect(recognizeRequest({ contents: "x", input, messages })).toMatchObject({
      provider: "openai-responses",
      list: input,
    });
    expect(recognizeRequest({ input: {}, messages })).toMatchObject({ provider: "openai-responses", list: messages });
  });

  it.each([
    ["message", "openai-responses"],
    ["reasoning", "openai-responses"],
    ["compaction", "openai-responses"],
    ["file_search_call", "openai-responses"],
    ["function_call_output", "openai-responses"],
    ["my_message", "anthropic"],
    ["messages", "anthropic"],
    ["function_call_outputs", "anthropic"],
    ["function_call_x", "anthropic"],
    [["message"], "anthropic"],
  ])("knows an item of the Responses API by the type %j", (type, provider) => {
    expect(recognizeRequest([user, { role: "user", type, content: "x" }])?.provider).toBe(provider);
    expect(recognizeRequest({ messages: [user, { role: "user", type, content: "x" }] })?.provider).toBe("anthropic");
    expect(recognizeRequest([{ type, content: "x" }])?.provider).toBe(
      provider === "anthropic" ? undefined : "openai-responses",
    );
  });

  it.each([
    ["input_text", "openai-responses"],
    ["output_text", "openai-responses"],
    ["image_url", "openai-chat"],
    ["input_audio", "openai-chat"],
    ["refusal", "openai-chat"],
    ["file", "openai-chat"],
    ["tool_use", "anthropic"],
    ["tool_result", "anthropic"],
    ["thinking", "anthropic"],
    ["redacted_thinking", "anthropic"],
    ["image", "anthropic"],
    ["document", "anthropic"],
    ["compaction", "anthropic"],
  ])("knows a list by a part of type %s", (type, provider) => {
    const list = [null, user, { role: "user", content: [5, null, { type }] }];
    expect(recognizeRequest(list)).toEqual({ provider, possible: [provider], list });
  });

  it("goes by what the roles say where the parts do not", () => {
    const developer = { role: "developer", content: "x" };
    const system = { role: "system", content: "x" };
    expect(recognizeRequest([user, developer])?.possible).toEqual(["openai-chat"]);
    expect(recognizeRequest([system, user])?.possible).toEqual(["openai-chat"]);
    expect(recognizeRequest([user, system])?.possible).toEqual(["anthropic", "openai-chat", "openai-responses"]);
    expect(recognizeRequest({ system: "y", messages: [system, user] })?.possible).toEqual(["anthropic"]);
    expect(recognizeRequest([system, called])?.possible).toEqual(["anthropic"]);
    expect(recognizeRequest({ messages: [{ ...user, tool_calls: "x" }] })?.possible).toEqual([
      "anthropic",
      "openai-chat",
    ]);
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
    [[{ role: 5 }]],
    [[{ role: 5, content: "x" }, null]],
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
    expect(providerOf("Claude-Opus-4-8", "google")).toBe("anthropic");
    expect(providerOf("deepseek-v3", "openai")).toBe("openai-responses");
    expect(providerOf("deepseek-v3", "anthropic")).toBe("anthropic");
    expect(providerOf("deepseek-v3", "deepseek")).toBeUndefined();
    expect(providerOf(undefined, "google")).toBe("google");
    expect(providerOf("<synthetic>", "openai")).toBe("openai-responses");
    expect(providerOf("deepseek-v3")).toBeUndefined();
    expect(providerOf(undefined)).toBeUndefined();
  });
});

describe("isProviderName", () => {
  it("knows the names of providers and no other words", () => {
    for (const name of PROVIDER_NAMES) expect(isProviderName(name)).toBe(true);
    for (const word of ["", "openai", "Google", "all"]) expect(isProviderName(word)).toBe(false);
  });
});
