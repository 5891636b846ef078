import { describe, expect, it } from "vitest";
import type { LlmConnection } from "../../src/llm/client.ts";
import { createFailure } from "../../src/llm/errors.ts";

const CONNECTION: LlmConnection = {
  provider: "ollama",
  api: "openai-chat",
  keySetting: "TEST_KEY",
  urlSetting: "TEST_URL",
};

describe("createFailure", () => {
  it.each([
    ["http://localhost:11434/v1", "Start the server, or change TEST_URL."],
    ["http://127.0.0.1:1/", "Start the server, or change TEST_URL."],
    ["http://[::1]:1/", "Start the server, or change TEST_URL."],
    ["https://api.example/v1", "Check the network and TEST_URL."],
    [undefined, "Check the network and TEST_URL."],
  ])("says what helps when %s cannot be reached", (baseUrl, hint) => {
    const connection = { ...CONNECTION, ...(baseUrl !== undefined && { baseUrl }) };
    expect(createFailure({ connection, model: null }, "provider_unreachable").error.hints).toEqual([hint]);
  });

  it("names a model on one line, whatever it is called", () => {
    const { error } = createFailure({ connection: CONNECTION, model: "a\nb\u001b[2J" }, "unknown_model");
    expect(error.message).toBe("ollama (model a b [2J) does not have this model.");
  });
});
