import { describe, expect, it } from "vitest";
import type { Event, EventMetadata, View } from "../../../src/core/conversation/event.ts";
import { type GoogleOptions, toGoogleThread } from "../../../src/core/model/google-thread.ts";
import type { Thread } from "../../../src/core/model/thread.ts";

let count = 0;
const at = (): { id: string; timestamp: string } => ({ id: `e${++count}`, timestamp: "2026-03-01T09:00:00.000Z" });
const ask = (content: unknown, extra: object = {}): Event =>
  ({ type: "chat_request", ...at(), content, ...extra }) as Event;
const say = (message: string): Event => ({ type: "chat_response", ...at(), message });
const think = (reasoning: string): Event => ({ type: "chat_response", ...at(), reasoning });
const call = (call_id: string, metadata?: EventMetadata, args: unknown = {}): Event => ({
  type: "tool_call_request",
  ...at(),
  call_id,
  name: "look",
  arguments: args,
  ...(metadata && { metadata }),
});
const result = (call_id: string, content: unknown = `got ${call_id}`, is_error = false): Event =>
  ({ type: "tool_call_response", ...at(), call_id, content, is_error }) as Event;
const harness = (content: string): Event => ask(content, { role: "system", metadata: { origin: "harness" } });
const signed = (signature: string, model = "gemini-3-pro"): EventMetadata => ({ provider: "google", model, signature });

function viewOf(...events: readonly Event[]): View {
  return { turns: [{ origin: { kind: "kept", turn: 0 }, events }] };
}

/** A thread as `role: part part`. */
function outline({ messages }: Thread): readonly string[] {
  return messages.map(({ role, blocks }) => {
    const marks = blocks.map(({ block }) => {
      const mark = block["thoughtSignature"] === undefined ? "" : `@${String(block["thoughtSignature"]).slice(0, 4)}`;
      const tool = (block["functionCall"] ?? block["functionResponse"]) as Record<string, unknown> | undefined;
      if (block["functionCall"]) return `T${tool?.["id"] ?? ""}${mark}`;
      if (block["functionResponse"]) return `R${tool?.["id"] ?? ""}:${Object.values(tool?.["response"] as object)[0]}`;
      return block["text"] === undefined ? Object.keys(block)[0] : String(block["text"]).replaceAll("\n", "|");
    });
    return `${role}: ${marks.join(" ")}`;
  });
}

const render = (events: readonly Event[], options?: GoogleOptions): readonly string[] =>
  outline(toGoogleThread(viewOf(...events), options));

const rules = (thread: Thread): readonly string[] => thread.hardening.map(({ rule, action }) => `${rule} ${action}`);

