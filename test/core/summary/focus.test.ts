import { describe, expect, it } from "vitest";
import { detectWork, type WorkKind, wordFocus } from "../../../src/core/compact/summary-prompt.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { answer, call, request, result } from "../../helpers/sample-view.ts";

// covers: history "Focus areas are optional (`--focus`)"
// covers: history "Focus detected from content: code, planning, Q&A"
// covers: history "Smart focus detection"

const edits = (count: number): Event[] =>
  Array.from({ length: count }, (_, n) => call(`e${n}`, "Edit", { file_path: `/p/${n}.ts` }));

const times = (count: number, event: Event): Event[] => Array.from({ length: count }, () => event);
const reads = (count: number): Event[] => times(count, call("r", "Read", { file_path: "/p/a.ts" }));
const runs = (count: number): Event[] => times(count, call("m", "Bash", { command: "make" }));
const searches = (count: number): Event[] => times(count, call("s", "Grep", { pattern: "x" }));
const errors = (count: number): Event[] => times(count, result("e", "x", "Error: no", true));

describe("detectWork", () => {
  it.each<[string, string, readonly Event[]]>([
    [
      "code review",
      "a review",
      [request("a", "Review this pull request, please"), request("b", "more feedback on the diff?")],
    ],
    ["implementation", "edits", [request("a", "Implement the importer"), ...edits(4)]],
    [
      "debugging",
      "errors",
      [
        request("a", "Why does the test fail?"),
        call("c", "Bash", { command: "npm test" }),
        result("r", "c", "Error: no", true),
      ],
    ],
    ["planning", "plans", [request("a", "Let's plan the architecture"), call("c", "ExitPlanMode", { plan: "x" })]],
    ["questions", "questions", [request("a", "What is a monad?"), answer("b", "A burrito."), request("c", "And why?")]],
  ])("tells %s from %s", (kind, _, events) => {
    expect(detectWork(events)[0]).toBe(kind);
  });

  it.each<[string, readonly string[]]>([
    [
      "code review",
      [
        "Review it",
        "the pull request",
        "a MERGE REQUEST",
        "this PR",
        "nitpick",
        "approve",
        "LGTM",
        "feedback on it",
        "critique",
      ],
    ],
    [
      "implementation",
      ["implement", "add", "create", "build", "write", "refactor", "rename", "migrate", "support", "port it"],
    ],
    [
      "debugging",
      [
        ...[
          "bug",
          "debug",
          "error",
          "it fail",
          "it fails",
          "failing",
          "failed",
          "crash",
          "crashes",
          "crashed",
          "broken",
        ],
        ...["stacktrace", "a stack trace", "exception", "regression", "flaky", "why does it", "Fix it"],
      ],
    ],
    [
      "planning",
      [
        ...[
          "plan",
          "design",
          "approach",
          "architecture",
          "roadmap",
          "trade-off",
          "tradeoffs",
          "should we",
          "milestone",
        ],
        ...["milestones", "prioritise", "prioritize", "proposal", "spec"],
      ],
    ],
  ])("hears in each of its words that it is %s", (kind, words) => {
    const twice = (word: string) => [request("a", `1 ${word} 2`), request("b", `${word}.`)];
    expect(words.filter((word) => detectWork(twice(word)).join() !== kind)).toEqual([]);
  });

  it("does not hear a word inside another one", () => {
    for (const word of ["preview", "addition", "reporting", "debugger", "planet", "prefix", "special", "PRs"])
      expect(detectWork([request("a", word), request("b", word)])).toEqual([]);
  });

  it("counts a request once for a word it says twice, and hears only its first two thousand characters", () => {
    expect(detectWork([request("a", "add, add and add")])).toEqual([]);
    const behind = (blanks: number): Event[] => [request("a", `${" ".repeat(blanks)}bug`)];
    expect(detectWork(behind(1997))).toEqual(["debugging"]);
    expect(detectWork(behind(1998))).toEqual([]);
  });

  it("counts all texts of a request", () => {
    const parts: Event = {
      ...request("a", ""),
      content: [
        { type: "text", text: "A bug" },
        { type: "text", text: "design" },
      ],
    };
    expect(detectWork([parts])).toEqual(["debugging", "planning"]);
  });

  it.each<[string, readonly Event[], readonly WorkKind[]]>([
    ["one question between few calls", [request("a", "Where?")], ["questions"]],
    ["a question at the end of a line", [request("a", "Where? \nHere.")], ["questions"]],
    ["a question mark inside a line", [request("a", "Where? Here.")], []],
    ["a question with as many calls as requests", [request("a", "Where?"), ...reads(1)], ["questions"]],
    ["a question with more calls", [request("a", "Where?"), ...reads(2)], []],
    ["questions with many calls, half", [...times(4, request("a", "Where?")), ...reads(5)], ["questions"]],
    ["questions with many calls, too few", [...times(3, request("a", "Where?")), ...reads(4)], []],
    ["one edit", [...edits(1)], []],
    ["two edits", [...edits(2)], ["implementation"]],
    ["edits, three without a request", [request("a", "the bug"), ...edits(6)], ["implementation"]],
    ["edits, three at most without a request", [...errors(2), ...edits(9)], ["implementation", "debugging"]],
    [
      "edits, six at most beside one request",
      [request("a", "x"), ...errors(4), ...edits(9)],
      ["implementation", "debugging"],
    ],
    ["errors, two at most without a request", [...errors(9), ...edits(2)], ["implementation", "debugging"]],
    ["errors, four at most beside one request", [request("a", "x"), ...errors(9), ...edits(2)], ["debugging"]],
    ["errors, one", [...errors(1)], []],
    ["one kind that outweighs the other twice", [...edits(4), request("a", "error")], ["implementation"]],
    ["two kinds that are even", [...edits(2), request("a", "error")], ["implementation", "debugging"]],
    [
      "the heavier of two kinds first",
      [...edits(2), request("a", "error"), ...errors(1)],
      ["debugging", "implementation"],
    ],
    ["a review that reads", [request("a", "review"), ...reads(3), ...errors(2)], ["code review"]],
    ["a review that reads little", [request("a", "review"), ...reads(2), ...errors(2)], ["code review", "debugging"]],
    [
      "a review that edits",
      [request("a", "review"), ...reads(3), ...edits(1), ...errors(2)],
      ["code review", "debugging"],
    ],
    ["a review that runs", [request("a", "review"), ...runs(3), ...errors(2)], ["code review", "debugging"]],
    ["reading alone", reads(9), []],
    ["searching in a review", [request("a", "review"), ...searches(3), ...errors(2)], ["code review"]],
    ["one list of tasks", [call("p", "TodoWrite", {})], ["planning"]],
    [
      "a list of tasks again and again",
      [...times(9, call("p", "update_plan", {})), ...edits(3)],
      ["planning", "implementation"],
    ],
    ["two lists of tasks", [...times(2, call("p", "write_todos", {})), ...edits(2)], ["planning"]],
  ])("weighs %s", (_, events, kinds) => {
    expect(detectWork(events)).toEqual(kinds);
  });

  it("knows the tools that write plans down", () => {
    for (const name of ["ExitPlanMode", "exit_plan_mode", "TodoWrite", "update_plan", "write_todos", "todowrite"])
      expect(detectWork([call("a", name, {})])).toEqual(["planning"]);
    for (const name of ["plan", "update_planner", "my_update_plan"])
      expect(detectWork([call("a", name, {})])).toEqual([]);
  });

  it("names two kinds where neither is clearly the one", () => {
    const events = [request("a", "Fix the crash"), request("b", "Another bug: it fails"), ...edits(3)];
    expect([...detectWork(events)].sort()).toEqual(["debugging", "implementation"]);
  });

  it("says nothing where too little tells, and does not listen to a harness", () => {
    expect(detectWork([request("a", "Hello")])).toEqual([]);
    const reminder: Event = { ...request("a", "bug bug bug"), metadata: { origin: "harness" } };
    expect(detectWork([reminder, reminder, reminder])).toEqual([]);
  });
});

describe("wordFocus", () => {
  it("words what the user asked for first, then what the work suggests", () => {
    expect(wordFocus([" the parser ", " ", "tests"], ["debugging", "questions"]).split("\n")).toEqual([
      "Pay special attention to: the parser; tests.",
      "This is debugging: dwell on error messages word for word, what was ruled out, the cause that was found, and how it was solved.",
      "This is about questions and answers: dwell on the facts and conclusions of each answer, and what stayed unanswered.",
    ]);
    expect(wordFocus([" "], ["planning", "code review", "implementation"]).split("\n")).toEqual([
      "This is planning: dwell on decisions with their reasons, alternatives that were turned down, and how the tasks are cut and ordered.",
      "This is code review: dwell on what was criticised, where exactly, how grave it is, and what was agreed on.",
      "This is implementation: dwell on how the parts are built and why so, the files and functions that were changed, and what is unfinished.",
    ]);
    expect(wordFocus([], [])).toBe("");
  });
});
