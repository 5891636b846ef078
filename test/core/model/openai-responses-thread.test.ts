import { describe, expect, it } from "vitest";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import {
  type OpenAiResponsesOptions,
  toOpenAiResponsesThread,
} from "../../../src/core/model/openai-responses-thread.ts";
import { parseConversation } from "../../helpers/notation.ts";

const time = { timestamp: "2026-03-01T09:00:00.000Z" };
const asked = (id: string, content: unknown, extra: object = {}): Event =>
  ({ type: "chat_request", id, ...time, content, ...extra }) as Event;
const said = (id: string, message: unknown, metadata?: object): Event =>
  ({ type: "chat_response", id, ...time, message, ...(metadata && { metadata }) }) as Event;
const thought = (id: string, metadata: object): Event =>
  ({ type: "chat_response", id, ...time, reasoning: "hm", metadata }) as Event;
const call = (id: string, call_id: string, extra: object = {}): Event =>
  ({ type: "tool_call_request", id, ...time, call_id, name: "exec", arguments: { cmd: "ls" }, ...extra }) as Event;
const result = (id: string, call_id: string, content: unknown = "done"): Event =>
  ({ type: "tool_call_response", id, ...time, call_id, content, is_error: false }) as Event;
const opaque = (value: unknown, provider = "openai"): readonly unknown[] => [{ type: "opaque", provider, value }];

function viewOf(...turns: readonly (readonly Event[])[]): View {
  return { turns: turns.map((events, turn) => ({ origin: { kind: "kept", turn }, events })) };
}

type Item = Readonly<Record<string, unknown>>;

function itemsOf(view: View, options: OpenAiResponsesOptions = {}): readonly Item[] {
  return toOpenAiResponsesThread(view, options).items.map(({ item }) => item);
}

/** Items in short: `user ask e0.1`, `function_call c1`, `function_call_output c1 first line …`. */
function outline(view: View, options: OpenAiResponsesOptions = {}): readonly string[] {
  return itemsOf(view, options).map(({ type, role, content, call_id, output }) => {
    const texts = Array.isArray(content) ? content.map((part: Item) => part["text"] ?? part["type"]) : [output];
    const text = texts.join(" + ").split("\n")[0];
    return [role ?? type, call_id, text].filter((word) => word !== undefined && word !== "").join(" ");
  });
}

function rules(view: View, options: OpenAiResponsesOptions = {}): readonly string[] {
  return toOpenAiResponsesThread(view, options).hardening.map(
    ({ rule, event, action }) => `${rule} ${action}${event === undefined ? "" : ` ${event}`}`,
  );
}

const INTERRUPTED = "[Tool call interrupted: no result was recorded, its outcome is unknown.]";

