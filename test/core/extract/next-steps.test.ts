import { describe, expect, it } from "vitest";
import { nextSteps } from "../../../src/core/compact/extract.ts";
import { NOTHING_GATHERED } from "../../helpers/nothing-gathered.ts";

const requests = [
  { turn: 0, text: "build it" },
  { turn: 1, text: "now fix\nthe parser" },
  { turn: 1, text: "and the lexer" },
];
const messages = [{ turn: 1, text: "Let me look at the lexer." }];

describe("nextSteps", () => {
  it("is nothing but open tasks where the work is done", () => {
    expect(nextSteps(NOTHING_GATHERED, 4000)).toEqual([]);
    expect(nextSteps({ ...NOTHING_GATHERED, requests, messages, openTasks: ["write docs"] }, 4000)).toEqual([
      "- Open: write docs",
    ]);
  });

  it("tells the requests of the last turn, the last words and the last actions where it is not", () => {
    const ending = { unfinished: "announced", actions: ["`make`", "Edit a.ts"] } as const;
    expect(nextSteps({ ...NOTHING_GATHERED, requests, messages, ending, openTasks: ["write docs"] }, 4000)).toEqual([
      "- These turns end with an announcement, before what it announces.",
      "- Request [t1]: now fix\n  the parser",
      "- Request [t1]: and the lexer",
      "- Said last: Let me look at the lexer.",
      "- Done last:",
      "  - `make`",
      "  - Edit a.ts",
      "- Open: write docs",
    ]);
  });

  it("tells the question in place of the last words, and no words before a request without an answer", () => {
    const asked = { unfinished: "asked", question: "Which one?", actions: [] } as const;
    expect(nextSteps({ ...NOTHING_GATHERED, messages, ending: asked }, 4000)).toEqual([
      "- These turns end with a question to the user.",
      "- Asked last: Which one?",
    ]);
    const unanswered = { unfinished: "unanswered", actions: [] } as const;
    expect(nextSteps({ ...NOTHING_GATHERED, requests, messages, ending: unanswered }, 4000)).toHaveLength(3);
  });

  it("keeps to the budget", () => {
    const long = [{ turn: 0, text: "word ".repeat(1000) }];
    const ending = { unfinished: "working", actions: [] } as const;
    const [, request = ""] = nextSteps({ ...NOTHING_GATHERED, requests: long, ending }, 0);
    expect(request.length).toBeLessThan(190);
  });
});
