import { describe, expect, it } from "vitest";
import { guidanceIn, refusalsIn } from "../../../src/core/extract/guidance.ts";
import { listToolCalls } from "../../../src/core/tools/tool-call.ts";
import { call, callTurns } from "../../helpers/call-conversation.ts";

const of = (text: string): readonly string[] => guidanceIn([{ turn: 0, text }]).map((said) => said.text);

describe("guidanceIn", () => {
  it.each([
    "Never touch the generated files.",
    "please don't commit yet",
    "use tabs",
    "No new dependencies.",
    "it has to be one file",
    "no, remove this again",
    "make sure that it runs on Windows",
    "Bitte nur die Tests ändern",
    "Die Datei darf niemals gelöscht werden",
    "il faut garder les commentaires",
    "siempre ejecuta los tests",
    "никогда не меняй схему",
    "不要修改数据库",
    "テストは必ず実行してください",
  ])("takes %j", (sentence) => {
    expect(of(`Fix the parser. ${sentence}`)).toContain(sentence);
  });

  it.each([
    "Fix the parser.",
    "why do we never see the error?",
    "The tests don't pass.",
    "I don't know why.",
    "```\n// never do this\n```",
    '"""\nYou must always check.\n"""',
    "> you should not quote",
    "[lint] must not fail",
    "error: value must be a number",
  ])("takes nothing of %j", (text) => {
    expect(of(text)).toEqual([]);
  });
});

describe("refusalsIn", () => {
  it("takes what was said when a call was refused", () => {
    const result =
      "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse the helper\nin utils";
    const [turn] = callTurns([{ ...call("Edit", { file_path: "a.ts" }, result), isError: true }]);
    expect(refusalsIn(listToolCalls([turn!]))).toEqual([
      { turn: 0, text: "use the helper in utils (refusing Edit a.ts)" },
    ]);
  });

  it("takes nothing where nothing was said, or nothing was refused", () => {
    const refused = {
      ...call("Bash", { command: "rm x" }, "The user doesn't want to take this action"),
      isError: true,
    };
    expect(refusalsIn(listToolCalls(callTurns([refused, call("Bash", { command: "ls" })])))).toEqual([]);
  });
});
