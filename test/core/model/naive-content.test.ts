// Every kind of content and event as the naive lists show it, provider by provider, with its events.

import { describe, expect, it } from "vitest";
import type { Content, Event, EventMetadata } from "../../../src/core/conversation/event.ts";
import { type NaiveEntry, toNaiveList, toNaiveMessages } from "../../../src/core/model/naive-messages.ts";
import { PROVIDER_NAMES, type ProviderName } from "../../../src/core/model/provider-rules.ts";

const timestamp = "2026-01-01T00:00:00Z";
const said = (id: string, content: Content, role?: "system" | "developer"): Event => ({
  type: "chat_request",
  id,
  timestamp,
  content,
  ...(role !== undefined && { role }),
});
const answered = (id: string, fields: object): Event => ({ type: "chat_response", id, timestamp, ...fields });
const call = (id: string, args: unknown, metadata?: EventMetadata): Event => ({
  type: "tool_call_request",
  id,
  timestamp,
  call_id: `call-${id}`,
  name: "look",
  arguments: args,
  ...(metadata !== undefined && { metadata }),
});
const result = (id: string, of: string, content: Content): Event => ({
  type: "tool_call_response",
  id,
  timestamp,
  call_id: `call-${of}`,
  content,
  is_error: false,
});
const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
const gone = { type: "document" } as const;
const parts: Content = [
  { type: "text", text: "one" },
  image,
  { type: "opaque", provider: "anthropic", value: { type: "x" } },
  { type: "attachment", name: "notes.txt", text: "two" },
];

const view = (events: readonly Event[]) => ({ turns: [{ origin: { kind: "kept" as const, turn: 0 }, events }] });
const items = (...events: Event[]) => toNaiveMessages(view(events));
const list = (provider: ProviderName, ...events: Event[]): readonly NaiveEntry[] => toNaiveList(view(events), provider);

