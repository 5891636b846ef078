import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/event.ts";
import { detectWork, wordFocus } from "../../../src/core/summary/focus.ts";
import { answer, call, request, result } from "../../helpers/sample-view.ts";

const edits = (count: number): Event[] =>
  Array.from({ length: count }, (_, n) => call(`e${n}`, "Edit", { file_path: `/p/${n}.ts` }));

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
    expect(wordFocus(["the parser", " ", "tests"], ["debugging"])).toMatch(
      /^Pay special attention to: the parser; tests\.\nThis is debugging: dwell on error messages word for word/,
    );
    expect(wordFocus([], [])).toBe("");
  });
});
