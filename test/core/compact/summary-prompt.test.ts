import { describe, expect, it } from "vitest";
import { joinSummaries, readSummaryAnswer } from "../../../src/core/compact/summary-answer.ts";
import {
  detectWork,
  messageView,
  nameTurns,
  phraseFocus,
  rawBeginning,
  suffixView,
  type TaskOptions,
  type WorkKind,
  wordLimit,
  writeRecord,
  writeRetry,
  writeTask,
} from "../../../src/core/compact/summary-prompt.ts";
import { type CutTexts, NOTHING_CUT } from "../../../src/core/compact/transcript.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { answer, call, kept, request, result, summary, view } from "../../helpers/sample-view.ts";

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
      "edits, at most six with one request",
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

  it("says nothing with too few signs, and ignores a harness", () => {
    expect(detectWork([request("a", "Hello")])).toEqual([]);
    const reminder: Event = { ...request("a", "bug bug bug"), metadata: { origin: "harness" } };
    expect(detectWork([reminder, reminder, reminder])).toEqual([]);
  });
});

describe("phraseFocus", () => {
  it("words what the user asked for first, then what the work suggests", () => {
    expect(phraseFocus([" the parser ", " ", "tests"], ["debugging", "questions"]).split("\n")).toEqual([
      "Pay special attention to: the parser; tests.",
      "This is debugging: dwell on error messages word for word, what was ruled out, the cause that was found, and how it was solved.",
      "This is about questions and answers: dwell on the facts and conclusions of each answer, and what stayed unanswered.",
    ]);
    expect(phraseFocus([" "], ["planning", "code review", "implementation"]).split("\n")).toEqual([
      "This is planning: dwell on decisions with their reasons, alternatives that were turned down, and how the tasks are cut and ordered.",
      "This is code review: dwell on what was criticised, where exactly, how grave it is, and what was agreed on.",
      "This is implementation: dwell on how the parts are built and why so, the files and functions that were changed, and what is unfinished.",
    ]);
    expect(phraseFocus([], [])).toBe("");
  });
});

const a = request("a", "one");
const b = answer("b", "two");
const c = request("c", "three");

describe("rawBeginning", () => {
  it("gives the beginning of the view up to the last covered event", () => {
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [a, b])).toEqual([kept(0, a, b)]);
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [a])).toEqual([kept(0, a)]);
  });

  it("counts only what a model is sent, and stops after the last of it", () => {
    const note: Event = { type: "note", id: "n", timestamp: "", kind: "progress" };
    const turns = [kept(0, note, a, note, b, note), kept(1, c, note)];
    expect(rawBeginning(view(...turns), [a, note, b, note])).toEqual([kept(0, note, a, note, b)]);
    expect(rawBeginning(view(...turns), [a, b, c])).toEqual([kept(0, note, a, note, b, note), kept(1, c)]);
    expect(rawBeginning(view(kept(0, note), kept(1, a)), [a])).toEqual([kept(0, note), kept(1, a)]);
    expect(rawBeginning(view(kept(0, a), summary(1, 1, "s", b)), [a])).toEqual([kept(0, a)]);
    expect(rawBeginning(view(), [a])).toBeNull();
    expect(rawBeginning(view(kept(0, a)), [note])).toBeNull();
    expect(rawBeginning(view(kept(0, a, b)), [b, a])).toBeNull();
  });

  it("is null where any of it is shown in another way than it was said", () => {
    expect(rawBeginning(view(kept(0, a, { ...b }), kept(1, c)), [a, b])).toBeNull();
    expect(rawBeginning(view(summary(0, 0, "s", a), kept(1, c)), [a])).toBeNull();
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [b])).toBeNull();
    expect(rawBeginning(view(kept(0, a)), [a, b])).toBeNull();
    expect(rawBeginning(view(kept(0, a)), [])).toBeNull();
  });
});

describe("the views of a task", () => {
  it("hold the task as the user's last words", () => {
    const timestamp = "1970-01-01T00:00:00Z";
    const task = (turn: number) =>
      kept(
        turn,
        { type: "turn_start", id: "summary.turn", timestamp },
        { type: "chat_request", id: "summary.request", timestamp, content: "task" },
      );
    expect(messageView("task")).toEqual(view(task(0)));
    expect(suffixView([kept(0, a)], "task")).toEqual(view(kept(0, a), task(1)));
  });
});