describe("toGoogleThread", () => {
  it("leaves thoughts out, joins neighbours and puts results first, in the order of their calls", () => {
    const events = [
      ask("go"),
      think("hm"),
      say("both"),
      call("a"),
      call("b"),
      result("b"),
      harness("note"),
      result("a"),
      ask("also"),
    ];
    const thread = toGoogleThread(viewOf(...events));
    expect(outline(thread)).toEqual([
      "user: go",
      "assistant: both T T",
      "user: R:got a R:got b <system-reminder>|note|</system-reminder> also",
    ]);
    expect(thread.hardening).toEqual([{ rule: "G12", event: events[1]?.id, action: "dropped" }]);
  });

  it("answers the newest open call, drops older ones and results of unknown calls", () => {
    const thread = toGoogleThread(viewOf(ask("go"), call("old"), ask("again"), result("none"), call("new")));
    expect(outline(thread)).toEqual([
      "user: go again",
      "assistant: T",
      "user: R:[Tool call interrupted: no result was recorded, its outcome is unknown.]",
    ]);
    expect(rules(thread)).toEqual(["G4 dropped", "G5 dropped", "G4 added"]);
  });

  it("starts with the user, and ends with the user where it is sent as it is", () => {
    expect(render([say("hello")])).toEqual(["user: [Earlier messages are not shown.]", "assistant: hello"]);
    const whole = toGoogleThread(viewOf(ask("go"), say("done")), { complete: true });
    expect(outline(whole)).toEqual(["user: go", "assistant: done", "user: [No new message.]"]);
    expect(rules(whole)).toEqual(["G2 added"]);
  });

  it("gives Gemini 3 the signatures of its own calls and a dummy for others, first of each step only", () => {
    const events = [
      ask("go"),
      call("a", signed("c2ln")),
      call("b"),
      result("a"),
      result("b"),
      call("c", signed("b3Ro", "gemini-2.5-pro")),
      result("c"),
      call("d", { provider: "anthropic", signature: "b3Ro" }),
      result("d"),
    ];
    const steps = (options: GoogleOptions): readonly string[] =>
      render(events, options).filter((line) => line.startsWith("assistant"));
    const three = { model: "gemini-3-pro-preview" };
    expect(steps(three)).toEqual(["assistant: Ta@skip Tb", "assistant: Tc@skip", "assistant: Td@skip"]);
    expect(steps({ model: "gemini-3-pro" })).toEqual([
      "assistant: Ta@c2ln Tb",
      "assistant: Tc@skip",
      "assistant: Td@skip",
    ]);
    expect(steps({ model: "gemini-2.5-pro" })).toEqual(["assistant: T T", "assistant: T@b3Ro", "assistant: T"]);
    expect(steps({})).toEqual(["assistant: T@c2ln T", "assistant: T@b3Ro", "assistant: T"]);
  });

  it("keeps every message it has sent when the conversation continues", () => {
    const events = [
      ask("go"),
      call("a"),
      result("a"),
      say("one"),
      ask("more"),
      think("hm"),
      call("a"),
      result("a"),
      say("two"),
    ];
    const whole = toGoogleThread(viewOf(...events), { model: "gemini-3-pro" }).messages;
    for (const end of [1, 3, 4, 5, 8]) {
      const { messages } = toGoogleThread(viewOf(...events.slice(0, end)), { model: "gemini-3-pro" });
      expect(whole.slice(0, messages.length)).toEqual(messages);
    }
  });

  it("sends ids only to models that take them, made unique", () => {
    const events = [ask("go"), call("x y"), result("x y"), call("x y"), result("x y")];
    expect(render(events)).toEqual(["user: go", "assistant: T", "user: R:got x y", "assistant: T", "user: R:got x y"]);
    expect(toGoogleThread(viewOf(...events)).hardening).toEqual([]);
    const claude = toGoogleThread(viewOf(...events), { model: "claude-opus-4-8" });
    const [first, second] = [events[1]?.id, events[3]?.id].map((id) => `call_${id}`);
    expect(outline(claude).slice(1)).toEqual([
      `assistant: T${first}`,
      `user: R${first}:got x y`,
      `assistant: T${second}`,
      `user: R${second}:got x y`,
    ]);
    expect(rules(claude)).toEqual(["G11 changed", "G11 changed"]);
  });

  it("sends names of functions in the letters that the API takes", () => {
    const named = (name: string): Event => ({ ...call("a"), name }) as Event;
    const { messages } = toGoogleThread(viewOf(ask("go"), named("9 files.list"), result("a")));
    expect(messages[1]?.blocks[0]?.block).toMatchObject({ functionCall: { name: "_9_files.list" } });
    expect(messages[2]?.blocks[0]?.block).toMatchObject({ functionResponse: { name: "_9_files.list" } });
  });

  it("says which result was an error and puts its images after all results", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" };
    const events = [
      ask("go"),
      call("a"),
      call("b"),
      result("a", [{ type: "text", text: "see" }, image], true),
      result("b"),
    ];
    const { messages } = toGoogleThread(viewOf(...events));
    expect(messages[2]?.blocks.map(({ block }) => block)).toEqual([
      { functionResponse: { name: "look", response: { error: "see" } } },
      { functionResponse: { name: "look", response: { output: "got b" } } },
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
    ]);
  });

  it("sends arguments as an object, whatever they were", () => {
    const values = [{ path: "a" }, null, "*** patch", ["x"]];
    const events = values.flatMap((value, index) => [call(`c${index}`, undefined, value), result(`c${index}`)]);
    const { messages } = toGoogleThread(viewOf(ask("go"), ...events));
    const calls = messages.flatMap(({ blocks }) => blocks.flatMap(({ block }) => block["functionCall"] ?? []));
    expect(calls.map((sent) => (sent as { args: unknown }).args)).toEqual([
      { path: "a" },
      {},
      { input: "*** patch" },
      { input: ["x"] },
    ]);
  });

  it("sends media by what is known of them, and leaves out blank texts and what only others understand", () => {
    const thread = toGoogleThread(
      viewOf(
        ask([
          { type: "text", text: " " },
          { type: "document", url: "https://example.com/a.pdf", media_type: "application/pdf" },
          { type: "image", url: "https://example.com/a.png" },
          { type: "image" },
          { type: "attachment", name: "a.txt", text: "inside" },
          { type: "opaque", provider: "anthropic", value: { type: "compaction" } },
          { type: "opaque", provider: "google", value: { executableCode: { language: "PYTHON", code: "1" } } },
          { type: "opaque", provider: "google", value: { unknown: {} } },
        ]),
      ),
    );
    expect(thread.messages[0]?.blocks.map(({ block }) => block)).toEqual([
      { fileData: { mimeType: "application/pdf", fileUri: "https://example.com/a.pdf" } },
      { text: "[image https://example.com/a.png]" },
      { text: "[image]" },
      { text: "a.txt\ninside" },
      { executableCode: { language: "PYTHON", code: "1" } },
    ]);
    expect(rules(thread)).toEqual(["G7 changed", "G11 changed", "G11 changed"]);
  });

  it("names the compaction of what a summary says, and the event of the rest", () => {
    const told = ask("what was said");
    const kept = ask("go");
    const { messages } = toGoogleThread({
      turns: [
        { origin: { kind: "summary", from: 0, to: 1, compaction: "k1" }, events: [told] },
        { origin: { kind: "kept", turn: 2 }, events: [kept] },
      ],
    });
    expect(messages[0]?.blocks.map(({ event, compaction }) => event ?? compaction)).toEqual(["k1", kept.id]);
  });
});
