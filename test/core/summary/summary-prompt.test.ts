import { describe, expect, it } from "vitest";
import { joinSummaries, readSummaryAnswer } from "../../../src/core/compact/summary-answer.ts";
import {
  messageView,
  nameTurns,
  rawBeginning,
  suffixView,
  type TaskOptions,
  wordLimit,
  writeRecord,
  writeRetry,
  writeTask,
} from "../../../src/core/compact/summary-prompt.ts";
import { type CutTexts, NOTHING_CUT } from "../../../src/core/compact/transcript.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { answer, kept, request, summary, view } from "../../helpers/sample-view.ts";

// covers: 064 "Summaries are made from raw events, never from summaries"
// covers: history "Target 70 %"
// covers: history "Quality: about 70 % shorter"

const a = request("a", "one");
const b = answer("b", "two");
const c = request("c", "three");

describe("rawBeginning", () => {
  it("gives the beginning of the view up to the last covered event", () => {
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [a, b])).toEqual([kept(0, a, b)]);
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [a])).toEqual([kept(0, a)]);
  });

  it("counts what a model is sent only, and stops behind the last of it", () => {
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
