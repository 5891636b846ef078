// What a check says of a broken list for Anthropic, sentence by sentence, and the neighbours of each breach that are none.

import { describe, expect, it } from "vitest";
import {
  type AnthropicBlock,
  type AnthropicCheckOptions,
  type AnthropicMessage,
  checkAnthropic,
} from "../../../src/core/model/anthropic-rules.ts";
import { listSentences } from "../../helpers/violations.ts";

const user = (...content: AnthropicBlock[]): AnthropicMessage => ({ role: "user", content });
const assistant = (...content: AnthropicBlock[]): AnthropicMessage => ({ role: "assistant", content });
const system = (content: string): AnthropicMessage => ({ role: "system", content });
const text = (value: unknown): AnthropicBlock => ({ type: "text", text: value });
const call = (id: unknown): AnthropicBlock => ({ type: "tool_use", id, name: "look", input: {} });
const result = (id: unknown): AnthropicBlock => ({ type: "tool_result", tool_use_id: id, content: "" });
const thinking: AnthropicBlock = { type: "thinking", thinking: "hm", signature: "s" };
const redacted: AnthropicBlock = { type: "redacted_thinking", data: "d" };
const broken = (...messages: unknown[]) => messages as readonly AnthropicMessage[];

const say = (messages: readonly AnthropicMessage[], options: AnthropicCheckOptions = {}) =>
  listSentences(checkAnthropic(messages, options));

