import { describe, expect, it } from "vitest";
import {
  bothEnds,
  newestLines,
  nextSteps,
  showAnswers,
  showPassages,
  showRequests,
  writeSections,
} from "../../../src/core/compact/extract.ts";
import type { Gathered } from "../../../src/core/compact/gather.ts";
import { listPassages } from "../../../src/core/compact/passages.ts";
import { NOTHING_GATHERED } from "../../helpers/nothing-gathered.ts";

function sections(found: Partial<Gathered>, chars = 8000): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(writeSections({ ...NOTHING_GATHERED, ...found }, chars));
}

const remark = "Every module inside the renderer draws its own coloured borders separately.";

describe("writeSections", () => {
  it("writes nothing of nothing, in order", () => {
    expect(writeSections(NOTHING_GATHERED, 1000)).toEqual([
      ["TASK STATE", []],
      ["FILES", []],
      ["TOOL HISTORY", []],
      ["ERRORS", []],
      ["DECISIONS", []],
      ["USER GUIDANCE", []],
      ["NEXT STEPS", []],
    ]);
  });

  it("puts everything under its heading", () => {
    const run = (command: string, failed = false) => ({ command, failed });
    const answers = [
      { turn: 0, text: "first answer" },
      { turn: 1, text: "second answer" },
    ];
    const found: Partial<Gathered> = {
      requests: [
        { turn: 0, text: "one" },
        { turn: 1, text: "yes\nplease" },
      ],
      messages: [{ turn: 0, text: remark }, ...answers],
      answers,
      modified: ["a.ts"],
      notModified: ["b.ts"],
      read: ["c.ts"],
      tools: ["Bash 2x", "Read 1x"],
      commands: [run("`npm test`"), run("`make`", true)],
      commits: [{ turn: 1, line: "1a2b3c4 Add a" }],
      failures: [
        { turn: 0, what: "`make`", lines: ["Error: x", "y"], fixed: { turn: 1, changed: ["a.ts"] } },
        { turn: 1, what: "`make`", lines: [], fixed: null },
      ],
      decisions: [{ turn: 0, text: "use a stack" }],
      guidance: [{ turn: 1, text: "never push" }],
      openTasks: ["write it"],
    };
    expect(sections(found)).toEqual({
      "TASK STATE": [
        "- [t0] Request: one",
        "- [t0] Answer: first answer",
        "- [t1] Request: yes\n  please",
        "- [t1] Answer: second answer",
        "Said on the way:",
        `- [t0] ${remark}`,
      ],
      FILES: ["Changed:", "- a.ts", "- b.ts (every change failed)", "Read:", "- c.ts"],
      "TOOL HISTORY": [
        "Calls: Bash 2x, Read 1x",
        "Commits:",
        "- [t1] 1a2b3c4 Add a",
        "Commands:",
        "- `npm test`",
        "- `make` → failed",
      ],
      ERRORS: ["- [t0] `make` failed: Error: x; y → worked in t1 after changes to a.ts", "- [t1] `make` failed"],
      DECISIONS: ["- [t0] use a stack"],
      "USER GUIDANCE": ["- [t1] never push"],
      "NEXT STEPS": ["- Open: write it"],
    });
  });

  it("hands on what one kind of line leaves, and counts what must be in before", () => {
    const commits = Array.from({ length: 50 }, (_, n) => ({ turn: 0, line: `${n + 10} abcdefgh` }));
    const shown = (found: Partial<Gathered>, chars: number): number =>
      Math.max(0, (sections({ commits, ...found }, chars)["TOOL HISTORY"]?.length ?? 0) - 1);
    // A line is 19 characters with its end; guidance, decisions and failures leave what they have: 0.38 in all.
    expect(shown({}, 330 + 100)).toBe(2);
    expect(shown({}, 330 + 99)).toBe(1);
    expect(shown({ modified: ["a"] }, 330 + 4 + 100)).toBe(2);
    expect(shown({ modified: ["a"] }, 330 + 3 + 100)).toBe(1);
    expect(shown({ openTasks: ["a"] }, 330 + 10 + 100)).toBe(2);
    expect(shown({ openTasks: ["a"] }, 330 + 9 + 100)).toBe(1);
    expect(shown({ requests: [{ turn: 0, text: "one" }] }, 330 + 20 + 100)).toBe(2);
    expect(shown({ requests: [{ turn: 0, text: "one" }] }, 330 + 19 + 100)).toBe(1);
    expect(shown({}, 0)).toBe(0);
  });

  it("gives requests three tenths of the room", () => {
    const requests = [{ turn: 0, text: "x".repeat(5000) }];
    expect(sections({ requests }, 330 + 1000)["TASK STATE"]).toEqual([`- [t0] Request: ${"x".repeat(276)}\n  …`]);
  });

  it("cuts a long list of tools at 600 characters", () => {
    const tools = Array.from({ length: 100 }, (_, n) => `tool-${n} 1x`);
    const [line = ""] = sections({ tools })["TOOL HISTORY"] ?? [];
    expect(line.length).toBeLessThanOrEqual(600);
    expect(line.length).toBeGreaterThan(580);
    expect(line).toMatch(/^Calls: tool-0 1x, tool-1 1x, .* …$/);
  });
});

