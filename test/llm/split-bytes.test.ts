// @module-tag law
// A stream means the same however the network cuts it: between and inside lines, characters and blocks.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { sendHttp } from "../../src/llm/http-request.ts";
import { type ApiUnderTest, ASK, collect, openClient } from "../contract/llm-under-test.ts";
import { block } from "../helpers/raw-server.ts";
import { runs } from "../helpers/runs.ts";

vi.mock("../../src/llm/http-request.ts");

const TEXT = "Grüße, 世界 😀\n\nnext";
const event = (type: string, rest: object): string => block({ type, ...rest }, type);

const STREAMS: readonly (Pick<ApiUnderTest, "api" | "provider" | "path"> & { readonly text: string })[] = [
  {
    api: "anthropic",
    provider: "anthropic",
    path: "",
    text: [
      event("message_start", { message: { id: "m", model: "x", usage: {} } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: TEXT } }),
      event("ping", {}),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: {} }),
      event("message_stop", {}),
    ].join(""),
  },
  {
    api: "openai-chat",
    provider: "groq",
    path: "/v1",
    text: [
      ": a comment\n\n",
      block({ id: "c", model: "x", choices: [{ delta: { content: TEXT } }] }),
      block({ choices: [{ delta: {}, finish_reason: "stop" }] }),
      block("[DONE]"),
    ].join(""),
  },
  {
    api: "openai-responses",
    provider: "openai",
    path: "/v1",
    text: [
      event("response.output_text.delta", { delta: TEXT }),
      event("response.output_item.done", { item: { type: "message", content: [{ type: "output_text", text: TEXT }] } }),
      event("response.completed", { response: { id: "r", model: "x", status: "completed", output: [] } }),
    ].join(""),
  },
  {
    api: "google",
    provider: "google",
    path: "",
    text: [
      block({ candidates: [{ content: { parts: [{ text: TEXT }] } }] }),
      block({ candidates: [{ content: { parts: [] }, finishReason: "STOP" }] }),
    ].join(""),
  },
];

function cutAt(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % bytes.length), bytes.length].toSorted((a, b) => a - b);
  return cuts.slice(1).map((end, at) => bytes.slice(cuts[at], end));
}

async function* eachOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

describe.each(STREAMS)("$api stream", ({ text, ...api }) => {
  async function read(chunks: readonly Uint8Array[]): ReturnType<typeof collect> {
    vi.mocked(sendHttp).mockImplementation(async () => ({
      status: 200,
      headers: new Headers({ "content-type": "text/event-stream" }),
      body: eachOf(chunks),
    }));
    return collect((await openClient(api, "http://127.0.0.1:9")).stream(ASK));
  }

  it("means the same however it is cut", { tags: ["slow"] }, async () => {
    const bytes = new TextEncoder().encode(text);
    const whole = await read([bytes]);
    expect(whole.parts).toMatchObject([
      { type: "delta", text: TEXT },
      { type: "part", part: { kind: "message", text: TEXT } },
      { type: "stop", stop: { reason: "complete" } },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5000), { maxLength: 12 }), async (places) => {
        expect(await read(cutAt(bytes, places))).toEqual(whole);
      }),
      { numRuns: runs(60) },
    );
  });

  it("is never whole when its end is missing", async () => {
    const bytes = new TextEncoder().encode(text);
    const whole = await read([bytes]);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
        const { parts, error } = await read([bytes.slice(0, length)]);
        // What is left out after the stop says nothing more.
        if (error === null) expect(parts).toEqual(whole.parts);
        else expect(parts.every(({ type }) => type !== "stop")).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });
});
