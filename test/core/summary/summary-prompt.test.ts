import { describe, expect, it } from "vitest";
import { joinSummaries } from "../../../src/core/summary/join-summaries.ts";
import { readSummaryAnswer } from "../../../src/core/summary/summary-answer.ts";
import { messageView, rawBeginning, suffixView, wordLimit } from "../../../src/core/summary/summary-prompt.ts";
import { answer, kept, request, summary, view } from "../../helpers/sample-view.ts";

const a = request("a", "one");
const b = answer("b", "two");
const c = request("c", "three");

describe("rawBeginning", () => {
  it("gives the beginning of the view up to the last covered event", () => {
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [a, b])).toEqual([kept(0, a, b)]);
    expect(rawBeginning(view(kept(0, a, b), kept(1, c)), [a])).toEqual([kept(0, a)]);
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
    expect(messageView("task").turns.at(-1)?.events.at(-1)).toMatchObject({ type: "chat_request", content: "task" });
    const { turns } = suffixView([kept(0, a)], "task");
    expect(turns).toHaveLength(2);
    expect(turns[0]).toEqual(kept(0, a));
  });
});

describe("wordLimit", () => {
  it("asks for three tenths, within bounds, in round numbers", () => {
    expect([0, 1000, 5000, 100_000].map(wordLimit)).toEqual([150, 200, 1050, 2500]);
  });
});

describe("joinSummaries", () => {
  const template = { text: "", sections: "", required: ["ONE", "TWO"], names: ["ONE", "TWO", "MORE"] };
  const read = (text: string) => readSummaryAnswer(text, template.names);

  it("joins section by section, saying no line twice and `none` only where no part says anything", () => {
    const first = read('## ONE\n- a\n- b\n## TWO\nnone\n{"files": ["x"], "open_tasks": ["t"]}');
    const second = read('## ONE\n- b\n- c\n## TWO\n- None.\n## MORE\nNode 20\n{"files": ["x", "y"], "open_tasks": []}');
    const joined = joinSummaries([first, second], template);
    expect(joined.summary).toBe("## ONE\n- a\n- b\n- c\n\n## TWO\nnone\n\n## MORE\nNode 20");
    expect(joined).toMatchObject({ files: ["x", "y"], open_tasks: ["t"] });
  });
});
