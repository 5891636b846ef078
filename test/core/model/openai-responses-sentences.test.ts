// What a check says of a broken list for the Responses API, sentence by sentence, and the neighbours of each breach.

import { describe, expect, it } from "vitest";
import {
  checkOpenAiResponses,
  type OpenAiResponsesCheckOptions,
} from "../../../src/core/model/openai-responses-rules.ts";
import { listSentences } from "../../helpers/violations.ts";

type Item = Readonly<Record<string, unknown>>;
const user: Item = { role: "user", content: "a" };
const said = (extra: Item = {}): Item => ({ type: "message", role: "assistant", content: "b", ...extra });
const call = (call_id: unknown, extra: Item = {}): Item => ({
  type: "function_call",
  call_id,
  name: "look",
  arguments: "{}",
  ...extra,
});
const output = (call_id: unknown, extra: Item = {}): Item => ({
  type: "function_call_output",
  call_id,
  output: "x",
  ...extra,
});
const reasoning = (extra: Item = {}): Item => ({ type: "reasoning", summary: [], ...extra });
const compaction: Item = { type: "compaction", encrypted_content: "e" };

const say = (items: readonly unknown[], options: OpenAiResponsesCheckOptions = {}) =>
  listSentences(checkOpenAiResponses(items, options));

describe("checkOpenAiResponses says", () => {
  it("what is no item", () => {
    expect(say([])).toMatchInlineSnapshot(`
      [
        "R0 error 0: The list is empty.",
      ]
    `);
    expect(say([null, { content: "x" }, { type: 5 }])).toMatchInlineSnapshot(`
      [
        "R0 error 0: An item has neither a type nor a role.",
        "R0 error 1: An item has neither a type nor a role.",
        "R0 error 2: An item has neither a type nor a role.",
      ]
    `);
    expect(say([{ type: "item_reference", id: "x" }])).toEqual([]);
  });

  it("what is no message", () => {
    expect(
      say([{ type: "message" }, { role: "tool" }, { role: 5 }, { role: "user", content: 5 }, said({ content: null })]),
    ).toMatchInlineSnapshot(`
      [
        "R0 error 0: The role is null; expected one of user, system, developer, assistant.",
        "R0 error 1: The role is "tool"; expected one of user, system, developer, assistant.",
        "R0 error 2: The role is 5; expected one of user, system, developer, assistant.",
        "R0 error 3: The content is neither a text nor a list of parts.",
        "R0 error 4: The content is neither a text nor a list of parts.",
      ]
    `);
    const parts = [
      "input_text",
      "input_image",
      "input_file",
      "input_audio",
      "output_text",
      "refusal",
      "text",
      undefined,
    ];
    const content = parts.map((type) => ({ type, text: "x" }));
    expect(say([{ role: "user", content }, said({ content })])).toMatchInlineSnapshot(`
      [
        "R0 error 0.4: A part is of type "output_text"; expected one of input_text, input_image, input_file, input_audio.",
        "R0 error 0.5: A part is of type "refusal"; expected one of input_text, input_image, input_file, input_audio.",
        "R0 error 0.6: A part is of type "text"; expected one of input_text, input_image, input_file, input_audio.",
        "R0 error 0.7: A part is of type null; expected one of input_text, input_image, input_file, input_audio.",
        "R0 error 1.0: A part is of type "input_text"; expected one of output_text, refusal.",
        "R0 error 1.1: A part is of type "input_image"; expected one of output_text, refusal.",
        "R0 error 1.2: A part is of type "input_file"; expected one of output_text, refusal.",
        "R0 error 1.3: A part is of type "input_audio"; expected one of output_text, refusal.",
        "R0 error 1.6: A part is of type "text"; expected one of output_text, refusal.",
        "R0 error 1.7: A part is of type null; expected one of output_text, refusal.",
      ]
    `);
    const textless = parts.map((type) => ({ type, text: 5 }));
    expect(
      say([{ role: "system", content: textless.slice(0, 4) }, said({ content: textless.slice(4, 6) })]),
    ).toMatchInlineSnapshot(`
      [
        "R0 error 0.0: A text part has no text.",
        "R0 error 1.0: A text part has no text.",
      ]
    `);
    expect(say([{ role: "developer", content: [] }])).toEqual([]);
  });

  it("what is no call and no output", () => {
    const longest = "x".repeat(64);
    expect(say([call(longest), output(longest)])).toEqual([]);
    for (const id of [undefined, 5, "", `${longest}x`]) expect(say([call(id), output(id)])).toHaveLength(2);
    expect(
      say([call(undefined), output(undefined), call(`${longest}x`), output(`${longest}x`)]),
    ).toMatchInlineSnapshot(`
      [
        "R0 error 0: The call_id null is not a text of 1–64 characters.",
        "R0 error 1: The call_id null is not a text of 1–64 characters.",
        "R0 error 2: The call_id "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not a text of 1–64 characters.",
        "R0 error 3: The call_id "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not a text of 1–64 characters.",
      ]
    `);
    expect(
      say([
        call("1", { name: 5, arguments: 5 }),
        output("1", { output: 5 }),
        call("2", { name: "a.b" }),
        output("2", { output: [5] }),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "R0 error 0: The tool name 5 is not 1–128 letters, digits, "_" or "-".",
        "R0 error 0: The arguments of a function_call are not a text.",
        "R0 error 1: The output is neither a text nor a list of parts.",
        "R0 error 2: The tool name "a.b" is not 1–128 letters, digits, "_" or "-".",
        "R0 error 3.0: A part is of type null; expected one of input_text, input_image, input_file, input_audio.",
      ]
    `);
    const custom = { type: "custom_tool_call", call_id: "1" };
    expect(say([custom, { type: "custom_tool_call_output", call_id: "1" }])).toMatchInlineSnapshot(`
      [
        "R0 error 0: The tool name null is not 1–128 letters, digits, "_" or "-".",
        "R0 error 0: The input of a custom_tool_call are not a text.",
        "R0 error 1: The output is neither a text nor a list of parts.",
      ]
    `);
    expect(
      say([
        { type: "shell_call", call_id: "1" },
        { type: "shell_call_output", call_id: "1" },
      ]),
    ).toEqual([]);
    expect(say([call("1", { name: "x".repeat(128) }), output("1", { output: [{ type: "input_image" }] })])).toEqual([]);
  });

  it("which calls and outputs do not belong together", () => {
    expect(say([output("1"), call("1"), user])).toMatchInlineSnapshot(`
      [
        "R1 error 1: The function_call "1" has no output after it.",
        "R2 error 0: The function_call_output "1" answers no call before it.",
      ]
    `);
    expect(say([call("1"), output("2"), { type: "shell_call", call_id: "3" }, output("3")])).toMatchInlineSnapshot(`
      [
        "R1 error 0: The function_call "1" has no output after it.",
        "R1 error 2: The shell_call "3" has no output after it.",
        "R2 error 1: The function_call_output "2" answers no call before it.",
        "R2 error 3: The function_call_output "3" answers no call before it.",
      ]
    `);
    expect(say([call("1"), call("1"), output("1"), output("1")])).toMatchInlineSnapshot(`
      [
        "R1 warning 1: The call_id "1" is used by an earlier call.",
        "R2 warning 3: The call_id "1" has an output already.",
      ]
    `);
    expect(say([call("1"), output("2")], { previous_response_id: "resp_1" })).toMatchInlineSnapshot(`
      [
        "R1 error 0: The function_call "1" has no output after it.",
      ]
    `);
  });

  it.each(["shell", "apply_patch", "computer", "local_shell"])("nothing of a %s call that has its output", (kind) => {
    const asked = { type: `${kind}_call`, call_id: "1" };
    expect(say([asked, { type: `${kind}_call_output`, call_id: "1" }])).toEqual([]);
    expect(say([asked, { type: "custom_tool_call_output", call_id: "1", output: "x" }])).toHaveLength(2);
  });

  it("which reasoning leads to nothing", () => {
    const made = reasoning({ id: "rs_1" });
    expect(say([user, made])).toMatchInlineSnapshot(`
      [
        "R4 error 1: The reasoning "rs_1" is not followed by what it led to.",
      ]
    `);
    expect(say([user, made, user])).toMatchInlineSnapshot(`
      [
        "R4 error 1: The reasoning "rs_1" is not followed by what it led to.",
      ]
    `);
    expect(say([user, made, call("1"), output("1"), made, output("1")])).toMatchInlineSnapshot(`
      [
        "R2 warning 5: The call_id "1" has an output already.",
        "R4 error 4: The reasoning "rs_1" is not followed by what it led to.",
      ]
    `);
    for (const next of [said(), reasoning(), { type: "web_search_call" }]) expect(say([user, made, next])).toEqual([]);
    for (const id of [undefined, "", 5]) expect(say([user, reasoning({ id }), user])).toEqual([]);
  });

  it("which item misses its reasoning", () => {
    const options = { reasoned: new Set(["msg_1", "fc_1"]) };
    const made = said({ id: "msg_1" });
    expect(
      say([user, made, call("1", { id: "fc_1" }), output("1"), said({ id: "msg_2" })], options),
    ).toMatchInlineSnapshot(`
      [
        "R5 error 1: The message "msg_1" was sent without its reasoning.",
        "R5 error 2: The function_call "fc_1" was sent without its reasoning.",
      ]
    `);
    expect(say([user, reasoning({ id: "rs_1" }), user, made], options)).toMatchInlineSnapshot(`
      [
        "R4 error 1: The reasoning "rs_1" is not followed by what it led to.",
        "R5 error 3: The message "msg_1" was sent without its reasoning.",
      ]
    `);
    expect(say([user, reasoning(), made, call("1", { id: "fc_1" }), output("1")], options)).toMatchInlineSnapshot(`
      [
        "R5 error 2: The message "msg_1" was sent without its reasoning.",
        "R5 error 3: The function_call "fc_1" was sent without its reasoning.",
        "R5 warning 2: The message has an id, the reasoning before it has none.",
        "R5 warning 3: The function_call has an id, the reasoning before it has none.",
      ]
    `);
    expect(
      say([user, reasoning({ id: "rs_1" }), reasoning(), made, call("1", { id: "fc_1" }), output("1")], options),
    ).toEqual([]);
    expect(say([user, reasoning(), user, made])).toEqual([]);
    expect(say([user, reasoning(), said(), said({ id: "" })])).toEqual([]);
  });

  it("which reasoning and which compaction is none", () => {
    expect(say([user, { type: "reasoning" }, { type: "reasoning", summary: "x" }, said()])).toMatchInlineSnapshot(`
      [
        "R6 error 1: A reasoning item has no summary; expected a list, which may be empty.",
        "R6 error 2: A reasoning item has no summary; expected a list, which may be empty.",
      ]
    `);
    const none = [undefined, "", 5].map((encrypted_content) => ({ type: "compaction", encrypted_content }));
    expect(say([...none, { type: "compaction_summary" }])).toMatchInlineSnapshot(`
      [
        "R8 error 0: A compaction item has no encrypted_content.",
        "R8 error 1: A compaction item has no encrypted_content.",
        "R8 error 2: A compaction item has no encrypted_content.",
        "R8 error 3: A compaction item has no encrypted_content.",
      ]
    `);
  });

  it("which compaction comes too late", () => {
    expect(
      say([user, compaction, said(), compaction, { ...compaction, type: "compaction_summary" }]),
    ).toMatchInlineSnapshot(`
      [
        "R8 warning 3: A compaction item comes after model output; it belongs before it.",
        "R8 warning 4: A compaction item comes after model output; it belongs before it.",
      ]
    `);
    expect(say([output("1"), compaction], { previous_response_id: "resp_1" })).toMatchInlineSnapshot(`
      [
        "R8 warning 1: A compaction item comes after model output; it belongs before it.",
      ]
    `);
    expect(say([user, { type: "web_search_call" }, compaction])).toMatchInlineSnapshot(`
      [
        "R8 warning 2: A compaction item comes after model output; it belongs before it.",
      ]
    `);
    expect(say([user, compaction, user, compaction])).toEqual([]);
  });
});
