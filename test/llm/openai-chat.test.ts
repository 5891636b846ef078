import { afterEach, describe, expect, it } from "vitest";
import { testLlmClient } from "../contract/llm-client.ts";
import { type ApiUnderTest, ASK, collect, openClient, stopOf } from "../contract/llm-under-test.ts";
import { block, json, type RawServer, startRawServer, stream } from "../helpers/raw-server.ts";

const error = (message: string, code: string | null = null, type = "invalid_request_error"): unknown => ({
  error: { message, type, param: null, code },
});
const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}): string =>
  block({ id: "chatcmpl-1", model: "model-1-2026", choices: [{ index: 0, delta, finish_reason }], ...rest });
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const done = block("[DONE]");

const API: ApiUnderTest = {
  api: "openai-chat",
  provider: "groq",
  path: "/v1",
  opening: (text) => [chunk({ role: "assistant", content: "" }), chunk({ content: text })],
  ending: () => [chunk({}, "stop"), block({ id: "chatcmpl-1", choices: [], usage }), done],
  whole: (text) => ({
    id: "chatcmpl-1",
    model: "m",
    choices: [{ message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage,
  }),
  wrongKey: { status: 401, body: error("Incorrect API key provided: KEY. You can find it at …", "invalid_api_key") },
  unknownModel: {
    status: 404,
    body: error("The model `model-1` does not exist or you do not have access to it.", "model_not_found"),
  },
  tooLong: [
    {
      status: 400,
      body: error(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
        "context_length_exceeded",
      ),
    },
    // Groq, OpenRouter, llama.cpp, LM Studio (two), Ollama, vLLM, Mistral
    { status: 400, body: error("Please reduce the length of the messages or completion.", "context_length_exceeded") },
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (9000 of text input). Please reduce the length of either one",
        },
      },
    },
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message: "the request exceeds the available context size (4096 tokens), try increasing it",
          type: "exceed_context_size_error",
        },
      },
    },
    {
      status: 400,
      body: {
        error:
          "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
      },
    },
    {
      status: 400,
      body: { error: "The number of tokens to keep from the initial prompt is greater than the context length." },
    },
    { status: 400, body: error("the input length exceeds the context length") },
    {
      status: 400,
      body: {
        object: "error",
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        code: 400,
      },
    },
  ],
  rateLimited: { status: 429, body: error("Rate limit reached for model-1", "rate_limit_exceeded", "requests") },
  overloaded: {
    status: 503,
    body: error("The engine is currently overloaded, please try again later", null, "server_error"),
  },
  overloadedBlock: block({ error: { code: 503, message: "Provider is overloaded" } }),
  models: {
    path: "/models",
    body: {
      object: "list",
      data: [
        {
          id: "model-1",
          context_length: 1000,
          top_provider: { max_completion_tokens: 500 },
          pricing: { prompt: "0.00000015", completion: "0.0000006" },
        },
        { id: "groq-like", context_window: 131072, max_completion_tokens: 8192, active: false },
        { id: "vllm-like", max_model_len: 4096 },
        { id: "router", context_length: 2000000, pricing: { prompt: "-1", completion: "-1" } },
        { id: "free", pricing: { prompt: "0", completion: "0" }, expiration_date: "2026-12-31" },
        { id: "local", meta: { n_ctx_train: 32768 } },
        { object: "model" },
      ],
    },
  },
};

testLlmClient(API);

