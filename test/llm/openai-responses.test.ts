import { afterEach, describe, expect, it } from "vitest";
import { testLlmClient } from "../contract/llm-client.ts";
import { type ApiUnderTest, ASK, collect, openClient, stopOf } from "../contract/llm-under-test.ts";
import { block, json, type RawServer, startRawServer, stream } from "../helpers/raw-server.ts";
import { kept, request, thought, view } from "../helpers/sample-view.ts";

const error = (message: string, code: string | null, type = "invalid_request_error"): unknown => ({
  error: { message, type, param: null, code },
});
const event = (type: string, rest: object = {}): string => block({ type, sequence_number: 0, ...rest }, type);
const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
const response = { id: "resp_1", object: "response", status: "completed", model: "model-1-2026", output: [], usage };
const textItem = (text: string, rest: object = {}): object => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
  ...rest,
});
const created = event("response.created", { response: { ...response, status: "in_progress", usage: null } });
const itemDone = (item: object): string => event("response.output_item.done", { output_index: 0, item });

const API: ApiUnderTest = {
  api: "openai-responses",
  provider: "openai",
  path: "/v1",
  opening: (text) => [created, event("response.output_text.delta", { item_id: "msg_1", delta: text })],
  ending: () => [itemDone(textItem("fine")), event("response.completed", { response })],
  whole: (text) => ({ ...response, output: [textItem(text)] }),
  wrongKey: { status: 401, body: error("Incorrect API key provided: sk-te******KEY.", "invalid_api_key") },
  unknownModel: { status: 400, body: error("The requested model 'model-1' does not exist.", "model_not_found") },
  tooLong: [
    {
      status: 400,
      body: error(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "context_length_exceeded",
      ),
    },
    {
      status: 400,
      body: error("Your input exceeds the context window of this model. Please adjust your input and try again.", null),
    },
  ],
  rateLimited: { status: 429, body: error("Rate limit reached for model-1", "rate_limit_exceeded", "tokens") },
  overloaded: {
    status: 503,
    body: error(
      "Our servers are currently overloaded. Please try again later.",
      "server_is_overloaded",
      "server_error",
    ),
  },
  overloadedBlock: event("error", {
    code: "server_is_overloaded",
    message: "Our servers are currently overloaded.",
    param: null,
  }),
  models: { path: "/models", body: { object: "list", data: [{ id: "model-1", context_window: 1000 }] } },
};

testLlmClient(API);

describe("openai-responses client", () => {
  let server: RawServer;
  afterEach(() => server.close());

  async function read(...blocks: readonly string[]): ReturnType<typeof collect> {
    server = await startRawServer(stream(...blocks));
    return collect((await openClient(API, server.url)).stream(ASK));
  }

  it("asks that nothing is stored and that reasoning comes back encrypted", async () => {
    server = await startRawServer(json(API.whole("fine")));
    const client = await openClient(API, server.url);
    const tools = [{ name: "now", description: "Tells the time.", parameters: { type: "object" } }];
    await client.complete({ ...ASK, model: "gpt-5.6", system: "First.", tools, maxTokens: 9 });
    expect(server.requests[0]!.body).toEqual({
      model: "gpt-5.6",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] }],
      store: false,
      include: ["reasoning.encrypted_content"],
      instructions: "First.",
      tools: [{ type: "function", ...tools[0], strict: false }],
      max_output_tokens: 9,
    });
  });

  it.each(["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest"])(
    "does not ask %s for reasoning, which it has none of",
    async (model) => {
      server = await startRawServer(json(API.whole("fine")));
      await (await openClient(API, server.url)).complete({ ...ASK, model });
      expect(server.requests[0]!.body).not.toHaveProperty("include");
    },
  );

  it("keeps encrypted reasoning for the way back, and sends it", async () => {
    const { parts } = await read(
      created,
      event("response.reasoning_summary_text.delta", { delta: "Hmm." }),
      itemDone({
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Hmm." }],
        encrypted_content: "ZW5j",
      }),
      itemDone(textItem("Yes.", { phase: "final_answer" })),
      event("response.completed", { response }),
    );
    expect(parts).toEqual([
      { type: "delta", kind: "reasoning", text: "Hmm." },
      { type: "part", part: { kind: "reasoning", text: "Hmm.", metadata: { encrypted: "ZW5j" } } },
      { type: "part", part: { kind: "message", text: "Yes.", metadata: { phase: "final_answer" } } },
      {
        type: "stop",
        stop: { reason: "complete", providerReason: "completed", usage, model: "model-1-2026", id: "resp_1" },
      },
    ]);
    const reasoning = {
      ...thought("b", "Hmm."),
      metadata: { provider: "openai", model: "model-1", encrypted: "ZW5j" },
    };
    await collect(
      (await openClient(API, server.url)).stream({
        ...ASK,
        view: view(kept(0, request("a", "hi"), reasoning, request("c", "on"))),
      }),
    );
    expect(server.requests[1]!.body).toMatchObject({
      input: [{ role: "user" }, { type: "reasoning", encrypted_content: "ZW5j" }, { role: "user" }],
    });
  });

  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "refusal"],
    ["something_new", "unknown"],
  ])("reads an answer that is incomplete for %s as %s", async (providerReason, reason) => {
    const incomplete = { ...response, status: "incomplete", incomplete_details: { reason: providerReason } };
    const { parts } = await read(
      created,
      itemDone(textItem("half")),
      event("response.incomplete", { response: incomplete }),
    );
    expect(stopOf(parts)).toMatchObject({ reason, providerReason });
    await server.close();
    server = await startRawServer(json(incomplete));
    expect((await (await openClient(API, server.url)).complete(ASK)).stop).toMatchObject({ reason, providerReason });
  });

  it("says that a refusal is one", async () => {
    const refusal = { ...textItem(""), content: [{ type: "refusal", refusal: "I cannot." }] };
    const { parts } = await read(
      created,
      event("response.refusal.delta", { delta: "I cannot." }),
      itemDone(refusal),
      event("response.completed", { response }),
    );
    expect(parts).toMatchObject([
      { text: "I cannot." },
      { part: { kind: "message", text: "I cannot." } },
      { stop: { reason: "refusal" } },
    ]);
  });

  it("tells a failure that comes as an answer, streamed and not", async () => {
    const failed = {
      ...response,
      status: "failed",
      error: { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." },
    };
    expect((await read(created, event("response.failed", { response: failed }))).error).toMatchObject({
      code: "context_overflow",
    });
    await server.close();
    server = await startRawServer(json(failed));
    await expect((await openClient(API, server.url)).complete(ASK)).rejects.toMatchObject({ code: "context_overflow" });
  });

  it("takes an answer that calls itself failed for none, even where its event says completed", async () => {
    const failed = { ...response, status: "failed", error: null };
    server = await startRawServer(stream(created, event("response.completed", { response: failed })));
    const { error: failure } = await collect((await openClient(API, server.url, { attempts: 1 })).stream(ASK));
    expect(failure).toMatchObject({ code: "provider_failed" });
  });

  it("reads a call with arguments that are no JSON", async () => {
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "now", arguments: "{oops" };
    const { parts } = await read(created, itemDone(call), event("response.completed", { response }));
    expect(parts).toMatchObject([
      { part: { callId: "call_1", arguments: null, text: "{oops" } },
      { stop: { reason: "tool_calls" } },
    ]);
  });

  it("takes the items from the end when the stream did not tell of them", async () => {
    const { parts } = await read(created, event("response.completed", { response: API.whole("late") }));
    expect(parts).toMatchObject([{ part: { text: "late" } }, { stop: { reason: "complete" } }]);
  });
});
