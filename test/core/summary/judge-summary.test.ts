import { describe, expect, it } from "vitest";
import { judgeSummary } from "../../../src/core/summary/judge-summary.ts";
import { answer } from "../../helpers/sample-view.ts";

const template = { text: "", sections: "", required: ["ONE", "TWO"], names: ["ONE", "TWO", "MORE"] };
const countText = (text: string): number => text.length;
const facts = { template, countText };
const GOOD = "## ONE\na\n## TWO\nb";

describe("judgeSummary", () => {
  it("takes a whole answer with its sections; an optional one may be missing", () => {
    expect(judgeSummary({ text: GOOD, reason: "complete" }, facts)).toMatchObject({
      summary: "## ONE\na\n\n## TWO\nb",
    });
  });

  it.each(["tool_calls", "length", "refusal", "aborted", "unknown"] as const)(
    "never takes one that ended with %s",
    (reason) => {
      expect(judgeSummary({ text: GOOD, reason }, facts)).toHaveProperty("rejected");
    },
  );

  it.each([
    ["", "empty"],
    ["  \n", "empty"],
    ["## ONE\na", "sections_missing"],
    ["## ONE\na\n## TWO\n", "sections_missing"],
    ["just prose", "sections_missing"],
    ["I cannot help with this request.", "refused"],
    ["## ONE\nI cannot log in to the server\n", "sections_missing"],
    ['{"files": []}', "empty"],
  ])("rejects %j as %s", (text, rejected) => {
    expect(judgeSummary({ text, reason: "complete" }, facts)).toMatchObject({ rejected });
  });

  it("rejects what is longer than what it replaces, and says both", () => {
    const judged = judgeSummary({ text: GOOD, reason: "complete" }, { ...facts, mostTokens: 17 });
    expect(judged).toMatchObject({ rejected: "inflated", detail: expect.stringContaining("18 tokens for 17") });
    expect(judgeSummary({ text: GOOD, reason: "complete" }, { ...facts, mostTokens: 18 })).not.toHaveProperty(
      "rejected",
    );
  });

  it("rejects what the events do not bear out, where they are given", () => {
    const text = "## ONE\nsee src/made-up.ts\n## TWO\nb";
    const raw = [answer("a", "see src/real.ts")];
    expect(judgeSummary({ text, reason: "complete" }, { ...facts, raw })).toMatchObject({
      rejected: "ungrounded",
      detail: 'it says what the turns do not: path "src/made-up.ts"',
    });
    expect(judgeSummary({ text, reason: "complete" }, facts)).not.toHaveProperty("rejected");
  });
});
