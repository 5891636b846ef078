import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  type AnthropicBlock,
  type AnthropicCheckOptions,
  type AnthropicMessage,
  checkAnthropic,
  hasModelFeature,
} from "../../../src/core/model/anthropic-rules.ts";

const user = (...content: AnthropicBlock[]): AnthropicMessage => ({ role: "user", content });
const assistant = (...content: AnthropicBlock[]): AnthropicMessage => ({ role: "assistant", content });
const system = (content: string): AnthropicMessage => ({ role: "system", content });
const text = (value: string): AnthropicBlock => ({ type: "text", text: value });
const call = (id: string): AnthropicBlock => ({ type: "tool_use", id, name: "Bash", input: {} });
const result = (id: string): AnthropicBlock => ({ type: "tool_result", tool_use_id: id, content: "" });
const search = (id: string): AnthropicBlock => ({ type: "server_tool_use", id, name: "web_search", input: {} });
const found = (id: string): AnthropicBlock => ({ type: "web_search_tool_result", tool_use_id: id, content: [] });
const thinking = (signature?: string): AnthropicBlock => ({
  type: "thinking",
  thinking: "hm",
  ...(signature === undefined ? {} : { signature }),
});

/** Breaches as "rule message.block". */
function check(messages: readonly AnthropicMessage[], options: AnthropicCheckOptions = {}): string[] {
  return checkAnthropic(messages, options).map(
    ({ rule, position }) => `${rule} ${position.message}${position.block === undefined ? "" : `.${position.block}`}`,
  );
}

describe("checkAnthropic", () => {
  it("finds nothing in a valid list", () => {
    expect(
      check([
        user(text("a")),
        assistant(thinking("s"), text("b"), call("1"), call("2")),
        user(result("1"), result("2"), text("c")),
        assistant(text("d")),
        { role: "user", content: "e" },
      ]),
    ).toEqual([]);
  });

  it("names rule, severity, provider, place and reason", () => {
    expect(checkAnthropic([user(text("a")), assistant(call("x")), user(text("b"))])).toEqual([
      {
        rule: "A1",
        severity: "error",
        provider: "anthropic",
        position: { message: 1, block: 0 },
        message: 'tool_use "x" has no tool_result in the next message.',
      },
    ]);
  });

  it.each<[string, AnthropicMessage[], string[]]>([
    ["an unanswered call at the end", [user(text("a")), assistant(call("1"))], ["A1 1.0"]],
    ["a result without a call", [user(text("a")), assistant(text("b")), user(result("1"))], ["A2 2.0"]],
    [
      "a result of an older call",
      [user(text("a")), assistant(call("1")), user(result("1")), assistant(text("b")), user(result("1"))],
      ["A2 4.0", "A7 4.0"],
    ],
    [
      "results of parallel calls spread over two messages",
      [user(text("a")), assistant(call("1"), call("2")), user(result("1")), assistant(text("b")), user(result("2"))],
      ["A2 4.0", "A3 1.1"],
    ],
    ["text before a result", [user(text("a")), assistant(call("1")), user(text("b"), result("1"))], ["A4 2.1"]],
    ["text after a call", [user(text("a")), assistant(call("1"), text("b")), user(result("1"))], ["A5 1.1"]],
    [
      "one id for two calls",
      [user(text("a")), assistant(call("1")), user(result("1")), assistant(call("1")), user(result("1"))],
      ["A6 3.0", "A7 4.0"],
    ],
    ["two results for one call", [user(text("a")), assistant(call("1")), user(result("1"), result("1"))], ["A7 2.1"]],
    [
      "an id of another provider's alphabet",
      [user(text("a")), assistant(call("a|b")), user(result("a|b"))],
      ["A8 1.0", "A8 2.0"],
    ],
    [
      "an id that is too long",
      [user(text("a")), assistant(call("x".repeat(65))), user(result("x".repeat(65)))],
      ["A8 1.0", "A8 2.0"],
    ],
    ["a server's call without a result", [user(text("a")), assistant(search("1")), user(text("b"))], ["A9 1.0"]],
    [
      "a server's result without a call",
      [user(text("a")), assistant(found("1"), text("b")), user(text("c"))],
      ["A9 1.0"],
    ],
    [
      "a server's result before its call, of another call, and in a later message",
      [
        user(text("a")),
        assistant(found("1"), search("1"), search("2"), found("3")),
        user(text("b")),
        assistant(found("2")),
        user(text("c")),
      ],
      ["A9 1.0", "A9 1.3", "A9 1.1", "A9 1.2", "A9 3.0"],
    ],
    [
      "a server's call that a result answers twice",
      [user(text("a")), assistant(search("1"), found("1"), found("1")), user(text("b"))],
      ["A9 1.2"],
    ],
    ["a blank text block", [user(text("a"), text(" \n"))], ["A10 0.1"]],
    ["a blank string", [{ role: "user", content: "  " }], ["A10 0"]],
    ["an empty message", [user(), assistant(text("b")), user(text("c"))], ["A11 0"]],
    ["an empty string", [{ role: "user", content: "" }], ["A11 0"]],
    ["an assistant's message first", [assistant(text("b")), user(text("c"))], ["A12 0"]],
    ["an empty list", [], ["A12 0"]],
    ["two messages of one role in a row", [user(text("a")), user(text("b"))], ["A13 1"]],
    ["white space at the end of a prefill", [user(text("a")), assistant(text("b "))], ["A15 1"]],
    ["thinking without a signature", [user(text("a")), assistant(thinking(), text("b")), user(text("c"))], ["A19 1.0"]],
    [
      "redacted thinking without data",
      [user(text("a")), assistant({ type: "redacted_thinking" }, text("b")), user(text("c"))],
      ["A19 1.0"],
    ],
    ["an unknown role", [user(text("a")), { role: "tool", content: "x" }], ["A0 1"]],
  ])("finds %s", (_, messages, found) => {
    expect(check(messages)).toEqual(found);
  });

  it("accepts a server's call with its result in one message, or in messages that the API joins, and a paused turn", () => {
    expect(check([user(text("a")), assistant(search("1"), text("b"), found("1")), user(text("c"))])).toEqual([]);
    expect(check([user(text("a")), assistant(search("1")), assistant(found("1")), user(text("c"))])).toEqual(["A13 2"]);
    expect(check([user(text("a")), assistant(search("1"))])).toEqual([]);
  });

  it("accepts an empty result, and an empty last message of the assistant", () => {
    expect(check([user(text("a")), assistant(call("1")), user(result("1")), assistant()])).toEqual([]);
  });

  it("skips system messages when it looks for the next message", () => {
    const list = [
      user(text("a")),
      system("s"),
      assistant(call("1")),
      user(result("1")),
      system("t"),
      assistant(text("b")),
      user(text("c")),
      system("u"),
    ];
    expect(check(list, { model: "claude-opus-4-8" })).toEqual([]);
    expect(check(list, { model: "claude-sonnet-4-5" })).toEqual(["A0 1", "A0 4", "A0 7"]);
  });

  it("refuses a prefill only for models that do, and only in a list that is sent as it is", () => {
    const list = [user(text("a")), assistant(text("b "))];
    expect(check(list, { model: "claude-opus-4-6" })).toEqual(["A14 1", "A15 1"]);
    expect(check(list, { model: "claude-sonnet-4-5" })).toEqual(["A15 1"]);
    expect(check(list, { model: "claude-opus-4-6", complete: false })).toEqual([]);
  });

  it("checks the rules of thinking only if it is known whether it is on", () => {
    const loop = [user(text("a")), assistant(call("1")), user(result("1"))];
    const ended = [user(text("a")), assistant(thinking("s"), text("b")), user(text("c"))];
    expect([check(loop), check(loop, { thinking: true }), check(loop, { thinking: false })]).toEqual([
      [],
      ["A17 1"],
      [],
    ]);
    expect([check(ended), check(ended, { thinking: true }), check(ended, { thinking: false })]).toEqual([
      [],
      [],
      ["A18 1.0"],
    ]);
  });
});

