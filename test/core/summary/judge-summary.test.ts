import { describe, expect, it } from "vitest";
import { isRejected, judgeSummary } from "../../../src/core/compact/summary-answer.ts";
import { answer } from "../../helpers/sample-view.ts";

// covers: v2 "Each section is enforced"
// covers: v2 "Risk: critical info lost → seven sections"
// covers: history "Quality: key decisions are captured"

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

  it.each([
    ["tool_calls", "called_tools", "it calls tools in place of giving the summary"],
    ["length", "truncated", "it was cut off at the longest answer that the model gives"],
    ["refusal", "refused", "the model refused to write it"],
    ["aborted", "unfinished", "it ended without saying that it is complete"],
    ["unknown", "unfinished", "it ended without saying that it is complete"],
  ] as const)("never takes one that ended with %s", (reason, rejected, detail) => {
    expect(judgeSummary({ text: GOOD, reason }, facts)).toEqual({ rejected, detail });
  });

  it.each([
    ["", "empty", "it is empty"],
    ["  \n", "empty", "it is empty"],
    ["## ONE\na", "sections_missing", "it lacks the section TWO"],
    ["## ONE\na\n## TWO\n", "sections_missing", "it lacks the section TWO"],
    ["just prose", "sections_missing", "it lacks the sections ONE, TWO"],
    ["My answer: I cannot help.", "sections_missing", "it lacks the sections ONE, TWO"],
    ["Sorryness is no word.", "sections_missing", "it lacks the sections ONE, TWO"],
    ["## ONE\nI cannot log in to the server\n", "sections_missing", "it lacks the section TWO"],
    ["I cannot say more.\n## ONE\na", "sections_missing", "it lacks the section TWO"],
    ['{"files": []}', "empty", "it holds no summary"],
  ])("rejects %j as %s", (text, rejected, detail) => {
    expect(judgeSummary({ text, reason: "complete" }, facts)).toEqual({ rejected, detail });
  });

  it.each([
    "I'm sorry, but no.",
    "I’m sorry, but no.",
    "I am sorry, no.",
    "sorry, no.",
    "I cannot help with this request.",
    "I can't do that.",
    "I can’t do that.",
    "I can not do that.",
    "I won't do that.",
    "I won’t do that.",
    "I'm not able to.",
    "I’m unable to.",
    "I am not able to.",
    "I am unable to.",
    "As an AI model I do not.",
  ])("knows that %j declines", (text) => {
    expect(judgeSummary({ text, reason: "complete" }, facts)).toEqual({
      rejected: "refused",
      detail: "the model declined to write it",
    });
  });

  it("refuses a short text that declines where no section is asked for, and takes a longer one", () => {
    const free = { template: { ...template, required: [] }, countText: () => 1 };
    const declines = "I'm sorry, but I can't help with that.";
    expect(judgeSummary({ text: declines, reason: "complete" }, free)).toMatchObject({ rejected: "refused" });
    const summary = `I cannot say it shorter: ${"the parser was mended, ".repeat(20)}`.trim();
    expect(judgeSummary({ text: summary, reason: "complete" }, free)).toMatchObject({ summary });
  });

  it("rejects what is longer than what it replaces, and says both", () => {
    const judged = judgeSummary({ text: GOOD, reason: "complete" }, { ...facts, mostTokens: 17 });
    expect(judged).toEqual({
      rejected: "inflated",
      detail: "it is longer than what it replaces (18 tokens for 17)",
    });
    const rounded = { template, countText: () => 18.4, mostTokens: 18 };
    expect(isRejected(judgeSummary({ text: GOOD, reason: "complete" }, rounded))).toBe(false);
    expect(judgeSummary({ text: GOOD, reason: "complete" }, { ...rounded, mostTokens: 16.6 })).toMatchObject({
      detail: "it is longer than what it replaces (18 tokens for 17)",
    });
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
    expect(isRejected(judgeSummary({ text, reason: "complete" }, facts))).toBe(false);
    expect(isRejected(judgeSummary({ text: GOOD, reason: "complete" }, { ...facts, raw }))).toBe(false);
  });

  it("names eight of the things that nothing bears out, and says that there are more", () => {
    const made = (count: number): string[] => Array.from({ length: count }, (_, n) => `src/made-${n}x.ts`);
    const detailOf = (count: number): string => {
      const text = `## ONE\n${made(count).join("\n")}\n## TWO\nb`;
      const judged = judgeSummary({ text, reason: "complete" }, { ...facts, raw: [] });
      return isRejected(judged) ? judged.detail : "";
    };
    const eight = `it says what the turns do not: ${made(8)
      .map((path) => `path "${path}"`)
      .join(", ")}`;
    expect(detailOf(8)).toBe(eight);
    expect(detailOf(9)).toBe(`${eight}, …`);
  });
});