describe("openai-chat client", () => {
  let server: RawServer;
  afterEach(() => server.close());

  async function read(...blocks: readonly string[]): ReturnType<typeof collect> {
    server = await startRawServer(stream(...blocks));
    return collect((await openClient(API, server.url)).stream(ASK));
  }

  it("reads usage from the chunk after the end", async () => {
    const { parts } = await read(...API.opening("fine"), ...API.ending());
    expect(stopOf(parts)).toEqual({
      reason: "complete",
      providerReason: "stop",
      usage,
      model: "model-1-2026",
      id: "chatcmpl-1",
    });
  });

  it("reads usage where Groq puts it", async () => {
    const { parts } = await read(chunk({ content: "a" }), chunk({}, "stop", { x_groq: { usage } }), done);
    expect(stopOf(parts).usage).toEqual(usage);
  });

  it("asks for usage, and for no more tokens than named, by the name that the server knows", async () => {
    server = await startRawServer(stream(...API.opening("a"), ...API.ending()));
    await collect((await openClient(API, server.url)).stream({ ...ASK, maxTokens: 9, system: "First." }));
    await collect((await openClient({ ...API, provider: "openai" }, server.url)).stream({ ...ASK, maxTokens: 9 }));
    expect(server.requests[0]!.body).toEqual({
      model: "model-1",
      messages: [
        { role: "system", content: "First." },
        { role: "user", content: "hello" },
      ],
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(server.requests[1]!.body).toMatchObject({ max_completion_tokens: 9 });
  });

  it.each(["reasoning_content", "reasoning"])("reads reasoning that comes as %s", async (name) => {
    const { parts } = await read(
      chunk({ [name]: "Hm" }),
      chunk({ [name]: "m.", content: "" }),
      chunk({ content: "Yes." }),
      chunk({}, "stop"),
      done,
    );
    expect(parts.filter(({ type }) => type !== "stop")).toEqual([
      { type: "delta", kind: "reasoning", text: "Hm" },
      { type: "delta", kind: "reasoning", text: "m." },
      { type: "part", part: { kind: "reasoning", text: "Hmm." } },
      { type: "delta", kind: "message", text: "Yes." },
      { type: "part", part: { kind: "message", text: "Yes." } },
    ]);
  });

  const piece = (
    index: number | undefined,
    id: string | undefined,
    name: string | undefined,
    text: unknown,
  ): object => ({
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    function: { ...(name !== undefined && { name }), arguments: text },
  });

  it.each([
    [
      "pieces by number",
      [piece(0, "a", "f", '{"x"'), piece(1, "b", "g", "{}"), piece(0, undefined, undefined, ":1}")],
      ["a", "b"],
    ],
    ["whole, all with the same number", [piece(0, "a", "f", '{"x":1}'), piece(0, "b", "g", "{}")], ["a", "b"]],
    ["whole, without numbers", [piece(undefined, "a", "f", '{"x":1}'), piece(undefined, "b", "g", "")], ["a", "b"]],
    [
      "whole, without ids",
      [piece(0, "", "f", '{"x":1}'), piece(1, undefined, "g", "{}")],
      ["call_chatcmpl-1_0", "call_chatcmpl-1_1"],
    ],
    [
      "without anything but names",
      [piece(undefined, undefined, "f", { x: 1 }), piece(undefined, undefined, "g", null)],
      ["call_chatcmpl-1_0", "call_chatcmpl-1_1"],
    ],
  ])("reads calls that come as %s", async (_, pieces, ids) => {
    const { parts } = await read(...pieces.map((call) => chunk({ tool_calls: [call] })), chunk({}, "stop"), done);
    expect(parts.slice(0, 2)).toMatchObject([
      { part: { callId: ids[0], name: "f", arguments: { x: 1 } } },
      { part: { callId: ids[1], name: "g", arguments: {} } },
    ]);
    expect(stopOf(parts)).toMatchObject({ reason: "tool_calls", providerReason: "stop" });
  });

  it.each([
    ["stop", "complete"],
    ["length", "length"],
    ["content_filter", "refusal"],
    ["error", "unknown"],
    ["constructor", "unknown"],
  ])("reads the end %s as %s", async (providerReason, reason) => {
    const { parts } = await read(chunk({ content: "a" }), chunk({}, providerReason), done);
    expect(stopOf(parts)).toMatchObject({ reason, providerReason });
  });

  it("keeps arguments that are no JSON as the model wrote them", async () => {
    const { parts } = await read(chunk({ tool_calls: [piece(0, "a", "f", '{"x":')] }), chunk({}, "length"), done);
    expect(parts).toMatchObject([{ part: { arguments: null, text: '{"x":' } }, { stop: { reason: "length" } }]);
  });

  it("takes a refusal's text for the answer's, and says that it is one", async () => {
    const { parts } = await read(chunk({ refusal: "I cannot." }), chunk({}, "stop"), done);
    expect(parts).toMatchObject([
      { type: "delta", text: "I cannot." },
      { part: { text: "I cannot." } },
      { stop: { reason: "refusal" } },
    ]);
  });

  it("does not try again what no waiting helps against", async () => {
    server = await startRawServer(
      json(error("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), 429),
    );
    const { error: failure } = await collect((await openClient(API, server.url)).stream(ASK));
    expect([failure?.code, server.requests.length]).toEqual(["rate_limited", 1]);
  });

  it("tells an error that a server sends as an answer", async () => {
    server = await startRawServer(
      json({ error: { message: "Provider returned error", code: 400, metadata: { raw: "bad schema" } } }),
    );
    await expect((await openClient(API, server.url)).complete(ASK)).rejects.toMatchObject({
      code: "request_refused",
      message: expect.stringContaining("Provider returned error bad schema"),
    });
  });

  it("lists windows, limits, prices and ends as far as the server tells them", async () => {
    server = await startRawServer(json(API.models.body), json({ object: "list", data: null }));
    const client = await openClient(API, server.url);
    expect(await client.listModels!()).toEqual([
      { name: "model-1", contextWindow: 1000, maxOutput: 500, price: { input: 0.15, output: 0.6 } },
      { name: "groq-like", contextWindow: 131072, maxOutput: 8192, retires: "retired" },
      { name: "vllm-like", contextWindow: 4096 },
      { name: "router", contextWindow: 2000000 },
      { name: "free", price: { input: 0, output: 0 }, retires: "2026-12-31" },
      { name: "local", contextWindow: 32768 },
    ]);
    expect(await client.listModels!()).toEqual([]);
  });
});
