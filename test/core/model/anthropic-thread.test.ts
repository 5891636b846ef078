// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event, EventMetadata, View } from "../../../src/core/conversation/event.ts";
import { checkAnthropic } from "../../../src/core/model/anthropic-rules.ts";
import { toAnthropicThread } from "../../../src/core/model/anthropic-thread.ts";
import type { Thread } from "../../../src/core/model/thread.ts";
import { runs } from "../../helpers/runs.ts";

let count = 0;
const at = (): { id: string; timestamp: string } => ({ id: `e${++count}`, timestamp: "2026-03-01T09:00:00.000Z" });
const ask = (content: string, extra: object = {}): Event => ({ type: "chat_request", ...at(), content, ...extra });
const say = (message: string, message_id?: string): Event => ({
  type: "chat_response",
  ...at(),
  message,
  ...(message_id && { metadata: { message_id } }),
});
const think = (reasoning: string, metadata: EventMetadata): Event => ({
  type: "chat_response",
  ...at(),
  reasoning,
  metadata,
});
const call = (call_id: string, message_id?: string): Event => ({
  type: "tool_call_request",
  ...at(),
  call_id,
  name: "Read",
  arguments: {},
  ...(message_id && { metadata: { message_id } }),
});
const result = (call_id: string, content = `got ${call_id}`): Event => ({
  type: "tool_call_response",
  ...at(),
  call_id,
  content,
  is_error: false,
});
const harness = (content: string): Event => ask(content, { role: "system", metadata: { origin: "harness" } });

function viewOf(...turns: readonly (readonly Event[])[]): View {
  return { turns: turns.map((events, turn) => ({ origin: { kind: "kept", turn }, events })) };
}

/** A thread as `role: block block`, results and calls with their ids. */
function outline({ messages }: Thread): readonly string[] {
  return messages.map(({ role, blocks }) => {
    const marks = blocks.map(({ block }) => {
      if (block["type"] === "tool_use") return `T:${block["id"]}`;
      if (block["type"] === "tool_result") return `R:${block["tool_use_id"]}${block["is_error"] ? "!" : ""}`;
      if (block["type"] === "text") return String(block["text"]).replaceAll("\n", "|");
      return String(block["type"]);
    });
    return `${role}: ${marks.join(" ")}`;
  });
}

function rules(thread: Thread): readonly string[] {
  return thread.hardening.map(({ rule, action }) => `${rule} ${action}`);
}