describe("checkAnthropic says", () => {
  it("what is no message", () => {
    const list = [user(text("a")), { role: "tool", content: "x" }, system("s")];
    expect(say(list)).toMatchInlineSnapshot(`
      [
        "A0 error 1: The role is "tool"; expected user, assistant or system.",
      ]
    `);
    expect(say(list, { model: "claude-sonnet-4-5" })).toMatchInlineSnapshot(`
      [
        "A0 error 1: The role is "tool"; expected user or assistant for claude-sonnet-4-5.",
        "A0 error 2: The role is "system"; expected user or assistant for claude-sonnet-4-5.",
      ]
    `);
    expect(say(broken({ content: "x" }, { role: "user", content: 5 }))).toMatchInlineSnapshot(`
      [
        "A0 error 0: The role is undefined; expected user, assistant or system.",
        "A11 error 1: A message of the user is empty.",
        "A12 error 0: The first message is of the undefined; expected the user.",
      ]
    `);
  });

  it("which calls and results do not belong together", () => {
    expect(say([assistant(call("1"))])).toMatchInlineSnapshot(`
      [
        "A1 error 0.0: tool_use "1" has no tool_result in the next message.",
        "A12 error 0: The first message is of the assistant; expected the user.",
      ]
    `);
    expect(say([user(text("a")), assistant(call("1")), assistant(result("1"))])).toMatchInlineSnapshot(`
      [
        "A1 error 1.0: tool_use "1" has no tool_result in the next message.",
        "A13 warning 2: Two messages of the assistant in a row; the API joins them.",
      ]
    `);
    expect(say([user(result("1")), assistant(call("1")), user(text("a"))])).toMatchInlineSnapshot(`
      [
        "A1 error 1.0: tool_use "1" has no tool_result in the next message.",
        "A2 error 0.0: tool_result "1" answers no tool_use of the message before it.",
      ]
    `);
    expect(
      say([
        user(text("a")),
        assistant(call("1"), call("2")),
        user(result("1")),
        assistant(text("b")),
        user(result("2"), result("2")),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "A2 error 4.0: tool_result "2" answers no tool_use of the message before it.",
        "A2 error 4.1: tool_result "2" answers no tool_use of the message before it.",
        "A3 error 1.1: The result of tool_use "2" comes later than the next message.",
        "A7 error 4.1: The id "2" has a result already.",
      ]
    `);
    expect(
      say([user(text("a")), assistant(call("1")), user(result("1")), assistant(call("1")), user(result("1"))]),
    ).toMatchInlineSnapshot(`
      [
        "A6 error 3.0: The id "1" is used by an earlier call.",
        "A7 error 4.0: The id "1" has a result already.",
      ]
    `);
  });

  it("what is in the wrong order or on the wrong side", () => {
    expect(
      say([
        user(text("a")),
        assistant(call("1"), text("b"), thinking, call("2")),
        user(text("c"), result("1"), result("2")),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "A4 error 2.1: tool_result "1" comes after other content.",
        "A4 error 2.2: tool_result "2" comes after other content.",
        "A5 error 1.1: A text block comes after a tool_use.",
        "A5 error 1.2: A thinking block comes after a tool_use.",
      ]
    `);
    expect(
      say([user(call("1"), text("a")), assistant(text("b"), result("1")), user(text("c"))]),
    ).toMatchInlineSnapshot(`
      [
        "A2 error 1.1: tool_result "1" answers no tool_use of the message before it.",
      ]
    `);
  });

  it("which ids no call can have", () => {
    expect(
      say([
        user(text("a")),
        assistant(call(undefined), call(5), call("a b")),
        user(result(undefined), result(5), result("a b")),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "A8 error 1.0: The id null of a tool_use is not 1–64 letters, digits, "_" or "-".",
        "A8 error 1.1: The id 5 of a tool_use is not 1–64 letters, digits, "_" or "-".",
        "A8 error 1.2: The id "a b" of a tool_use is not 1–64 letters, digits, "_" or "-".",
        "A8 error 2.0: The id null of a tool_result is not 1–64 letters, digits, "_" or "-".",
        "A8 error 2.1: The id 5 of a tool_result is not 1–64 letters, digits, "_" or "-".",
        "A8 error 2.2: The id "a b" of a tool_result is not 1–64 letters, digits, "_" or "-".",
      ]
    `);
    const longest = "x".repeat(64);
    expect(say([user(text("a")), assistant(call(longest)), user(result(longest))])).toEqual([]);
  });

  it("what is empty", () => {
    expect(
      say([user(text(" "), text(5)), assistant(), user(text("c")), assistant(text("b")), user()]),
    ).toMatchInlineSnapshot(`
      [
        "A10 error 0.0: A text is empty or only white space.",
        "A10 error 0.1: A text is empty or only white space.",
        "A11 error 1: A message of the assistant is empty.",
        "A11 error 4: A message of the user is empty.",
      ]
    `);
    expect(say([{ role: "user", content: "\n" }])).toMatchInlineSnapshot(`
      [
        "A10 error 0: A text is empty or only white space.",
      ]
    `);
    expect(say([])).toMatchInlineSnapshot(`
      [
        "A12 error 0: The list is empty.",
      ]
    `);
    expect(say([], { model: "claude-opus-4-8" })).toMatchInlineSnapshot(`
      [
        "A12 error 0: The list is empty.",
      ]
    `);
    expect(say([system("s")])).toMatchInlineSnapshot(`
      [
        "A12 error 0: No message of the user.",
      ]
    `);
  });

  it("what is wrong with roles and the end", () => {
    expect(say([assistant(text("a")), user(text("b")), user(text("c"))])).toMatchInlineSnapshot(`
      [
        "A12 error 0: The first message is of the assistant; expected the user.",
        "A13 warning 2: Two messages of the user in a row; the API joins them.",
      ]
    `);
    expect(say([user(text("a")), assistant(text("b\n"))], { model: "claude-opus-4-6" })).toMatchInlineSnapshot(`
      [
        "A14 error 1: The last message is the assistant's; claude-opus-4-6 takes no prefill.",
        "A15 error 1: The last message is the assistant's and ends in white space.",
      ]
    `);
    expect(say([user(text("a")), assistant(text(" b"))])).toEqual([]);
    expect(say([user(text("a ")), assistant(text("b ")), user(text("c "))])).toEqual([]);
    expect(say([user(text("a")), assistant(text("b ")), user(text("c"))], { model: "claude-opus-4-6" })).toEqual([]);
    expect(say([user(text("a")), assistant(text("b "), text(5))])).toMatchInlineSnapshot(`
      [
        "A10 error 1.1: A text is empty or only white space.",
      ]
    `);
    expect(say([user(text("a")), assistant(text("b "))], { complete: true })).toMatchInlineSnapshot(`
      [
        "A15 error 1: The last message is the assistant's and ends in white space.",
      ]
    `);
  });

  it("which thinking is missing or too much", () => {
    const loop = (...content: AnthropicBlock[]) => [user(text("a")), assistant(...content), user(result("1"))];
    expect(say(loop(call("1")), { thinking: true })).toMatchInlineSnapshot(`
      [
        "A17 error 1: Thinking is on and the message of an open tool loop does not start with it.",
      ]
    `);
    expect(say(loop(text("b"), thinking, call("1")), { thinking: true })).toMatchInlineSnapshot(`
      [
        "A17 error 1: Thinking is on and the message of an open tool loop does not start with it.",
      ]
    `);
    expect(say(loop(), { thinking: true })).toMatchInlineSnapshot(`
      [
        "A2 error 2.0: tool_result "1" answers no tool_use of the message before it.",
        "A11 error 1: A message of the assistant is empty.",
        "A17 error 1: Thinking is on and the message of an open tool loop does not start with it.",
      ]
    `);
    expect(say(loop(redacted, text("b"), thinking, call("1")), { thinking: false })).toMatchInlineSnapshot(`
      [
        "A18 error 1.0: Thinking is off and the last assistant message holds some.",
        "A18 error 1.2: Thinking is off and the last assistant message holds some.",
      ]
    `);
    for (const first of [thinking, redacted]) expect(say(loop(first, call("1")), { thinking: true })).toEqual([]);
  });

  it("nothing of thinking outside a loop of tools", () => {
    const ended = [user(text("a")), assistant(text("b")), user(text("c"))];
    for (const thinks of [true, false]) {
      expect(say(ended, { thinking: thinks })).toEqual([]);
      expect(say(ended.slice(0, 1), { thinking: thinks })).toEqual([]);
      expect(say([], { thinking: thinks })).toMatchObject(["A12 error 0: The list is empty."]);
    }
    expect(say([user(text("a")), user(result("1"))], { thinking: true })).toMatchInlineSnapshot(`
      [
        "A2 error 1.0: tool_result "1" answers no tool_use of the message before it.",
        "A13 warning 1: Two messages of the user in a row; the API joins them.",
      ]
    `);
    expect(
      say([user(text("a")), assistant(thinking), user(text("c")), assistant(text("d"))], { thinking: false }),
    ).toEqual([]);
  });

  it("which thinking is not signed", () => {
    const unsigned = [
      { type: "thinking", thinking: "hm" },
      { type: "thinking", thinking: "hm", signature: "" },
      { type: "thinking", thinking: "hm", signature: 5 },
      { type: "redacted_thinking" },
      { type: "redacted_thinking", data: "" },
      { type: "redacted_thinking", data: 5 },
    ];
    expect(say([user(text("a")), assistant(...unsigned, thinking, redacted), user(text("c"))])).toMatchInlineSnapshot(`
      [
        "A19 error 1.0: A thinking block has no signature.",
        "A19 error 1.1: A thinking block has no signature.",
        "A19 error 1.2: A thinking block has no signature.",
        "A19 error 1.3: A redacted_thinking block has no data.",
        "A19 error 1.4: A redacted_thinking block has no data.",
        "A19 error 1.5: A redacted_thinking block has no data.",
      ]
    `);
  });
});
