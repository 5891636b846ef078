import { describe, expect, it } from "vitest";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { type OpenAiChatOptions, toOpenAiChatThread } from "../../../src/core/model/openai-chat-thread.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

const time = { timestamp: "2026-03-01T09:00:00.000Z" };
const said = (id: string, message: string, message_id?: string): Event => ({
  type: "chat_response",
  id,
  ...time,
  message,
  ...(message_id !== undefined && { metadata: { message_id } }),
});
const thought = (id: string, reasoning: string, model?: string): Event => ({
  type: "chat_response",
  id,
  ...time,
  reasoning,
  ...(model !== undefined && { metadata: { model } }),
});
const call = (id: string, call_id: string, extra: object = {}): Event => ({
  type: "tool_call_request",
  id,
  ...time,
  call_id,
  name: "bash",
  arguments: { cmd: "ls" },
  ...extra,
});
const result = (id: string, call_id: string, content: unknown = "done"): Event =>
  ({ type: "tool_call_response", id, ...time, call_id, content, is_error: false }) as Event;

/** A call whose agent sends a text of its own while there is no result. */
const waiting = (id: string, call_id: string): Event =>
  call(id, call_id, { metadata: { unanswered: "Nothing came." } });

function viewOf(...turns: readonly (readonly Event[])[]): View {
  return { turns: turns.map((events, turn) => ({ origin: { kind: "kept", turn }, events })) };
}

type Item = Readonly<Record<string, unknown>>;

function itemsOf(view: View, options: OpenAiChatOptions = {}): readonly Item[] {
  return toOpenAiChatThread(view, options).items.map(({ item }) => item);
}

/** Messages in short: `user: ask e0.1`, `assistant: say e0.2 T:c1`, `tool c1: …`. */
function outline(view: View, options: OpenAiChatOptions = {}): readonly string[] {
  return itemsOf(view, options).map(({ role, content, tool_calls = [], tool_call_id }) => {
    const text = typeof content === "string" ? content.split("\n")[0] : JSON.stringify(content);
    const calls = (tool_calls as { id: string }[]).map(({ id }) => ` T:${id}`).join("");
    return `${String(role)}${tool_call_id === undefined ? "" : ` ${String(tool_call_id)}`}: ${text}${calls}`;
  });
}

const fromNotation = (notation: string, options?: OpenAiChatOptions): readonly string[] =>
  outline(projectTurns(parseConversation(notation), []), options);

function rules(view: View, options: OpenAiChatOptions = {}): readonly string[] {
  return toOpenAiChatThread(view, options).hardening.map(
    ({ rule, event, action }) => `${rule} ${action}${event === undefined ? "" : ` ${event}`}`,
  );
}

const INTERRUPTED = "[Tool call interrupted: no result was recorded, its outcome is unknown.]";