describe("toAnthropicThread", () => {
  it("puts all results of parallel calls first into the next user message, in the order they were recorded", () => {
    const thread = toAnthropicThread(
      viewOf([ask("go"), say("both"), call("a"), call("b"), result("b"), harness("note"), result("a"), ask("also")]),
    );
    expect(outline(thread)).toEqual([
      "user: go",
      "assistant: both T:a T:b",
      "user: R:b R:a <system-reminder>|note|</system-reminder> also",
    ]);
    expect(thread.hardening).toEqual([]);
  });

  it("gives the newest unanswered call an error as result and drops older ones with their reasoning (A1, A16)", () => {
    const signed = { signature: "c2ln", message_id: "m1" };
    const old = call("old", "m1");
    const thread = toAnthropicThread(viewOf([ask("go"), think("hm", signed), old, ask("again"), call("new", "m2")]));
    expect(outline(thread)).toEqual(["user: go again", "assistant: T:new", "user: R:new!"]);
    expect(thread.hardening).toContainEqual({ rule: "A1", event: old.id, action: "dropped" });
    expect(rules(thread)).toEqual(["A1 dropped", "A16 dropped", "A1 added"]);
  });

  it("drops results without a call (A2) and second results of one call (A7)", () => {
    const thread = toAnthropicThread(
      viewOf([ask("go"), result("none"), call("a"), result("a"), result("a"), say("done")]),
    );
    expect(outline(thread)).toEqual(["user: go", "assistant: T:a", "user: R:a", "assistant: done"]);
    expect(rules(thread)).toEqual(["A2 dropped", "A7 dropped"]);
  });

  it("puts words of a message before its calls (A5)", () => {
    const thread = toAnthropicThread(
      viewOf([ask("go"), call("a", "m"), say("meanwhile", "m"), call("b", "m"), result("a"), result("b")]),
    );
    expect(outline(thread)).toEqual(["user: go", "assistant: meanwhile T:a T:b", "user: R:a R:b"]);
    expect(rules(thread)).toEqual(["A5 changed"]);
  });

  it("opens a message for words of another one after a call (A5)", () => {
    const thread = toAnthropicThread(
      viewOf([ask("go"), call("a", "m"), say("meanwhile", "n"), call("b", "n"), result("a"), result("b")]),
    );
    expect(outline(thread)).toEqual([
      "user: go",
      "assistant: T:a",
      "user: R:a",
      "assistant: meanwhile T:b",
      "user: R:b",
    ]);
    expect(rules(thread)).toEqual(["A5 changed"]);
  });

  it("makes ids unique and well-formed, the same in call and result (A6, A8)", () => {
    const long = "x".repeat(70);
    const thread = toAnthropicThread(
      viewOf(
        [ask("1"), call("a"), result("a")],
        [ask("2"), call("a"), result("a")],
        [ask("3"), call("call:1"), result("call:1"), call(long), result(long)],
      ),
    );
    const ids = thread.messages.flatMap(({ blocks }) =>
      blocks.flatMap(({ block }) => block["id"] ?? block["tool_use_id"] ?? []),
    );
    expect(ids).toEqual(["a", "a", "a_2", "a_2", "call_1", "call_1", "x".repeat(64), "x".repeat(64)]);
    expect(rules(thread)).toEqual(["A6 changed", "A8 changed", "A8 changed"]);
  });

  it("leaves out blank texts and the messages they were (A10, A11), and joins neighbours of one role (A13)", () => {
    const thread = toAnthropicThread(viewOf([ask("one"), say(" \n"), ask("two"), say("a"), say("b")]));
    expect(outline(thread)).toEqual(["user: one two", "assistant: a b"]);
    expect(rules(thread)).toEqual(["A10 dropped"]);
  });

  it("starts with the user (A12), does not end in reasoning (A16) nor in white space (A15)", () => {
    const thread = toAnthropicThread(viewOf([say("hello \n"), think("", { signature: "c2ln" })]));
    expect(outline(thread)).toEqual(["user: [Earlier messages are not shown.]", "assistant: hello"]);
    expect(rules(thread)).toEqual(["A16 dropped", "A15 changed", "A12 added"]);
    expect(toAnthropicThread(viewOf([]))).toEqual({ messages: [], hardening: [] });
  });

  it("sends reasoning only with a signature and to the family that made it (A19)", () => {
    const of = (metadata: EventMetadata): Event[] => [think("t", metadata), say("x")];
    const own = { signature: "s", model: "claude-sonnet-4-5-20250929", provider: "anthropic" };
    const view = viewOf([
      ask("go"),
      ...of(own),
      ...of({}),
      ...of({ ...own, model: "claude-opus-4-8" }),
      ...of({ ...own, provider: "openai" }),
      ...of({ encrypted: "e" }),
    ]);
    expect(outline(toAnthropicThread(view, { model: "claude-sonnet-4-5" }))[1]).toBe(
      "assistant: thinking x x x x redacted_thinking x",
    );
    expect(outline(toAnthropicThread(view))[1]).toBe("assistant: thinking x x thinking x x redacted_thinking x");
    expect(rules(toAnthropicThread(view, { model: "claude-sonnet-4-5" }))).toEqual([
      "A19 dropped",
      "A19 dropped",
      "A19 dropped",
    ]);
  });

  it("sends harness texts as system messages directly after a user message where the model has the role", () => {
    const view = viewOf([
      harness("first"),
      ask("go"),
      call("a"),
      harness("mid"),
      result("a"),
      say("ok"),
      harness("late"),
    ]);
    expect(outline(toAnthropicThread(view, { systemMessages: true }))).toEqual([
      "user: go",
      "system: first",
      "assistant: T:a",
      "user: R:a",
      "system: mid",
      "assistant: ok",
      "user: <system-reminder>|late|</system-reminder>",
    ]);
  });

  it("says where each block comes from: its event, or the compaction that put it there", () => {
    const request = ask("the summary", { metadata: { origin: "summary" } });
    const view: View = {
      turns: [
        { origin: { kind: "summary", from: 0, to: 3, compaction: "k3" }, events: [request] },
        ...viewOf([say("on")]).turns,
      ],
    };
    const [summary, answer] = toAnthropicThread(view).messages;
    expect(summary?.blocks).toEqual([{ compaction: "k3", block: { type: "text", text: "the summary" } }]);
    expect(answer?.blocks[0]).toHaveProperty("event");
  });

  it("converts parts, collapses references to tools that are gone, and drops what only another provider reads", () => {
    const parts: Event = {
      type: "chat_request",
      ...at(),
      content: [
        { type: "image", media_type: "image/png", data: "aGk=" },
        { type: "document", url: "https://example.invalid/a.pdf", title: "A" },
        { type: "attachment", name: "notes.txt", text: "low tide" },
        { type: "opaque", provider: "openai", value: { type: "computer_call" } },
        { type: "opaque", provider: "anthropic", value: { type: "search_result", title: "T" } },
      ],
    };
    const references: Event = {
      type: "tool_call_response",
      ...at(),
      call_id: "a",
      is_error: false,
      content: [{ type: "opaque", provider: "anthropic", value: { type: "tool_reference", tool_name: "Grep" } }],
    };
    const thread = toAnthropicThread(
      viewOf([parts, call("a"), references, { type: "chat_response", ...at(), data: { ok: true } }]),
    );
    expect(thread.messages[0]?.blocks.map(({ block }) => block)).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      { type: "document", source: { type: "url", url: "https://example.invalid/a.pdf" }, title: "A" },
      { type: "text", text: "notes.txt\nlow tide" },
      { type: "search_result", title: "T" },
    ]);
    expect(thread.messages[2]?.blocks[0]?.block["content"]).toEqual([
      { type: "text", text: "[Tool references removed - tools no longer available]" },
    ]);
    expect(outline(thread)[3]).toBe('assistant: {"ok":true}');
    expect(rules(thread)).toEqual(["A19 changed", "A21 changed"]);
  });

  it("makes any stream of events acceptable to the provider, the same every time, and names each event it leaves out", () => {
    const id = fc.constantFrom("a", "b", "c:d");
    const event = fc.oneof(
      fc.constantFrom("hi", " ", "").map((text) => () => ask(text)),
      fc.constantFrom("note", "").map((text) => () => harness(text)),
      fc.tuple(fc.constantFrom("ok", " "), fc.constantFrom("m1", "m2", undefined)).map(
        ([text, message]) =>
          () =>
            say(text, message),
      ),
      fc.constantFrom("m1", "m2").map((message_id) => () => think("t", { signature: "s", message_id })),
      fc.tuple(id, fc.constantFrom("m1", "m2")).map(
        ([name, message]) =>
          () =>
            call(name, message),
      ),
      id.map((name) => () => result(name)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(event, { maxLength: 8 }), { maxLength: 5 }),
        fc.boolean(),
        (turns, systemMessages) => {
          const view = viewOf(...turns.map((turn) => turn.map((make) => make())));
          const thread = toAnthropicThread(view, { systemMessages });
          const messages = thread.messages.map(({ role, blocks }) => ({
            role,
            content: blocks.map(({ block }) => block),
          }));
          if (messages.length > 0) expect(checkAnthropic(messages, {})).toEqual([]);
          expect(toAnthropicThread(view, { systemMessages })).toEqual(thread);
          const shown = new Set(thread.messages.flatMap(({ blocks }) => blocks.map((block) => block.event)));
          const named = new Set(
            thread.hardening.filter(({ action }) => action === "dropped").map((step) => step.event),
          );
          for (const { id: known } of view.turns.flatMap((turn) => turn.events))
            expect(shown.has(known) !== named.has(known)).toBe(true);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
