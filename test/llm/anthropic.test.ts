import { afterEach, describe, expect, it } from "vitest";
import { testLlmClient } from "../contract/llm-client.ts";
import { type ApiUnderTest, ASK, collect, openClient, stopOf } from "../contract/llm-under-test.ts";
import { block, json, type RawServer, startRawServer, stream } from "../helpers/raw-server.ts";
import { answer, kept, request, view } from "../helpers/sample-view.ts";

const error = (type: string, message: string): unknown => ({ type: "error", error: { type, message } });
const event = (type: string, rest: object = {}): string => block({ type, ...rest }, type);
const message = { id: "msg_1", type: "message", role: "assistant", model: "model-1-2026", content: [] };
const start = event("message_start", {
  message: { ...message, stop_reason: null, usage: { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 3 } },
});

/** A whole block: its start, its deltas and its end. */
function blockEvents(index: number, content_block: object, ...deltas: readonly object[]): readonly string[] {
  return [
    event("content_block_start", { index, content_block }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ];
}

function ending(stop_reason: string): readonly string[] {
  return [event("message_delta", { delta: { stop_reason }, usage: { output_tokens: 9 } }), event("message_stop")];
}

const API: ApiUnderTest = {
  api: "anthropic",
  provider: "anthropic",
  path: "",
  opening: (text) => [start, ...blockEvents(0, { type: "text", text: "" }, { type: "text_delta", text }).slice(0, 2)],
  ending: () => [event("content_block_stop", { index: 0 }), ...ending("end_turn")],
  whole: (text) => ({
    ...message,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1 },
  }),
  wrongKey: { status: 401, body: error("authentication_error", "invalid x-api-key KEY") },
  unknownModel: { status: 404, body: error("not_found_error", "model: model-1") },
  tooLong: [
    { status: 400, body: error("invalid_request_error", "prompt is too long: 205432 tokens > 200000 maximum") },
    {
      status: 400,
      body: error(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again",
      ),
    },
    { status: 413, body: error("request_too_large", "Request exceeds the maximum size") },
  ],
  rateLimited: { status: 429, body: error("rate_limit_error", "This request would exceed your rate limit") },
  overloaded: { status: 529, body: error("overloaded_error", "Overloaded") },
  overloadedBlock: event("error", error("overloaded_error", "Overloaded") as object),
  models: {
    path: "/v1/models",
    body: {
      data: [
        {
          type: "model",
          id: "model-1",
          lifecycle: "active",
          max_input_tokens: 1000,
          max_tokens: 500,
          retires_at: null,
        },
        {
          type: "model",
          id: "model-0",
          lifecycle: "deprecated",
          max_input_tokens: null,
          max_tokens: null,
          retires_at: "2026-11-30T00:00:00Z",
        },
      ],
      has_more: false,
      first_id: "model-1",
      last_id: "model-0",
    },
  },
};

testLlmClient(API);

