import { describe, expect, it } from "vitest";
import { checkOpenAiChat, type OpenAiChatCheckOptions } from "../../../src/core/model/openai-chat-rules.ts";
import { corpusMissing, listGoldens, readGolden } from "../../helpers/corpus.ts";
import { TINY_PNG } from "../../helpers/random-conversation.ts";

type Message = Readonly<Record<string, unknown>>;
const user = (content: unknown = "a"): Message => ({ role: "user", content });
const assistant = (content: unknown, ...calls: Message[]): Message => ({
  role: "assistant",
  content,
  ...(calls.length > 0 && { tool_calls: calls }),
});
const call = (id: string, args: unknown = "{}", name = "bash"): Message => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const tool = (tool_call_id: string, content: unknown = ""): Message => ({ role: "tool", tool_call_id, content });
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${TINY_PNG}` } };

/** Breaches as "rule message.block", warnings with a question mark. */
function check(messages: readonly unknown[], options: OpenAiChatCheckOptions = {}): string[] {
  return checkOpenAiChat(messages, options).map(({ rule, severity, position: { message, block } }) => {
    return `${rule}${severity === "warning" ? "?" : ""} ${message}${block === undefined ? "" : `.${block}`}`;
  });
}

describe("checkOpenAiChat", () => {
  it("finds nothing in a valid list", () => {
    const list = [
      { role: "system", content: "s" },
      { role: "developer", content: [{ type: "text", text: "d" }] },
      user([{ type: "text", text: "a" }, image, { type: "file", file: { file_data: "x" } }]),
      assistant(null, call("1"), call("2")),
      tool("2"),
      tool("1", [{ type: "text", text: "x" }]),
      assistant("b"),
      assistant("c", call("3")),
      tool("3"),
      user(),
    ];
    expect(check(list)).toEqual([]);
  });

  it("names rule, severity, provider, place and reason", () => {
    expect(checkOpenAiChat([user(), assistant("b", call("x")), user()])).toEqual([
      {
        rule: "C1",
        severity: "error",
        provider: "openai-chat",
        position: { message: 1, block: 0 },
        message: 'The call "x" has no tool message.',
      },
    ]);
  });

  it.each<[string, unknown[], string[]]>([
    ["an empty list", [], ["C0 0"]],
    ["what is no message", [null, 7, "x", [], {}], ["C0 0", "C0 1", "C0 2", "C0 3", "C0 4"]],
    ["an unknown role", [user(), { role: "model", content: "x" }], ["C0 1"]],
    ["content that is missing", [user(null), { role: "user" }, user([])], ["C0 0", "C0 1", "C0 2"]],
    ["content of no known form", [user({ text: "a" })], ["C0 0"]],
    ["media where only text may stand", [user(), assistant([image])], ["C0 1.0"]],
    ["a part of another API", [user([{ type: "input_text", text: "a" }])], ["C0 0.0"]],
    ["an empty list of calls", [user(), { role: "assistant", content: "a", tool_calls: [] }], ["C0 1"]],
    ["calls that are no list", [user(), { role: "assistant", content: "a", tool_calls: {} }], ["C0 1"]],
    ["an id that is too long", [user(), assistant("", call("x".repeat(65))), tool("x".repeat(65))], ["C0 1.0", "C0 2"]],
    ["an id that some refuse", [user(), assistant("", call("x".repeat(41))), tool("x".repeat(41))], ["C0? 1.0"]],
    ["a name that is none", [user(), assistant("", call("1", "{}", "a.b")), tool("1")], ["C0 1.0"]],
    ["an unanswered call at the end", [user(), assistant("b", call("1"))], ["C1 1.0"]],
    ["one of two calls unanswered", [user(), assistant("b", call("1"), call("2")), tool("1"), user()], ["C1 1.1"]],
    ["a result without a call", [user(), tool("1")], ["C2 1"]],
    ["a result at the very start", [tool("1"), user()], ["C2 0"]],
    ["a result of another call", [user(), assistant("b", call("1")), tool("1"), tool("2")], ["C2 3"]],
    ["a message between call and result", [user(), assistant("b", call("1")), user(), tool("1")], ["C2 3", "C3 1.0"]],
    ["two results of one call", [user(), assistant("b", call("1")), tool("1"), tool("1")], ["C4 3"]],
    ["one id for two calls of a message", [user(), assistant("b", call("1"), call("1")), tool("1")], ["C4 1.1"]],
    [
      "one id in two messages",
      [user(), assistant("b", call("1")), tool("1"), assistant("b", call("1")), tool("1")],
      ["C4? 3.0"],
    ],
    [
      "an assistant that says nothing",
      [user(), assistant(null), assistant(""), assistant([])],
      ["C5 1", "C5 2", "C5 3"],
    ],
    ["arguments that are no text", [user(), assistant("", call("1", {})), tool("1")], ["C6 1.0"]],
    ["arguments that are no JSON", [user(), assistant("", call("1", "{a")), tool("1")], ["C6? 1.0"]],
    ["reasoning nobody asked for", [user(), { ...assistant("b"), reasoning_content: "hm" }], ["C8? 1"]],
  ])("finds %s", (_, messages, found) => {
    expect(check(messages)).toEqual(found);
  });

  it("accepts a refusal instead of content, custom calls, and reasoning where it is asked for", () => {
    const custom = { id: "1", type: "custom", custom: { name: "apply_patch", input: "*** Begin" } };
    const list = [user(), { role: "assistant", refusal: "no" }, assistant(null, custom), tool("1")];
    expect(check(list)).toEqual([]);
    expect(check([user(), { ...assistant("b"), reasoning_content: "hm" }], { reasoning: true })).toEqual([]);
  });

  it("warns of what compatible servers refuse only when asked", () => {
    const list = [user(), assistant(null, call("1")), tool("1"), user(), user(), assistant("b")];
    expect(check(list)).toEqual([]);
    expect(check(list, { compatible: true })).toEqual(["C5? 1", "C7? 2", "C7? 3", "C7? 4", "C7? 5"]);
    expect(check([user(), assistant("b")], { compatible: true, complete: false })).toEqual([]);
    const strict = [user(), assistant("", call("1")), { ...tool("1"), name: "bash" }, assistant("b"), user()];
    expect(check(strict, { compatible: true })).toEqual([]);
  });
});

describe.skipIf(corpusMissing !== null)("requests of OpenCode (needs ../shared/goldens or JPG_CORPUS)", () => {
  it("break no rule", () => {
    const goldens = listGoldens("opencode");
    expect(goldens.length).toBeGreaterThan(0);
    for (const { golden } of goldens) {
      expect([golden, checkOpenAiChat(readGolden(golden) as unknown[])]).toEqual([golden, []]);
    }
  });
});
