import { describe, expect, it } from "vitest";
import {
  findQuestion,
  isChoice,
  listDecisions,
  listGuidance,
  listRefusals,
  questionOf,
  type Reply,
} from "../../../src/core/compact/decisions.ts";
import type { Utterance } from "../../../src/core/compact/passages.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";

const of = (text: string): readonly string[] => listGuidance([{ turn: 0, text }]).map((said) => said.text);

describe("listGuidance", () => {
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

describe("listGuidance of what somebody else wrote", () => {
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

describe("listRefusals", () => {
  it("takes what was said when a call was refused", () => {
    const result =
      "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse the helper\nin utils";
    const [turn] = callTurns([{ ...call("Edit", { file_path: "a.ts" }, result), isError: true }]);
    expect(listRefusals(listToolCalls([turn!]))).toEqual([
      { turn: 0, text: "use the helper in utils (refusing Edit a.ts)" },
    ]);
  });

  it("takes nothing where nothing was said, or nothing was refused", () => {
    const refused = {
      ...call("Bash", { command: "rm x" }, "The user doesn't want to take this action"),
      isError: true,
    };
    expect(listRefusals(listToolCalls(callTurns([refused, call("Bash", { command: "ls" })])))).toEqual([]);
  });
});

const OPTIONS = "Two ways:\n\n1. **Cache** the tree\n2. Read it again\n\nWhich do you want?";

describe("findQuestion", () => {
  it.each([
    ["yes", "I can fix it.\n\nShall I do it? It takes a minute.", "Shall I do it? It takes a minute."],
    ["2", OPTIONS, "Which do you want? / 2: Read it again"],
    [
      "Yes. And sort the rest by name, with the newest of each name first, please.",
      "I would stop. Shall I?",
      "I would stop. Shall I?",
    ],
    ["let's do option 1", OPTIONS, "Which do you want? / 1: Cache the tree"],
    ["B", "| **A. Now** | soon |\n| **B. Later** | late |\n\nWhich one?", "Which one? / B: Later | late |"],
    ["ja, bitte", "Soll ich das tun?", "Soll ich das tun?"],
    ["好的", "要我修复吗？", "要我修复吗？"],
    ["try again", "The key is locked. Unlock it first.", "Unlock it first."],
  ])("%j carries what it replies to", (reply, answer, question) => {
    expect(findQuestion(reply, answer)).toBe(question);
  });

  it.each([
    ["a reply of its own", "update the tests too", "All is done."],
    ["a question", "why?", "Shall I do it?"],
    ["a long reply", `sort it ${"and that ".repeat(10)}`, "Shall I do it?"],
    ["several lines", "sort\nit", "Shall I do it?"],
    ["a slash command", "/review", "Shall I do it?"],
    ["nothing", " ", "Shall I do it?"],
  ])("%s carries nothing", (_, reply, answer) => {
    expect(findQuestion(reply, answer)).toBeNull();
  });

  it("carries nothing where nothing was said before", () => {
    expect(findQuestion("yes", undefined)).toBeNull();
  });
});

describe("questionOf", () => {
  it.each([
    ["Done.", null],
    ["Is it so? I looked.\n\nIt is.", null],
    ["It is done. Want me to commit?", "It is done. Want me to commit?"],
    [
      "It is done. Do you want me to commit it all to the branch now?",
      "Do you want me to commit it all to the branch now?",
    ],
    ["**Want me to commit?**", "**Want me to commit?**"],
    ["See:\n\n```\nwhy?\n```", null],
  ])("of %j is %j", (answer, question) => {
    expect(questionOf(answer)).toBe(question);
  });
});

describe("isChoice", () => {
  it.each([
    ["yes, go on", "Shall I?", true],
    ["nein", "Soll ich?", true],
    ["Refuse, yes.", "I would refuse. OK?", true],
    ["да", "Сделать?", true],
    ["2", OPTIONS, true],
    ["but that is slow", "Shall I?", false],
    ["yes", "It is done.", false],
    ["3", OPTIONS, false],
  ])("%j to %j: %j", (reply, answer, expected) => {
    expect(isChoice(reply, answer)).toBe(expected);
  });
});

const ofDecisions = (found: {
  readonly requests?: readonly Reply[];
  readonly answers?: readonly Utterance[];
  readonly calls?: readonly CallSpec[];
}): readonly string[] => {
  const { requests = [], answers = [], calls = [] } = found;
  return listDecisions(listToolCalls(callTurns(calls)), { requests, answers }).map(({ text }) => text);
};
const told = (text: string, next?: string) =>
  ofDecisions({
    answers: [{ turn: 0, text }],
    requests: next === undefined ? [] : [{ turn: 1, text: next, answerBefore: text }],
  });

describe("listDecisions", () => {
  it("takes what the user answered, to tools and to the assistant", () => {
    const questions = [{ question: "Which store?", options: [] }];
    const asked = call("AskUserQuestion", { questions }, 'User has answered: "Which store?"="SQLite"');
    expect(ofDecisions({ calls: [asked] })).toEqual(['Which store? → User has answered: "Which store?"="SQLite"']);
    expect(ofDecisions({ requests: [{ turn: 3, text: "yes", answerBefore: "Shall I use SQLite?" }] })).toEqual([
      "yes (to: Shall I use SQLite?)",
    ]);
  });

  it("takes plans that were approved, and none that was refused", () => {
    const plan = "# Move the cache\n\nIn steps.";
    expect(ofDecisions({ calls: [call("ExitPlanMode", { plan }, "approved")] })).toEqual([
      "the user approved the plan: # Move the cache In steps.",
    ]);
    expect(ofDecisions({ calls: [failed("ExitPlanMode", { plan })] })).toEqual([]);
  });

  it("takes what the user settled", () => {
    const say = (text: string) => ofDecisions({ requests: [{ turn: 0, text }] });
    expect(say("Good point. Let's store it in metadata.")).toEqual(["Let's store it in metadata."]);
    expect(say("wir bleiben bei SQLite")).toEqual(["wir bleiben bei SQLite"]);
    expect(say("I wonder if we go with SQLite")).toEqual([]);
    expect(say("should we use SQLite?")).toEqual([]);
  });

  it("takes what the assistant says that it decided, and no proposal", () => {
    expect(told("Done. I chose a stack because errors must name their column.")).toEqual([
      "I chose a stack because errors must name their column.",
    ]);
    expect(told("**Key design decisions:**\n- One file a turn\n- No locks\n\nOther:\n- a.ts")).toEqual([
      "One file a turn",
      "No locks",
    ]);
    expect(told("I would suggest a stack because it is fast. A tree is an option. Always use a queue.")).toEqual([]);
  });

  it.each(["no, use a tree", "revert that", "nein, lieber ein Baum", "不要用栈"])(
    "takes nothing that the next request turns down: %j",
    (next) => {
      expect(told("I decided to keep a stack.", next).filter((text) => text.includes("keep a stack"))).toEqual([]);
    },
  );

  it("says nothing twice", () => {
    const after = "Shall I take option A?\n\nA. SQLite";
    expect(
      ofDecisions({ requests: [{ turn: 0, text: "yes, let's go with A", answerBefore: "Want option A?" }] }),
    ).toHaveLength(1);
    expect(ofDecisions({ requests: [{ turn: 0, text: "let's go with A", answerBefore: after }] })).toHaveLength(1);
  });
});