describe("hasModelFeature", () => {
  it.each([
    ["claude-opus-4-8", true, true],
    ["claude-opus-4-8[1m]", true, true],
    ["claude-opus-4-6", false, true],
    ["claude-sonnet-4-6-20260101", false, true],
    ["us.anthropic.claude-opus-4-6-v1:0", false, true],
    ["claude-sonnet-5", true, true],
    ["claude-fable-5-1", true, true],
    ["claude-sonnet-4-20250514", false, false],
    ["claude-opus-4-5-20251101", false, false],
    ["claude-haiku-4-5", false, false],
    ["claude-3-5-sonnet-20241022", false, false],
    ["gpt-5", false, false],
  ])("knows what %s does differently", (model, systemMessages, noPrefill) => {
    expect([hasModelFeature(model, "system_messages"), hasModelFeature(model, "no_prefill")]).toEqual([
      systemMessages,
      noPrefill,
    ]);
  });
});

const root = fileURLToPath(new URL("../../../", import.meta.url));
const goldens = join(process.env["JPG_CORPUS"] ?? join(root, "../shared"), "goldens/claude-code-2.1.330");

describe.skipIf(!existsSync(goldens))("requests of the real agent (needs ../shared/goldens or JPG_CORPUS)", () => {
  it("break no rule", () => {
    const models = new Map(
      readFileSync(join(goldens, "../INDEX.tsv"), "utf8")
        .split("\n")
        .map((row) => row.split("\t"))
        .map(([golden, , model]) => [golden, model]),
    );
    const files = readdirSync(goldens);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const messages = JSON.parse(readFileSync(join(goldens, file), "utf8")) as AnthropicMessage[];
      const model = models.get(`claude-code-2.1.330/${file}`) ?? "";
      expect([file, checkAnthropic(messages, { model })]).toEqual([file, []]);
    }
  });
});
