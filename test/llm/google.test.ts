import { afterEach, describe, expect, it } from "vitest";
import { testLlmClient } from "../contract/llm-client.ts";
import { type ApiUnderTest, ASK, collect, openClient, stopOf } from "../contract/llm-under-test.ts";
import { block, json, type RawServer, startRawServer, stream } from "../helpers/raw-server.ts";
import { answer, kept, request, view } from "../helpers/sample-view.ts";

const error = (code: number, status: string, message: string, details: readonly object[] = []): unknown => ({
  error: { code, message, status, details },
});
const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
const chunk = (parts: readonly object[], finishReason?: string): object => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason !== undefined && { finishReason }), index: 0 }],
  modelVersion: "model-1-2026",
  responseId: "r1",
  usageMetadata,
});

const API: ApiUnderTest = {
  api: "google",
  provider: "google",
  path: "",
  opening: (text) => [block(chunk([{ text }]))],
  ending: () => [block(chunk([], "STOP"))],
  whole: (text) => chunk([{ text }], "STOP"),
  wrongKey: {
    status: 400,
    body: error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key. KEY", [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
    ]),
  },
  unknownModel: {
    status: 404,
    body: error(
      404,
      "NOT_FOUND",
      "models/model-1 is not found for API version v1beta, or is not supported for generateContent.",
    ),
  },
  tooLong: [
    {
      status: 400,
      body: error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
      ),
    },
    {
      status: 400,
      body: error(
        400,
        "INVALID_ARGUMENT",
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
      ),
    },
  ],
  rateLimited: { status: 429, body: error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.") },
  overloaded: { status: 503, body: error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.") },
  overloadedBlock: block(error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
  models: {
    path: "/v1beta/models",
    body: {
      models: [
        {
          name: "models/model-1",
          inputTokenLimit: 1000,
          outputTokenLimit: 500,
          supportedGenerationMethods: ["generateContent", "countTokens"],
        },
        { name: "models/embedding", inputTokenLimit: 10, supportedGenerationMethods: ["embedContent"] },
      ],
    },
  },
};

testLlmClient(API);

describe("google client", () => {
  let server: RawServer;
  afterEach(() => server.close());

  async function read(...chunks: readonly object[]): ReturnType<typeof collect> {
    server = await startRawServer(stream(...chunks.map((value) => block(value))));
    return collect((await openClient(API, server.url)).stream(ASK));
  }

  it("waits as long as the body of a refusal asks", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
    server = await startRawServer(
      json(error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", details), 429),
      json(API.whole("fine")),
    );
    const waits: number[] = [];
    await (await openClient(API, server.url, { waits })).complete(ASK);
    expect(waits).toEqual([34_500]);
  });

  it("joins texts of one kind, and keeps signatures for the way back", async () => {
    const { parts } = await read(
      chunk([{ text: "Hm", thought: true }]),
      chunk([{ text: "m.", thought: true }, { text: "I lo" }]),
      chunk([{ text: "ok." }, { text: "", thoughtSignature: "c2ln" }]),
      chunk([{ functionCall: { name: "now", args: {} }, thoughtSignature: "Y2FsbA==" }], "STOP"),
    );
    expect(parts.flatMap((part) => (part.type === "part" ? [part.part] : []))).toEqual([
      { kind: "reasoning", text: "Hmm." },
      { kind: "message", text: "I look.", metadata: { signature: "c2ln" } },
      {
        kind: "tool_call",
        callId: "call_r1_0",
        name: "now",
        arguments: {},
        text: "{}",
        metadata: { signature: "Y2FsbA==" },
      },
    ]);
  });

  it("makes ids for calls that have none, the same for the same answer", async () => {
    const calls = [
      { functionCall: { name: "now", args: {} } },
      { functionCall: { name: "now" } },
      { functionCall: { id: "own", name: "now" } },
    ];
    const { parts } = await read(chunk(calls, "STOP"));
    expect(parts.map((part) => part.type === "part" && part.part.kind === "tool_call" && part.part.callId)).toEqual([
      "call_r1_0",
      "call_r1_1",
      "own",
      false,
    ]);
    expect(stopOf(parts).reason).toBe("tool_calls");
  });

  it.each([
    ["STOP", "complete"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["PROHIBITED_CONTENT", "refusal"],
    ["BLOCKLIST", "refusal"],
    ["SPII", "refusal"],
    ["MALFORMED_FUNCTION_CALL", "unknown"],
    ["OTHER", "unknown"],
  ])("reads the end %s as %s", async (providerReason, reason) => {
    const { parts } = await read(chunk([{ text: "a" }], providerReason));
    expect(stopOf(parts)).toMatchObject({
      reason,
      providerReason,
      usage: usageMetadata,
      model: "model-1-2026",
      id: "r1",
    });
  });

  it("reads a request that was blocked as refused, streamed and not", async () => {
    const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata };
    expect(stopOf((await read(blocked)).parts)).toMatchObject({ reason: "refusal", providerReason: "SAFETY" });
    await server.close();
    server = await startRawServer(json(blocked));
    expect((await (await openClient(API, server.url)).complete(ASK)).stop.reason).toBe("refusal");
  });

  it("sends prompt, contents, tools and the longest length", async () => {
    server = await startRawServer(json(API.whole("fine")));
    const tools = [{ name: "now", description: "Tells the time.", parameters: { type: "object", properties: {} } }];
    const talk = view(kept(0, request("a", "hello"), answer("b", "Hi.")), kept(1, request("c", "again")));
    await (await openClient(API, server.url)).complete({ ...ASK, view: talk, system: "First.", tools, maxTokens: 9 });
    expect(server.requests[0]).toMatchObject({
      url: "/v1beta/models/model-1:generateContent",
      headers: { "x-goog-api-key": expect.any(String) },
    });
    expect(server.requests[0]!.body).toEqual({
      contents: [
        { role: "user", parts: [{ text: "hello" }] },
        { role: "model", parts: [{ text: "Hi." }] },
        { role: "user", parts: [{ text: "again" }] },
      ],
      systemInstruction: { parts: [{ text: "First." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "now", description: "Tells the time.", parametersJsonSchema: tools[0]!.parameters },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 9 },
    });
  });

  it("does not send a model's name that would change the address", async () => {
    server = await startRawServer(json(API.whole("fine")));
    const { error: failure } = await collect((await openClient(API, server.url)).stream({ ...ASK, model: "../x?y" }));
    expect([failure?.code, server.requests.length]).toEqual(["request_refused", 0]);
  });

  it("counts prompt and tools with the contents", async () => {
    server = await startRawServer(json({ totalTokens: 321 }), json({}));
    const tools = [{ name: "now", description: "Tells the time.", parameters: {} }];
    const client = await openClient(API, server.url, { attempts: 1 });
    expect(await client.countTokens!({ ...ASK, system: "First.", tools })).toBe(321);
    expect(JSON.stringify(server.requests[0]!.body)).toMatch(/First\..*Tells the time.*hello/);
    await expect(client.countTokens!(ASK)).rejects.toMatchObject({ code: "provider_failed" });
  });

  it("lists only models that answer", async () => {
    server = await startRawServer(json(API.models.body));
    expect(await (await openClient(API, server.url)).listModels!()).toEqual([
      { name: "model-1", contextWindow: 1000, maxOutput: 500 },
    ]);
  });

  it("takes an address with and without the version", async () => {
    server = await startRawServer(json(API.whole("fine")));
    for (const path of ["", "/", "/v1beta", "/v1beta/"])
      await (await openClient({ ...API, path }, server.url)).complete(ASK);
    expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set(["/v1beta/models/model-1:generateContent"]));
  });
});
