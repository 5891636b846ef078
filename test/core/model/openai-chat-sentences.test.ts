// What a check says of a broken list for Chat Completions, sentence by sentence, and the neighbours of each breach.

import { describe, expect, it } from "vitest";
import { checkOpenAiChat, type OpenAiChatCheckOptions } from "../../../src/core/model/openai-chat-rules.ts";
import { listSentences } from "../../helpers/violations.ts";

type Message = Readonly<Record<string, unknown>>;
const user: Message = { role: "user", content: "a" };
const call = (id: unknown, extra: Message = {}): Message => ({
  id,
  type: "function",
  function: { name: "look", arguments: "{}", ...extra },
});
const asking = (...calls: unknown[]): Message => ({ role: "assistant", content: "", tool_calls: calls });
const tool = (tool_call_id: unknown): Message => ({ role: "tool", tool_call_id, content: "x", name: "look" });
const said: Message = { role: "assistant", content: "b" };

const say = (messages: readonly unknown[], options: OpenAiChatCheckOptions = {}) =>
  listSentences(checkOpenAiChat(messages, options));

describe("checkOpenAiChat says", () => {
  it("what is no message", () => {
    expect(say([])).toMatchInlineSnapshot(`
      [
        "C0 error 0: The list is empty.",
      ]
    `);
    expect(say([null, { role: "model", content: "x" }, { role: 5 }])).toMatchInlineSnapshot(`
      [
        "C0 error 0: The role is null; expected one of system, developer, user, assistant, tool, function.",
        "C0 error 1: The role is "model"; expected one of system, developer, user, assistant, tool, function.",
        "C0 error 2: The role is 5; expected one of system, developer, user, assistant, tool, function.",
      ]
    `);
    expect(say([{}], { compatible: true })).toMatchInlineSnapshot(`
      [
        "C0 error 0: The role is null; expected one of system, developer, user, assistant, tool, function.",
      ]
    `);
  });

  it("what is no content", () => {
    const roles = ["system", "developer", "user", "function"];
    expect(say(roles.map((role) => ({ role })))).toMatchInlineSnapshot(`
      [
        "C0 error 0: A message of the system has no content.",
        "C0 error 1: A message of the developer has no content.",
        "C0 error 2: A message of the user has no content.",
        "C0 error 3: A message of the function has no content.",
      ]
    `);
    expect(say([null, [], 5].map((content) => ({ role: "user", content })))).toMatchInlineSnapshot(`
      [
        "C0 error 0: A message of the user has no content.",
        "C0 error 1: The content is an empty list.",
        "C0 error 2: The content is neither a text nor a list of parts.",
      ]
    `);
    expect(
      say(roles.map((role) => ({ role, content: [{ type: "text" }, { type: "image_url" }] }))),
    ).toMatchInlineSnapshot(`
      [
        "C0 error 0.1: A part of type "image_url" is in a message of the system.",
        "C0 error 1.1: A part of type "image_url" is in a message of the developer.",
        "C0 error 3.1: A part of type "image_url" is in a message of the function.",
      ]
    `);
    expect(
      say([user, { role: "assistant", content: 5 }, { role: "assistant", content: [5, { type: "image_url" }] }]),
    ).toMatchInlineSnapshot(`
      [
        "C0 error 1: The content is neither a text nor a list of parts.",
        "C0 error 2.0: A part of type null is in a message of the assistant.",
        "C0 error 2.1: A part of type "image_url" is in a message of the assistant.",
      ]
    `);
    expect(say([user, { role: "assistant", content: [{ type: "refusal" }, { type: "text" }] }])).toEqual([]);
    expect(
      say([
        { role: "user", content: [{ type: "input_audio" }] },
        { role: "function", content: "x" },
      ]),
    ).toEqual([]);
  });

  it("what is no call", () => {
    const longest = "x".repeat(64);
    expect(
      say([
        user,
        asking(call(longest), 5, call(7), call(""), call("1", { name: 5 }), call("2", { name: "a.b" })),
        tool(longest),
        tool(undefined),
        tool(7),
        tool(""),
        tool("1"),
        tool("2"),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "C0 error 1.1: The id null of a call is not a text of 1–64 characters.",
        "C0 error 1.1: The tool name null is not 1–64 letters, digits, "_" or "-".",
        "C0 error 1.2: The id 7 of a call is not a text of 1–64 characters.",
        "C0 error 1.3: The id "" of a call is not a text of 1–64 characters.",
        "C0 error 1.4: The tool name 5 is not 1–64 letters, digits, "_" or "-".",
        "C0 error 1.5: The tool name "a.b" is not 1–64 letters, digits, "_" or "-".",
        "C0 error 3: The id null of a call is not a text of 1–64 characters.",
        "C0 error 4: The id 7 of a call is not a text of 1–64 characters.",
        "C0 error 5: The id "" of a call is not a text of 1–64 characters.",
        "C0 warning 1.0: The id "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is longer than 40 characters.",
        "C6 error 1.1: The arguments of a call are not JSON text.",
      ]
    `);
    expect(
      say([user, { ...said, tool_calls: [] }, { ...said, tool_calls: "x" }, { ...said, tool_calls: null }]),
    ).toMatchInlineSnapshot(`
      [
        "C0 error 1: tool_calls is not a list of calls.",
        "C0 error 2: tool_calls is not a list of calls.",
      ]
    `);
    expect(
      say([
        { ...user, tool_calls: [call("")] },
        { ...user, tool_calls: [] },
      ]),
    ).toEqual([]);
    const safest = "x".repeat(40);
    expect(say([user, asking(call(safest)), tool(safest)])).toEqual([]);
    expect(say([user, asking(call(`${safest}y`)), tool(`${safest}y`)])).toMatchInlineSnapshot(`
      [
        "C0 warning 1.0: The id "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy" is longer than 40 characters.",
      ]
    `);
  });

  it("which calls and results do not belong together", () => {
    expect(say([asking(call("1"))])).toMatchInlineSnapshot(`
      [
        "C1 error 0.0: The call "1" has no tool message.",
      ]
    `);
    expect(say([tool("1"), user, asking(call("1"))])).toMatchInlineSnapshot(`
      [
        "C1 error 2.0: The call "1" has no tool message.",
        "C2 error 0: The tool message of "1" answers no call of the message before it.",
      ]
    `);
    expect(say([user, asking(call("1"), call("2")), tool("2"), said, tool("1")])).toMatchInlineSnapshot(`
      [
        "C2 error 4: The tool message of "1" answers no call of the message before it.",
        "C3 error 1.0: Another message is between the call "1" and its tool message.",
      ]
    `);
    expect(say([user, asking(call("1"), call("1")), tool("1"), tool("1"), tool("2")])).toMatchInlineSnapshot(`
      [
        "C2 error 4: The tool message of "2" answers no call of the message before it.",
        "C4 error 1.1: Two calls of one message have the id "1".",
        "C4 error 3: The call "1" has a result already.",
      ]
    `);
    expect(say([user, asking(call("1")), tool("1"), asking(call("1")), tool("1")])).toMatchInlineSnapshot(`
      [
        "C4 warning 3.0: The id "1" is used by an earlier message.",
      ]
    `);
  });

  it("which arguments are none", () => {
    const none = ["", "{a", 5, undefined, {}].map((args, at) => call(`${at}`, { arguments: args }));
    expect(say([user, asking(...none), ...none.map(({ id }) => tool(id))])).toMatchInlineSnapshot(`
      [
        "C6 error 1.2: The arguments of a call are not JSON text.",
        "C6 error 1.3: The arguments of a call are not JSON text.",
        "C6 error 1.4: The arguments of a call are not JSON text.",
        "C6 warning 1.0: The arguments of a call are a text, but not JSON.",
        "C6 warning 1.1: The arguments of a call are a text, but not JSON.",
      ]
    `);
    const custom = { id: "1", type: "custom", custom: { name: "look", input: "{a" }, function: { name: "a.b" } };
    expect(say([user, asking(custom), tool("1")])).toEqual([]);
  });

  it("which message says nothing", () => {
    const nothing = [undefined, null, "", []].map((content) => ({ role: "assistant", content }));
    expect(say([user, ...nothing, { role: "assistant", refusal: null }])).toMatchInlineSnapshot(`
      [
        "C5 error 1: A message of the assistant has neither content nor calls.",
        "C5 error 2: A message of the assistant has neither content nor calls.",
        "C5 error 3: A message of the assistant has neither content nor calls.",
        "C5 error 4: A message of the assistant has neither content nor calls.",
        "C5 error 5: A message of the assistant has neither content nor calls.",
      ]
    `);
    for (const other of [{ refusal: "no" }, { audio: { id: "x" } }, { function_call: { name: "look" } }])
      expect(say([user, { role: "assistant", ...other }])).toEqual([]);
    expect(say([user, { ...asking(call("1")), content: [] }, tool("1")])).toEqual([]);
  });

  it("what only some servers take", () => {
    const nulls = [{ ...asking(call("1")), content: null }, { ...tool("1"), name: 5 }, user, user];
    expect(say([user, ...nulls, said], { compatible: true })).toMatchInlineSnapshot(`
      [
        "C5 warning 1: The content of a message with calls is null; some servers want "".",
        "C7 warning 2: A tool message has no name; some servers want it.",
        "C7 warning 3: The user speaks directly after a tool; some servers want the assistant between.",
        "C7 warning 4: Two messages of the user in a row; some servers want them to alternate.",
        "C7 warning 5: The last message is the assistant's; some servers take no prefill.",
      ]
    `);
    expect(say([user, ...nulls])).toEqual([]);
    const open = [user, { role: "assistant", tool_calls: [call("1")] }, tool("1"), said];
    expect(say(open, { compatible: true, complete: false })).toMatchInlineSnapshot(`
      [
        "C5 warning 1: The content of a message with calls is null; some servers want "".",
      ]
    `);
    expect(say([user, asking(call("1"), call("2")), tool("1"), tool("2"), said, user], { compatible: true })).toEqual(
      [],
    );
    expect(say([], { compatible: true })).toEqual(say([]));
  });

  it("which reasoning is sent back", () => {
    const thought = { ...said, reasoning_content: "hm" };
    expect(say([user, thought])).toMatchInlineSnapshot(`
      [
        "C8 warning 1: A message carries reasoning_content, which only some servers take back.",
      ]
    `);
    expect(say([user, { ...said, reasoning_content: 5 }, { ...user, reasoning_content: "hm" }])).toEqual([]);
    expect(say([user, thought], { reasoning: true })).toEqual([]);
    expect(say([user, thought], { reasoning: false })).toEqual(say([user, thought]));
  });
});
