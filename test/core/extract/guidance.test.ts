import { describe, expect, it } from "vitest";
import { guidanceIn, refusalsIn } from "../../../src/core/compact/decisions.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
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

describe("guidanceIn of what somebody else wrote", () => {
  const review =
    "The retry loop never ends when the server answers 503, and the caller must pass a limit. It should not sleep while it holds the lock, and the log line has to be removed because it prints the token in clear text.";
  const own = "Never touch the lock file.";

  it.each([
    ["in quotation marks", `Have a look at this: "${review}" ${own}`],
    ["in typographic ones", `${own} A colleague says “${review}”`],
    ["in guillemets", `${own}\n« ${review} »`],
    ["behind a line that says whose it is", `${own}\nThe review says:\n\n${review}`],
    ["behind a line that names a reviewer", `${own}\nfeedback from copilot:\n- ${review}`],
  ])("takes only the user's own words beside a review %s", (_, text) => {
    expect(of(text)).toEqual([own]);
  });

  it.each([
    `Retries never end\n\nHigh Severity\n\n${review}`,
    `Medium Severity\n\n${review}`,
    `**Severity:** low\n\n${review}`,
  ])("takes nothing of a finding that a tool reported: %j", (text) => {
    expect(of(text)).toEqual([]);
  });

  it.each([
    'Name it "limit", and never "max".',
    'Keep "a" as it is, for it is what the whole of the second half of the module was written around, and I do not want to see any of that being moved about or renamed by anybody before the release of next week is out, and never rename "b".',
    "My comments:\n- never use globals",
    "I wrote a review:\nnever mind that, use tabs.",
    "Rules:\n- never use globals",
  ])("takes what only looks so: %j", (text) => {
    expect(of(text)).not.toEqual([]);
  });

  it.each(["“a ", "\n", "review ", '" '])("takes a long text of %j", (piece) => {
    expect(of(`${piece.repeat(5000)}\n${own}`)).toEqual([own]);
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