describe("toNaiveMessages", () => {
  it("takes a content apart: texts, media and attachments, nothing opaque", () => {
    const found = [
      { kind: "text", event: "a", text: "one" },
      { kind: "media", event: "a", part: image },
      { kind: "text", event: "a", text: "notes.txt\ntwo" },
    ];
    expect(items(said("a", parts))).toEqual([{ role: "user", items: found }]);
    expect(items(answered("a", { message: parts }))).toEqual([{ role: "assistant", items: found }]);
    expect(items(said("a", []))).toEqual([]);
  });

  it("shows the halves of a server's call to Anthropic alone", () => {
    const halves = [
      { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      { type: "web_search_tool_result", tool_use_id: "s", content: [] },
    ];
    const event = answered("a", {
      message: halves.map((value) => ({ type: "opaque", provider: "anthropic", value })),
    });
    expect(list("anthropic", event)).toEqual([{ value: { role: "assistant", content: halves }, events: ["a", "a"] }]);
    for (const provider of PROVIDER_NAMES.filter((name) => name !== "anthropic"))
      expect(list(provider, event)).toEqual([]);
  });

  it("takes a text as it is, and names one that is elsewhere", () => {
    const $attachment = "0".repeat(64);
    expect(items(said("a", { $attachment }))).toEqual([
      { role: "user", items: [{ kind: "text", event: "a", text: `[attachment ${$attachment}]` }] },
    ]);
  });

  it("puts what no person wrote between the marks of a reminder, media aside", () => {
    const reminder = { kind: "text", text: "<system-reminder>\nmind\n</system-reminder>" };
    const content: Content = [{ type: "text", text: "mind" }, image];
    expect(items(said("a", content, "system"), said("b", content, "developer"))).toEqual([
      {
        role: "user",
        items: [
          { ...reminder, event: "a" },
          { kind: "media", event: "a", part: image },
          { ...reminder, event: "b" },
          { kind: "media", event: "b", part: image },
        ],
      },
    ]);
  });

  it("writes data as JSON, and reasoning and calls as they are", () => {
    const events = [
      answered("a", { data: { x: 1 } }),
      answered("b", {}),
      answered("c", { reasoning: "hm" }),
      call("d", 1),
    ];
    expect(items(...events)).toEqual([
      {
        role: "assistant",
        items: [
          { kind: "text", event: "a", text: '{"x":1}' },
          { kind: "text", event: "b", text: "null" },
          { kind: "reasoning", event: "c", response: events[2] },
          { kind: "call", event: "d", call: events[3] },
        ],
      },
    ]);
  });

  it("puts the results of a user's message first and keeps their order, with their texts", () => {
    const [late, first] = [result("c", "x", parts), result("d", "y", "seen")];
    expect(items(said("a", "go"), said("b", "on"), late, first)).toEqual([
      {
        role: "user",
        items: [
          { kind: "result", event: "c", result: late, text: "one\ntwo" },
          { kind: "result", event: "d", result: first, text: "seen" },
          { kind: "text", event: "a", text: "go" },
          { kind: "text", event: "b", text: "on" },
        ],
      },
    ]);
  });

  it("leaves out events that no model is sent, between neighbours too", () => {
    const note: Event = { type: "note", id: "n", timestamp, kind: "progress" };
    expect(items(note)).toEqual([]);
    expect(items(said("a", "go"), note, said("b", "on")).map((message) => message.items.length)).toEqual([2]);
  });
});

describe("toNaiveList", () => {
  const events = [
    said("a", parts),
    answered("b", { reasoning: "hm" }),
    answered("c", { message: [{ type: "text", text: "look" }, gone] }),
    call("d", { x: 1 }, { signature: "c2ln" }),
    call("e", undefined),
    call("f", "raw"),
    result("g", "d", "seen"),
  ];

  it("shows everything in the shape of each provider", () => {
    const lines = (provider: ProviderName) => list(provider, ...events).map((entry) => JSON.stringify(entry));
    expect(lines("anthropic")).toMatchInlineSnapshot(`
      [
        "{"value":{"role":"user","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"notes.txt\\ntwo"}]},"events":["a","a","a"]}",
        "{"value":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"look"},{"type":"text","text":"[document]"},{"type":"tool_use","id":"call-d","name":"look","input":{"x":1}},{"type":"tool_use","id":"call-e","name":"look"},{"type":"tool_use","id":"call-f","name":"look","input":"raw"}]},"events":["b","c","c","d","e","f"]}",
        "{"value":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-d","content":"seen"}]},"events":["g"]}",
      ]
    `);
    expect(lines("openai-chat")).toMatchInlineSnapshot(`
      [
        "{"value":{"role":"user","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"notes.txt\\ntwo"}]},"events":["a","a","a"]}",
        "{"value":{"role":"assistant","content":"look\\n[document]","tool_calls":[{"id":"call-d","type":"function","function":{"name":"look","arguments":"{\\"x\\":1}"}},{"id":"call-e","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"call-f","type":"function","function":{"name":"look","arguments":"raw"}}]},"events":["d","e","f"]}",
        "{"value":{"role":"tool","tool_call_id":"call-d","content":"seen"},"events":["g"]}",
      ]
    `);
    expect(lines("openai-responses")).toMatchInlineSnapshot(`
      [
        "{"value":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]},"events":["a"]}",
        "{"value":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},"events":["a"]}",
        "{"value":{"type":"message","role":"user","content":[{"type":"input_text","text":"notes.txt\\ntwo"}]},"events":["a"]}",
        "{"value":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"look"}]},"events":["c"]}",
        "{"value":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"[document]"}]},"events":["c"]}",
        "{"value":{"type":"function_call","call_id":"call-d","name":"look","arguments":"{\\"x\\":1}"},"events":["d"]}",
        "{"value":{"type":"function_call","call_id":"call-e","name":"look","arguments":"{}"},"events":["e"]}",
        "{"value":{"type":"function_call","call_id":"call-f","name":"look","arguments":"raw"},"events":["f"]}",
        "{"value":{"type":"function_call_output","call_id":"call-d","output":"seen"},"events":["g"]}",
      ]
    `);
    expect(lines("google")).toMatchInlineSnapshot(`
      [
        "{"value":{"role":"user","parts":[{"text":"one"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"notes.txt\\ntwo"}]},"events":["a","a","a"]}",
        "{"value":{"role":"model","parts":[{"text":"look"},{"text":"[document]"},{"functionCall":{"name":"look","args":{"x":1}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"look"}},{"functionCall":{"name":"look","args":"raw"}}]},"events":["c","c","d","e","f"]}",
        "{"value":{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"seen"}}}]},"events":["g"]}",
      ]
    `);
  });

  it("says for Chat what accompanies calls, null when nothing does", () => {
    const calls = [call("a", {}), call("b", {})];
    expect(list("openai-chat", ...calls).map(({ value, events: ids }) => [value["content"], ids])).toEqual([
      [null, ["a", "b"]],
    ]);
    expect(list("openai-chat", answered("a", { message: "x" }), answered("b", { message: [gone] }))).toEqual([
      { value: { role: "assistant", content: "x\n[document]" }, events: ["a", "b"] },
    ]);
  });

  it("shows the images of a tool's result where each provider takes them", () => {
    const seen: Content = [{ type: "text", text: "seen" }, image, gone];
    const values = (provider: ProviderName) =>
      list(provider, call("d", {}), result("g", "d", seen))
        .slice(1)
        .map((entry) => JSON.stringify(entry));
    expect(PROVIDER_NAMES.map(values)).toMatchInlineSnapshot(`
      [
        [
          "{"value":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-d","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]},"events":["g"]}",
        ],
        [
          "{"value":{"role":"tool","tool_call_id":"call-d","content":"seen"},"events":["g"]}",
          "{"value":{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},"events":["g"]}",
        ],
        [
          "{"value":{"type":"function_call_output","call_id":"call-d","output":[{"type":"input_text","text":"seen"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},"events":["g"]}",
        ],
        [
          "{"value":{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"seen"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},"events":["g","g"]}",
        ],
      ]
    `);
    expect(list("anthropic", result("g", "d", [image]))[0]?.value["content"]).toMatchObject([
      { content: [{ type: "image" }] },
    ]);
  });

  it("shows a thought alone to no provider but Anthropic", () => {
    const thought = answered("a", { reasoning: "hm", metadata: { provider: "openai" } });
    expect(PROVIDER_NAMES.map((provider) => list(provider, thought))).toEqual([
      [{ value: { role: "assistant", content: [{ type: "thinking", thinking: "hm" }] }, events: ["a"] }],
      [],
      [],
      [],
    ]);
  });
});