describe("anthropic client", () => {
  let server: RawServer;
  afterEach(() => server.close());

  async function read(...blocks: readonly string[]): ReturnType<typeof collect> {
    server = await startRawServer(stream(...blocks));
    return collect((await openClient(API, server.url)).stream(ASK));
  }

  it("keeps signatures and redacted thinking for the way back", async () => {
    const { parts } = await read(
      start,
      ...blockEvents(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "Hm" },
        { type: "thinking_delta", thinking: "m." },
        { type: "signature_delta", signature: "c2ln" },
      ),
      ...blockEvents(1, { type: "redacted_thinking", data: "ZW5j" }),
      ...blockEvents(2, { type: "text", text: "" }, { type: "text_delta", text: "Yes." }),
      ...ending("end_turn"),
    );
    expect(parts.flatMap((part) => (part.type === "part" ? [part.part] : []))).toEqual([
      { kind: "reasoning", text: "Hmm.", metadata: { signature: "c2ln" } },
      { kind: "reasoning", text: "", metadata: { encrypted: "ZW5j" } },
      { kind: "message", text: "Yes." },
    ]);
  });

  it("joins the counts of the start with those of the end", async () => {
    const { parts } = await read(start, ...ending("end_turn"));
    expect(stopOf(parts)).toEqual({
      reason: "complete",
      providerReason: "end_turn",
      usage: { input_tokens: 5, output_tokens: 9, cache_read_input_tokens: 3 },
      model: "model-1-2026",
      id: "msg_1",
    });
  });

  it.each([
    ["end_turn", "complete"],
    ["stop_sequence", "complete"],
    ["tool_use", "tool_calls"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["pause_turn", "unknown"],
    ["something_new", "unknown"],
    ["constructor", "unknown"],
  ])("reads the end %s as %s", async (providerReason, reason) => {
    const { parts } = await read(start, ...ending(providerReason));
    expect(stopOf(parts)).toMatchObject({ reason, providerReason });
  });

  it("reads calls without arguments, with those given at the start, and with what is no JSON", async () => {
    const { parts } = await read(
      start,
      ...blockEvents(0, { type: "tool_use", id: "toolu_1", name: "now", input: {} }),
      ...blockEvents(1, { type: "tool_use", id: "toolu_2", name: "at", input: { hour: 5 } }),
      ...blockEvents(
        2,
        { type: "tool_use", id: "toolu_3", name: "at", input: {} },
        { type: "input_json_delta", partial_json: '{"hour"' },
        { type: "input_json_delta", partial_json: ":" },
      ),
      ...ending("tool_use"),
    );
    expect(parts.slice(0, 3)).toMatchObject([
      { part: { callId: "toolu_1", name: "now", arguments: {} } },
      { part: { callId: "toolu_2", name: "at", arguments: { hour: 5 } } },
      { part: { callId: "toolu_3", name: "at", arguments: null, text: '{"hour":' } },
    ]);
  });

  it("names model and usage of an answer that was aborted", async () => {
    const controller = new AbortController();
    server = await startRawServer((response, incoming) => stream(...API.opening("half"))(response, incoming));
    const seen = [];
    for await (const part of (await openClient(API, server.url)).stream({ ...ASK, signal: controller.signal })) {
      seen.push(part);
      controller.abort();
    }
    expect(stopOf(seen)).toMatchObject({
      reason: "aborted",
      model: "model-1-2026",
      id: "msg_1",
      usage: { input_tokens: 5 },
    });
  });

  it("sends the system prompt before those of the conversation, and the tools", async () => {
    server = await startRawServer(json(API.whole("fine")));
    const prompt = { ...request("p", "From the conversation."), role: "system" as const };
    const tools = [{ name: "now", description: "Tells the time.", parameters: { type: "object" } }];
    await (await openClient(API, server.url)).complete({
      ...ASK,
      view: view(kept(0, prompt, request("a", "hello"), answer("b", "Hi."), request("c", "again"))),
      system: "First.",
      tools,
      maxTokens: 77,
    });
    expect(server.requests[0]).toMatchObject({
      url: "/v1/messages",
      headers: { authorization: expect.stringContaining("Bearer "), "anthropic-version": "2026-10-21" },
      body: {
        model: "model-1",
        max_tokens: 77,
        system: "First.\n\nFrom the conversation.",
        messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }],
        tools: [{ name: "now", description: "Tells the time.", input_schema: { type: "object" } }],
      },
    });
  });

  it("asks for long answers in one piece too, and for 8192 tokens when none are named", async () => {
    server = await startRawServer(json(API.whole("fine")));
    const client = await openClient(API, server.url);
    expect((await client.complete({ ...ASK, maxTokens: 128_000 })).stop.reason).toBe("complete");
    await client.complete(ASK);
    expect(server.requests.map(({ body }) => (body as { max_tokens: number }).max_tokens)).toEqual([128_000, 8192]);
  });

  it("asks to keep what is sent only when more will follow it", async () => {
    server = await startRawServer(json(API.whole("fine")));
    const client = await openClient(API, server.url);
    await client.complete({ ...ASK, cache: true });
    await client.complete(ASK);
    expect(server.requests[0]!.body).toMatchObject({ cache_control: { type: "ephemeral" } });
    expect(server.requests[1]!.body).not.toHaveProperty("cache_control");
  });

  it("takes an address with and without the version", async () => {
    server = await startRawServer(json(API.whole("fine")));
    for (const path of ["", "/", "/v1", "/v1/"]) await (await openClient({ ...API, path }, server.url)).complete(ASK);
    expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set(["/v1/messages"]));
  });

  it("counts tokens of what would be sent", async () => {
    server = await startRawServer(json({ input_tokens: 123 }), json({}));
    const client = await openClient(API, server.url, { attempts: 1 });
    expect(await client.countTokens!({ ...ASK, system: "First." })).toBe(123);
    expect(server.requests[0]).toMatchObject({ url: "/v1/messages/count_tokens", body: { system: "First." } });
    expect(server.requests[0]!.body).not.toHaveProperty("max_tokens");
    await expect(client.countTokens!(ASK)).rejects.toMatchObject({ code: "provider_failed" });
  });

  it("lists when a model ends", async () => {
    server = await startRawServer(json(API.models.body));
    expect(await (await openClient(API, server.url)).listModels!()).toEqual([
      { name: "model-1", contextWindow: 1000, maxOutput: 500 },
      { name: "model-0", retires: "2026-11-30T00:00:00Z" },
    ]);
  });
});
