import { describe, expect, it } from "vitest";
import {
  checkOpenAiResponses,
  type OpenAiResponsesCheckOptions,
} from "../../../src/core/model/openai-responses-rules.ts";
import { corpusMissing, listGoldens, readGolden } from "../../helpers/corpus.ts";

type Item = Readonly<Record<string, unknown>>;
const user: Item = { role: "user", content: "a" };
const said = (extra: Item = {}): Item => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "b" }],
  ...extra,
});
const call = (call_id: string, extra: Item = {}): Item => ({
  type: "function_call",
  call_id,
  name: "exec",
  arguments: "{}",
  ...extra,
});
const output = (call_id: string, value: unknown = "x"): Item => ({
  type: "function_call_output",
  call_id,
  output: value,
});
const reasoning = (extra: Item = {}): Item => ({ type: "reasoning", summary: [], encrypted_content: "e", ...extra });
const compaction: Item = { type: "compaction", encrypted_content: "e" };
const custom: Item = { type: "custom_tool_call", call_id: "p", name: "apply_patch", input: "*** Begin" };

/** Breaches as "rule item.part", warnings with a question mark. */
function check(items: readonly unknown[], options: OpenAiResponsesCheckOptions = {}): string[] {
  return checkOpenAiResponses(items, options).map(({ rule, severity, position: { message, block } }) => {
    return `${rule}${severity === "warning" ? "?" : ""} ${message}${block === undefined ? "" : `.${block}`}`;
  });
}

describe("checkOpenAiResponses", () => {
  it("finds nothing in a valid list", () => {
    const list = [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "d" }] },
      user,
      compaction,
      reasoning({ id: "rs_1" }),
      said({ id: "msg_1" }),
      call("1"),
      custom,
      { type: "web_search_call", status: "completed", action: {} },
      output("1", [
        { type: "input_text", text: "x" },
        { type: "input_image", image_url: "https://example.invalid/a.png" },
      ]),
      user,
      { type: "custom_tool_call_output", call_id: "p", output: "done" },
      reasoning(),
      user,
    ];
    expect(check(list)).toEqual([]);
  });

  it("names rule, severity, provider, place and reason", () => {
    expect(checkOpenAiResponses([user, call("x")])).toEqual([
      {
        rule: "R1",
        severity: "error",
        provider: "openai-responses",
        position: { message: 1 },
        message: 'The function_call "x" has no output after it.',
      },
    ]);
  });

  it.each<[string, unknown[], string[]]>([
    ["an empty list", [], ["R0 0"]],
    ["what is no item", [null, "x", {}, []], ["R0 0", "R0 1", "R0 2", "R0 3"]],
    ["an unknown role", [{ role: "tool", content: "x" }], ["R0 0"]],
    ["content that is missing", [{ role: "user" }], ["R0 0"]],
    ["a part of the wrong side", [user, said({ content: [{ type: "input_text", text: "x" }] })], ["R0 1.0"]],
    ["a part of another API", [{ role: "user", content: [{ type: "text", text: "x" }] }], ["R0 0.0"]],
    ["a text part without text", [{ role: "user", content: [{ type: "input_text" }] }], ["R0 0.0"]],
    ["a call without an id", [call("", {}), output("")], ["R0 0", "R0 1"]],
    ["an id that is too long", [call("x".repeat(65)), output("x".repeat(65))], ["R0 0", "R0 1"]],
    ["a name that is none", [call("1", { name: "a.b" }), output("1")], ["R0 0"]],
    ["arguments that are no text", [call("1", { arguments: {} }), output("1")], ["R0 0"]],
    ["an output that is no text", [call("1"), output("1", { ok: true })], ["R0 1"]],
    ["an output of parts of another API", [call("1"), output("1", [{ type: "text", text: "x" }])], ["R0 1.0"]],
    ["an unanswered call", [user, call("1"), user], ["R1 1"]],
    ["an unanswered call of a free-text tool", [user, custom], ["R1 1"]],
    ["an output of the wrong kind", [custom, output("p")], ["R1 0", "R2 1"]],
    ["an output without a call", [user, output("1")], ["R2 1"]],
    ["an output before its call", [output("1"), call("1")], ["R1 1", "R2 0"]],
    ["an id of two calls", [call("1"), output("1"), call("1"), output("1")], ["R1? 2", "R2? 3"]],
    ["reasoning before somebody else's item", [reasoning({ id: "rs_1" }), user], ["R4 0"]],
    ["reasoning at the end", [user, reasoning({ id: "rs_1" })], ["R4 1"]],
    ["an id behind reasoning without", [reasoning(), said({ id: "msg_1" })], ["R5? 1"]],
    ["reasoning without a summary", [user, { type: "reasoning", encrypted_content: "e" }], ["R6 1"]],
    ["an empty compaction", [{ type: "compaction" }], ["R8 0"]],
    ["a compaction behind what a model made", [user, said(), compaction], ["R8? 2"]],
  ])("finds %s", (_, items, found) => {
    expect(check(items)).toEqual(found);
  });

  it("lets outputs answer calls that only the server has when a response is continued (R3)", () => {
    const list = [output("1"), user];
    expect([check(list), check(list, { previous_response_id: "resp_1" })]).toEqual([["R2 0"], []]);
  });

  it("asks for reasoning of items that are known to be made with it (R5)", () => {
    const reasoned = new Set(["msg_1"]);
    expect(check([user, said({ id: "msg_1" })])).toEqual([]);
    expect(check([user, said({ id: "msg_1" })], { reasoned })).toEqual(["R5 1"]);
    expect(check([user, reasoning({ id: "rs_1" }), said({ id: "msg_1" })], { reasoned })).toEqual([]);
    expect(check([user, said()], { reasoned })).toEqual([]);
  });

  it("takes the output of a function for a local shell call", () => {
    expect(check([{ type: "local_shell_call", call_id: "1", action: {} }, output("1")])).toEqual([]);
  });
});

describe.skipIf(corpusMissing !== null)("requests of Codex (needs ../shared/goldens or JPG_CORPUS)", () => {
  it("break no rule", () => {
    const goldens = listGoldens("codex");
    expect(goldens.length).toBeGreaterThan(0);
    for (const { golden } of goldens) {
      const found = checkOpenAiResponses(readGolden(golden) as unknown[]);
      expect([golden, found]).toEqual([golden, []]);
    }
  });
});