const said = (...texts: readonly string[]) => texts.map((text, turn) => ({ turn, text }));
const a = (count: number): string => "a".repeat(count);

describe("showRequests", () => {
  it("shows what has room as it is, its lines set in", () => {
    expect(showRequests(said("one\n two", a(200)), 500)).toEqual(said("one\n   two", a(200)));
  });

  it("shows what a short reply replies to", () => {
    const reply = { turn: 1, text: "yes", answerBefore: "Shall I fix it?" };
    expect(showRequests([reply], 500)).toEqual([{ turn: 1, text: "yes (to: Shall I fix it?)" }]);
  });

  it("cuts long ones to a fair share, counting 16 more characters for each", () => {
    // 600 less 16 and 100 for the first leave 484, less 16; six are for the mark of the cut.
    expect(showRequests(said(a(100), a(1000)), 600)).toEqual(said(a(100), `${a(460)}\n  …`));
  });

  it("cuts none below 130 characters and none above 3000", () => {
    const [whole, cut] = showRequests(said(a(130), a(131)), 0);
    expect(whole).toEqual({ turn: 0, text: a(130) });
    expect(cut?.text).toMatch(/^a{122}\n {2}…$/);
    expect(showRequests(said(a(3000), a(3001)), 100_000)[0]?.text).toBe(a(3000));
    expect(showRequests([], 0)).toEqual([]);
  });
});

describe("showAnswers", () => {
  it("shows the newest that have room for 136 characters each", () => {
    const three = said(a(10), a(20), a(30));
    expect(showAnswers(three, 1000)).toEqual(three);
    expect(showAnswers(three, 408)).toEqual(three);
    expect(showAnswers(three, 407)).toEqual(three.slice(1));
    expect(showAnswers(three, 136)).toEqual(three.slice(2));
    expect(showAnswers(three, 135)).toEqual([]);
  });

  it("cuts the middle out of long ones, to a fair share or to 3000 characters", () => {
    const [, long] = showAnswers(said(a(10), a(900)), 542);
    expect(long?.text.length).toBeLessThanOrEqual(500);
    expect(long?.text).toMatch(/^a+\n {2}…\n {2}a+$/);
    expect(showAnswers(said(a(4000)), 10_000)[0]?.text.length).toBeLessThanOrEqual(3010);
    expect(showAnswers(said(a(3000)), 10_000)).toEqual(said(a(3000)));
  });

  it("leaves out answers that say nothing, and keeps lines and code", () => {
    const code = "see\n```ts\nconst a = 1;\n```";
    expect(showAnswers(said("", " \n", code), 10_000)).toEqual([
      { turn: 2, text: "see\n  ```ts\n  const a = 1;\n  ```" },
    ]);
  });
});

describe("showPassages", () => {
  const parser = "The parser keeps a stack of open brackets with their positions.";
  const long = `Deployment ${Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ")}.`;

  it("makes lines of what fits, counting 16 more characters for each", () => {
    const passages = listPassages(said(parser));
    expect(showPassages(passages, parser.length + 16, "")).toEqual([`- [t0] ${parser}`]);
    expect(showPassages(passages, parser.length + 15, "")).toEqual([]);
  });

  it("leaves out what was seen, whole or up to where it is cut", () => {
    const passages = listPassages(said(parser, long));
    expect(showPassages(passages, 1000, `It says: ${parser}`)).toMatchObject(
      [/^- \[t1\] Deployment .* …$/].map(matching),
    );
    expect(showPassages(passages, 1000, long)).toEqual([`- [t0] ${parser}`]);
    expect(showPassages(passages, 1000, long.slice(0, 100))).toHaveLength(2);
  });

  const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
});

describe("newestLines", () => {
  it("takes the newest that fit, in their order", () => {
    expect(newestLines(["one", "two", "three"], 10)).toEqual(["two", "three"]);
    expect(newestLines(["one", "two", "three"], 14)).toEqual(["one", "two", "three"]);
    expect(newestLines(["one", "a long line", "two"], 8)).toEqual(["one", "two"]);
  });
});

describe("bothEnds", () => {
  it("takes all that fit, each once, else the oldest and the newest", () => {
    expect(bothEnds(said("one", "two"), 100)).toEqual(["- [t0] one", "- [t1] two"]);
    expect(bothEnds([...said("one"), ...said("one")], 100)).toEqual(["- [t0] one"]);
    expect(bothEnds(said("one", "two", "six", "ten"), 24)).toEqual(["- [t0] one", "- [t3] ten"]);
  });
});

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

  it("lists the requests of the last turn, the last words and the last actions if it is not", () => {
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

  it("names the question instead of the last words, and no words before a request without an answer", () => {
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