describe("toOpenAiChatThread", () => {
  it("puts the results of parallel calls right after them, in the order of the calls", () => {
    expect(fromNotation("U A T T t t A")).toEqual([
      "user: ask e0.1",
      "assistant: say e0.2 T:c1 T:c2",
      "tool c1: first line of e0.5",
      "tool c2: first line of e0.6",
      "assistant: say e0.7",
    ]);
    expect(outline(viewOf([call("a", "1"), call("b", "2"), result("c", "2", "two"), result("d", "1", "one")]))).toEqual(
      ["assistant:  T:1 T:2", "tool 1: one", "tool 2: two"],
    );
  });

  it("moves what is between a call and its result after it, harness texts as reminders of the user (C3)", () => {
    const view = viewOf([
      call("a", "1"),
      { type: "chat_request", id: "h", ...time, role: "system", content: "mind", metadata: { origin: "harness" } },
      said("m", "meanwhile"),
      result("b", "1"),
    ]);
    expect(itemsOf(view)).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "1", type: "function", function: { name: "bash", arguments: '{"cmd":"ls"}' } }],
      },
      { role: "tool", tool_call_id: "1", content: "done" },
      { role: "user", content: "<system-reminder>\nmind\n</system-reminder>" },
      { role: "assistant", content: "meanwhile" },
    ]);
    expect(itemsOf(view, { systemMessages: true })[2]).toEqual({ role: "system", content: "mind" });
    expect(outline(viewOf([call("a", "1"), said("m", "on"), result("b", "1")]))).toEqual([
      "assistant:  T:1",
      "tool 1: done",
      "assistant: on",
    ]);
    expect(rules(viewOf([call("a", "1"), said("m", "on"), result("b", "1")]))).toEqual(["C3 changed m"]);
  });

  it("answers calls that have no result, and leaves out results that nobody or somebody twice asked for (C1, C2, C4)", () => {
    const view = viewOf(
      [result("x", "none"), call("a", "1")],
      [call("b", "2"), result("c", "2"), result("d", "2", "again")],
    );
    expect(outline(view)).toEqual(["assistant:  T:1", `tool 1: ${INTERRUPTED}`, "assistant:  T:2", "tool 2: done"]);
    expect(rules(view)).toEqual(["C2 dropped x", "C4 dropped d", "C1 added"]);
  });

  it("says of a call without a result what its agent says, if that says something", () => {
    const view = viewOf([said("a", "looking"), waiting("b", "1"), call("c", "2"), said("d", "stopped")]);
    expect(outline(view).slice(1)).toEqual(["tool 1: Nothing came.", `tool 2: ${INTERRUPTED}`, "assistant: stopped"]);
    const odd = call("b", "1", { metadata: { unanswered: 7 } });
    expect(outline(viewOf([odd]))).toEqual(["assistant:  T:1", `tool 1: ${INTERRUPTED}`]);
  });

  it("takes the result of a later turn to its call", () => {
    expect(outline(viewOf([call("a", "1")], [said("m", "hm"), result("b", "1")]))).toEqual([
      "assistant:  T:1",
      "tool 1: done",
      "assistant: hm",
    ]);
  });

  it("derives ids that are repeated, too long or no ids from the event, and keeps names in the alphabet (C0, C4)", () => {
    const view = viewOf([
      call("e1", "1"),
      call("e2", "1"),
      call("e3", "a b"),
      call("e4", "x".repeat(41)),
      call(`e5-${"0".repeat(60)}#2`, "", { name: "mcp.read file" }),
    ]);
    const [message] = itemsOf(view);
    const calls = message!["tool_calls"] as { id: string; function: { name: string } }[];
    expect(calls.map(({ id }) => id)).toEqual(["1", "call_e2", "call_e3", "call_e4", `call_${"0".repeat(33)}_2`]);
    expect(calls[4]!.function.name).toBe("mcp_read_file");
    expect(itemsOf(view).map((item) => item["tool_call_id"])).toEqual([undefined, ...calls.map(({ id }) => id)]);
    expect(rules(view).filter((rule) => !rule.startsWith("C1"))).toEqual([
      "C4 changed e2",
      "C0 changed e3",
      "C0 changed e4",
      `C0 changed e5-${"0".repeat(60)}#2`,
      `C0 changed e5-${"0".repeat(60)}#2`,
    ]);
  });

  it("gives arguments as a text of JSON whatever they were (C6)", () => {
    const view = viewOf([
      call("a", "1", { arguments: {} }),
      call("b", "2", { arguments: '{"k": 1}' }),
      call("c", "3", { arguments: "*** Begin Patch" }),
      call("d", "4", { arguments: null }),
    ]);
    const calls = itemsOf(view)[0]!["tool_calls"] as { function: { arguments: string } }[];
    expect(calls.map((one) => one.function.arguments)).toEqual(["{}", '{"k": 1}', '{"input":"*** Begin Patch"}', "{}"]);
    expect(rules(view).filter((rule) => rule.startsWith("C6"))).toEqual(["C6 changed c", "C6 changed d"]);
  });

  it("sends reasoning only when asked, with what it led to, and to the family that made it (C5, C8)", () => {
    const view = viewOf([thought("r", "hm"), said("m", "so"), thought("s", "then", "gpt-5"), thought("t", " ")]);
    expect(itemsOf(view)).toEqual([{ role: "assistant", content: "so" }]);
    expect(rules(view)).toEqual(["C8 dropped r", "C8 dropped s", "C8 dropped t"]);
    const options = { reasoning: true, model: "deepseek-r1" };
    expect(itemsOf(view, options)).toEqual([{ role: "assistant", content: "so", reasoning_content: "hm" }]);
    expect(rules(view, options)).toEqual(["C8 dropped s", "C8 dropped t"]);
    expect(rules(view, { reasoning: true })).toEqual(["C8 dropped t", "C5 dropped s"]);
  });

  it("joins neighbours of one role, across turns and messages, never across a result (C7)", () => {
    const asked = (id: string, content: unknown, role = "user"): Event =>
      ({ type: "chat_request", id, ...time, role, content }) as Event;
    const picture = { type: "image", media_type: "image/png", data: "AAAA" };
    const view = viewOf(
      [asked("s", "Be brief.", "system"), asked("t", "Be kind.", "system"), asked("u", "How"), asked("v", "deep?")],
      [asked("w", [picture])],
      [said("a", "one", "m1"), said("b", "two", "m2"), call("c", "1", { metadata: { message_id: "m3" } })],
      [result("d", "1"), said("e", "three"), asked("x", "so"), asked("y", "what?")],
    );
    const { items } = toOpenAiChatThread(view, { system: "You are a pilot." });
    expect(items.map(({ events, item }) => [events.join(""), item["role"], item["content"]])).toEqual([
      ["st", "system", "You are a pilot.\n\nBe brief.\n\nBe kind."],
      [
        "uvw",
        "user",
        [
          { type: "text", text: "How" },
          { type: "text", text: "deep?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      ],
      ["abc", "assistant", "one\n\ntwo"],
      ["d", "tool", "done"],
      ["e", "assistant", "three"],
      ["xy", "user", "so\n\nwhat?"],
    ]);
    expect(items[2]!.item["tool_calls"]).toHaveLength(1);
  });

  it("joins the reasoning of joined messages, and adds nothing for a message without text", () => {
    const view = viewOf([thought("r", "hm"), said("a", "one", "m1"), thought("s", "so"), call("b", "1")]);
    const [message] = itemsOf(view, { reasoning: true });
    expect(message).toMatchObject({ role: "assistant", content: "one", reasoning_content: "hm\nso" });
    expect(message!["tool_calls"]).toHaveLength(1);
  });

  it("leaves out what is blank and says so (C0, C5)", () => {
    const view = viewOf([
      { type: "chat_request", id: "u", ...time, content: " \n" },
      { type: "chat_request", id: "v", ...time, content: [] },
      said("m", ""),
      {
        type: "chat_request",
        id: "w",
        ...time,
        content: [
          { type: "text", text: "" },
          { type: "text", text: "x" },
        ],
      },
      call("a", "1"),
      result("b", "1", ""),
    ]);
    expect(outline(view)).toEqual(["user: x", "assistant:  T:1", "tool 1: "]);
    expect(rules(view)).toEqual(["C0 dropped u", "C0 dropped v", "C5 dropped m", "C0 changed w"]);
  });

  it("shows the user's media as parts, names others, and drops what only another provider reads", () => {
    const parts = [
      { type: "text", text: "look" },
      { type: "image", media_type: "image/png", data: "AAAA" },
      { type: "image", url: "https://example.invalid/a.png" },
      { type: "document", media_type: "application/pdf", data: "BBBB", title: "b.pdf" },
      { type: "document", media_type: "text/csv", data: "CCCC", title: "c.csv" },
      { type: "document", url: "https://example.invalid/d.pdf" },
      { type: "attachment", name: "n.txt", text: "low tide" },
      { type: "image", data: { $attachment: "ab12" } },
      { type: "opaque", provider: "openai", value: { type: "input_audio", input_audio: {} } },
      { type: "opaque", provider: "openai", value: { type: "compaction" } },
      { type: "opaque", provider: "anthropic", value: { type: "text", text: "no" } },
    ];
    const view = viewOf([{ type: "chat_request", id: "u", ...time, content: parts } as Event]);
    expect(itemsOf(view)[0]!["content"]).toEqual([
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "image_url", image_url: { url: "https://example.invalid/a.png" } },
      { type: "file", file: { filename: "b.pdf", file_data: "data:application/pdf;base64,BBBB" } },
      { type: "text", text: "[document: c.csv]" },
      { type: "text", text: "[document: document https://example.invalid/d.pdf]" },
      { type: "text", text: "n.txt\nlow tide" },
      { type: "text", text: "[attachment ab12]" },
      { type: "input_audio", input_audio: {} },
    ]);
    expect(rules(view)).toEqual(["C0 changed u"]);
    const system = { type: "chat_request", id: "s", ...time, role: "developer", content: parts.slice(0, 3) } as Event;
    expect(itemsOf(viewOf([system]))).toEqual([
      { role: "developer", content: "look\n[image]\n[image https://example.invalid/a.png]" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://example.invalid/a.png" } },
        ],
      },
    ]);
  });

  it("shows the media of results after all results of the message", () => {
    const picture = [
      { type: "text", text: "shot" },
      { type: "image", media_type: "image/png", data: "AAAA" },
    ];
    const view = viewOf([call("a", "1"), call("b", "2"), result("c", "1", picture), result("d", "2")]);
    const { items } = toOpenAiChatThread(view);
    expect(items.slice(1).map(({ events, item }) => [events, item])).toEqual([
      [["c"], { role: "tool", tool_call_id: "1", content: "shot\n[image]" }],
      [["d"], { role: "tool", tool_call_id: "2", content: "done" }],
      [
        ["c"],
        {
          role: "user",
          content: [
            { type: "text", text: "[Media of the tool result above]" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
    ]);
  });

  it("places summaries as the view says and names their compaction", () => {
    const turns = parseConversation("U A | U A | U A");
    const shown = (inject: "pair" | "request" | "system") => {
      const compaction = makeCompaction("k", [0, 1], summaryOf("short", { inject }));
      return toOpenAiChatThread(projectTurns(turns, [compaction])).items.map(({ events, compaction: by, item }) => [
        by ?? events.join(" "),
        item["role"],
      ]);
    };
    const rest = [
      ["e2.1", "user"],
      ["e2.2", "assistant"],
    ];
    expect(shown("pair")).toEqual([["k", "user"], ["k", "assistant"], ...rest]);
    expect(shown("request")).toEqual([
      ["k", "user"],
      ["e2.2", "assistant"],
    ]);
    expect(shown("system")).toEqual([["k", "system"], ...rest]);
  });

  it("shows data the assistant gave as its JSON", () => {
    expect(fromNotation("U D")).toEqual(["user: ask e0.1", 'assistant: {"of":"e0.2"}']);
  });
});