describe("toOpenAiResponsesThread", () => {
  it("gives messages, calls and outputs as items without ids, in the order they were recorded", () => {
    const view = projectTurns(parseConversation("U A T T t A t | U D"), []);
    expect(outline(view)).toEqual([
      "user ask e0.1",
      "assistant say e0.2",
      "function_call c1",
      "function_call c2",
      "function_call_output c1 first line of e0.5",
      "assistant say e0.6",
      "function_call_output c2 first line of e0.7",
      "user ask e1.1",
      'assistant {"of":"e1.2"}',
    ]);
    expect(itemsOf(view)[0]).toEqual({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "ask e0.1" }],
    });
    expect(itemsOf(view)[2]).toEqual({
      type: "function_call",
      call_id: "c1",
      name: "tool",
      arguments: '{"input":"in e0.3"}',
    });
    expect(itemsOf(view).some((item) => "id" in item)).toBe(false);
    expect(rules(view)).toEqual([]);
  });

  it("leaves outputs where they were recorded, also after what the user or the harness says", () => {
    const mind = asked("h", "mind", { role: "system", metadata: { origin: "harness" } });
    const view = viewOf([call("a", "1"), mind, result("b", "1"), asked("u", "on")]);
    expect(outline(view)).toEqual([
      "function_call 1",
      "user <system-reminder>",
      "function_call_output 1 done",
      "user on",
    ]);
    expect(outline(view, { systemMessages: true })[1]).toBe("system mind");
  });

  it("answers calls without a result and drops results without a call (R1, R2)", () => {
    const view = viewOf([call("a", "1"), result("x", "2")], [call("b", "3")], [asked("u", "hm"), result("c", "3")]);
    expect(outline(view)).toEqual([
      "function_call 1",
      `function_call_output 1 ${INTERRUPTED}`,
      "function_call 3",
      "user hm",
      "function_call_output 3 done",
    ]);
    expect(rules(view)).toEqual(["R2 dropped x", "R1 added"]);
  });

  it("sends calls of free-text tools as such, with empty text when stripped", () => {
    const custom = { name: "apply_patch", metadata: { call_type: "custom" } };
    const view = viewOf([
      call("a", "1", { ...custom, arguments: "*** Begin" }),
      result("b", "1"),
      call("c", "2", { ...custom, arguments: {} }),
      call("d", "3", { ...custom, arguments: { input: "*** End" } }),
      call("e", "4", { ...custom, arguments: { input: "x", more: 1 } }),
      call("f", "5", { ...custom, arguments: null }),
    ]);
    expect(itemsOf(view).slice(0, 2)).toEqual([
      { type: "custom_tool_call", call_id: "1", name: "apply_patch", input: "*** Begin" },
      { type: "custom_tool_call_output", call_id: "1", output: "done" },
    ]);
    expect(itemsOf(view).flatMap((item) => item["input"] ?? [])).toEqual([
      "*** Begin",
      "",
      "*** End",
      '{"input":"x","more":1}',
      "",
    ]);
  });

  it("derives ids from events where it must, and keeps names in the alphabet (R0, R1)", () => {
    const view = viewOf(
      [call("e1", "1"), result("r1", "1")],
      [call("e2", "1", { name: "a.b" }), result("r2", "1"), call("e3", "x".repeat(65), { arguments: 7 })],
    );
    expect(itemsOf(view).map((item) => item["call_id"])).toEqual([
      "1",
      "1",
      "call_e2",
      "call_e2",
      "call_e3",
      "call_e3",
    ]);
    expect(itemsOf(view)[2]!["name"]).toBe("a_b");
    expect(rules(view)).toEqual(["R1 changed e2", "R0 changed e3", "R0 changed e2", "R0 changed e3", "R1 added"]);
  });

  it("sends reasoning only encrypted, of OpenAI, and to the family that made it (R6, R7)", () => {
    const own = { provider: "openai", model: "gpt-5.5-2026-01-01", encrypted: "e" };
    const view = viewOf([
      thought("a", own),
      thought("b", { ...own, provider: undefined }),
      thought("c", { ...own, model: "gpt-5.4" }),
      thought("d", { provider: "anthropic", encrypted: "e" }),
      thought("f", { encrypted: "e" }),
      thought("g", { provider: "openai" }),
    ]);
    const item = { type: "reasoning", summary: [], encrypted_content: "e" };
    expect(itemsOf(view, { model: "gpt-5.5" })).toEqual([item, item]);
    expect(rules(view, { model: "gpt-5.5" })).toEqual(["c", "d", "f", "g"].map((id) => `R7 dropped ${id}`));
    expect(itemsOf(view)).toEqual([item, item, item]);
  });

  it("sends what OpenAI gave as it was but without ids of reasoning, its compaction before what a model made (R8)", () => {
    const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "e" };
    const search = { type: "web_search_call", status: "completed", action: { type: "search" } };
    const view = viewOf([
      asked("u", "go"),
      said("a", "hm"),
      said("b", opaque({ id: "ws_1", ...search })),
      asked("c", opaque(compaction)),
      said("d", opaque({ type: "message", id: "msg_1", role: "assistant", content: "x" })),
    ]);
    expect(itemsOf(view).map((item) => item["id"] ?? item["role"] ?? item["type"])).toEqual([
      "user",
      "cmp_1",
      "assistant",
      "web_search_call",
      "assistant",
    ]);
    expect(itemsOf(view)[1]).toEqual(compaction);
    expect(itemsOf(view)[3]).toEqual(search);
    expect(rules(view)).toEqual(["R8 changed c"]);
    expect(rules(viewOf([asked("u", "go"), asked("c", opaque(compaction))]))).toEqual([]);
  });

  it("leaves OpenAI's compaction where it was, and makes reasoning with the given function, for an agent that stores items", () => {
    const compaction = { type: "compaction", encrypted_content: "x" };
    const view = viewOf([
      asked("q", "go"),
      thought("t", { provider: "openai", model: "gpt-5.5" }),
      said("a", "done"),
      said("c", opaque(compaction)),
    ]);
    const seen: unknown[] = [];
    const options: OpenAiResponsesOptions = {
      model: "gpt-5.4",
      compactionsStay: true,
      reasoningItem: ({ id }, model) => {
        seen.push([id, model]);
        return { type: "reasoning", summary: [] };
      },
    };
    expect(itemsOf(view, options).map(({ type }) => type)).toEqual(["message", "reasoning", "message", "compaction"]);
    expect(seen).toEqual([["t", "gpt-5.4"]]);
    expect(rules(view, options)).toEqual([]);
    expect(rules(view, { ...options, reasoningItem: () => undefined })).toEqual(["R7 dropped t"]);
  });

  it("drops opaque items that cannot stand alone, and other providers' (R1, R2, R7, R0)", () => {
    const view = viewOf([
      said("a", opaque({ type: "shell_call", call_id: "1" })),
      said("b", opaque({ type: "shell_call_output", call_id: "1" })),
      said("c", opaque({ type: "reasoning", id: "rs_1" })),
      said("d", opaque({ type: "x" }, "anthropic")),
      said("e", opaque({ type: "input_text", text: "x" })),
      said("f", opaque("text")),
      said("g", [{ type: "text", text: " " }]),
      said("h", ""),
    ]);
    expect(itemsOf(view)).toEqual([]);
    expect(rules(view)).toEqual([
      "R1 dropped a",
      "R2 dropped b",
      "R7 dropped c",
      "R7 dropped d",
      "R0 dropped e",
      "R7 dropped f",
      "R0 dropped g",
      "R0 dropped h",
    ]);
  });

  it("shows media as parts of the user's messages and of outputs, and names those of the assistant", () => {
    const media = [
      { type: "text", text: "look" },
      { type: "image", media_type: "image/png", data: "AAAA" },
      { type: "document", media_type: "application/pdf", data: "BBBB" },
      { type: "document", url: "https://example.invalid/d.pdf" },
    ];
    const parts = [
      { type: "input_text", text: "look" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_file", filename: "document.pdf", file_data: "data:application/pdf;base64,BBBB" },
      { type: "input_file", file_url: "https://example.invalid/d.pdf" },
    ];
    const view = viewOf([
      asked("u", media),
      asked("s", media.slice(0, 2), { role: "developer" }),
      said("m", media.slice(0, 2)),
      call("a", "1"),
      result("b", "1", media.slice(0, 2)),
      call("c", "2"),
      result("d", "2", [
        { type: "text", text: "x" },
        { type: "text", text: "y" },
      ]),
    ]);
    const items = itemsOf(view);
    expect(items.slice(0, 4).map(({ role, content }) => [role, content])).toEqual([
      ["user", parts],
      ["developer", parts.slice(0, 1)],
      ["user", parts.slice(1, 2)],
      [
        "assistant",
        [
          { type: "output_text", text: "look" },
          { type: "output_text", text: "[image]" },
        ],
      ],
    ]);
    expect(items.flatMap((item) => (item["output"] === undefined ? [] : [item["output"]]))).toEqual([
      parts.slice(0, 2),
      "x\ny",
    ]);
  });

  it("says again which of OpenAI's messages were commentary", () => {
    const view = viewOf([
      said("a", "x", { provider: "openai", phase: "commentary" }),
      said("b", "y", { phase: "final_answer" }),
      said("c", "z", { provider: "openai", phase: "other" }),
    ]);
    expect(itemsOf(view).map((item) => item["phase"])).toEqual(["commentary", undefined, undefined]);
  });
});