describe("writeTask", () => {
  const template = {
    text: "Sum {{turns}} up.",
    sections: "## ONE\nfirst",
    required: ["ONE"],
    names: ["ONE"],
  };
  const answerForm = "{{text}}|{{cut}}{{focus}}|{{words}}|{{sections}}|{{block}}";
  const own = "{{text}}|{{cut}}{{focus}}|{{words}}|{{turns}}";
  const write = (more: Partial<TaskOptions>): readonly string[] =>
    writeTask(
      { summary: template, answer: answerForm, own, cut: "It is cut. " },
      { subject: "turns 0 to 3", focus: "bugs", words: 150, ...more },
    ).split("|");

  it("says what to sum up, what to dwell on, how long and in which form", () => {
    expect(write({})).toEqual([
      "Sum turns 0 to 3 up.",
      "bugs",
      "150",
      "## ONE\nfirst",
      '{"files":["…"],"open_tasks":["…"]}',
    ]);
  });

  it("takes instructions of one's own as they are, and asks for no sections then", () => {
    expect(write({ instructions: "{{turns}} please" })).toEqual(["{{turns}} please", "bugs", "150", "turns 0 to 3"]);
  });

  it("takes another text, and more fields of the block before its own", () => {
    const [text, , , , block] = write({ text: "Merge.", block: { plan: { id: 1 }, files: 1 } });
    expect(text).toBe("Merge.");
    expect(block).toBe('{"plan":{"id":1},"files":["…"],"open_tasks":["…"]}');
  });

  it("says that the last turn is cut", () => {
    expect(write({ isCut: true })[1]).toBe("It is cut.bugs");
  });

  it("names the template that cannot be filled", () => {
    const fill = (text: string, form: string) => () =>
      writeTask({ summary: { ...template, text }, answer: form, own, cut: "" }, { subject: "s", focus: "", words: 1 });
    expect(fill("none", answerForm)).toThrowError("The template summary text cannot be filled");
    expect(fill("{{turns}}", "{{more}}")).toThrowError("The template summary-answer cannot be filled");
    expect(() => writeRetry({ retry: "" }, "t", "r")).toThrowError("The template summary-retry cannot be filled");
    const parts = { transcript: { text: "", mark: "@", cut: NOTHING_CUT }, subject: "s", task: "t", part: "" };
    expect(() => writeRecord({ record: "" }, parts)).toThrowError("The template summary-record cannot be filled");
  });
});

describe("writeRetry and writeRecord", () => {
  it("put the task where the template has it", () => {
    expect(writeRetry({ retry: "{{task}} Not so: {{reason}}." }, "Do.", "it is empty")).toBe(
      "Do. Not so: it is empty.",
    );
    const record = "{{turns}}|{{part}}|{{mark}}|{{shortened}}|{{record}}|{{task}}";
    const write = (cut: CutTexts): readonly string[] => {
      const transcript = { text: "@1 user", mark: "@1", cut };
      return writeRecord({ record }, { transcript, subject: "turn 1", part: "part 2", task: "Do." }).split("|");
    };
    expect(write(NOTHING_CUT)).toEqual(["turn 1", "part 2", "@1", "", "@1 user", "Do."]);
    expect(write({ texts: 1, chars: 500 })[3]).toMatch(/^One text was shortened in the middle, by 500 characters/);
    expect(write({ texts: 2, chars: 500 })[3]).toMatch(/^2 texts were shortened/);
  });

  it("name turns in words", () => {
    expect([nameTurns(3, 3), nameTurns(0, 12)]).toEqual(["turn 3", "turns 0 to 12"]);
  });
});

describe("wordLimit", () => {
  it("asks for three tenths, within bounds, in round numbers", () => {
    expect([0, 1000, 5000, 11_904, 11_905, 100_000].map(wordLimit)).toEqual([150, 200, 1050, 2500, 2500, 2500]);
    expect([833, 834, 11_785].map(wordLimit)).toEqual([150, 200, 2450]);
  });
});

describe("joinSummaries", () => {
  const template = { text: "", sections: "", required: ["ONE", "TWO"], names: ["ONE", "TWO", "MORE"] };
  const read = (text: string) => readSummaryAnswer(text, template.names);

  it("joins section by section, saying no line twice and `none` only where no part says anything", () => {
    const first = read('## ONE\n- a\n- b\n## TWO\nnone\n{"files": ["x"], "open_tasks": ["t"]}');
    const second = read('## ONE\n- b\n- c\n## TWO\n- None.\n## MORE\nNode 20\n{"files": ["x", "y"], "open_tasks": []}');
    expect(joinSummaries([first, second], template)).toEqual({
      summary: "## ONE\n- a\n- b\n- c\n\n## TWO\nnone\n\n## MORE\nNode 20",
      sections: new Map([
        ["ONE", "- a\n- b\n- c"],
        ["TWO", "none"],
        ["MORE", "Node 20"],
      ]),
      files: ["x", "y"],
      open_tasks: ["t"],
    });
  });

  it("leaves an optional section out of which no part says anything, and blank lines", () => {
    const part = read("## ONE\n- a\n\n   \n- b\n## TWO\nb");
    expect(joinSummaries([part, part], template)).toEqual({
      summary: "## ONE\n- a\n- b\n\n## TWO\nb",
      sections: new Map([
        ["ONE", "- a\n- b"],
        ["TWO", "b"],
      ]),
      files: [],
      open_tasks: [],
    });
  });

  it.each(["none", "None.", "- NONE", "* none", "• (none)", '"none".', "[none]", "'none'", "none -", "- none\n"])(
    "takes %j for nothing",
    (text) => {
      const said = (own: string) => ({ ...read(""), sections: new Map([["ONE", own]]) });
      expect(joinSummaries([said(text), said("- a")], template).sections.get("ONE")).toBe("- a");
    },
  );

  it.each(["none of it works", "so none", "nonesuch", "no", "none, yet"])("takes %j for something", (text) => {
    const said = { ...read(""), sections: new Map([["ONE", text]]) };
    expect(joinSummaries([said], template).sections.get("ONE")).toBe(text);
  });
});
