import { describe, expect, it } from "vitest";
import {
  hasRoomForSummary,
  isRejected,
  judgeSummary,
  readBlock,
  splitBlock,
} from "../../../src/core/compact/summary-answer.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
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

  it.each([
    ["tool_calls", "called_tools", "it calls tools instead of giving the summary"],
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

const FENCE = "\n```json\n";
const EARLIER = `Text${FENCE}{"files": []}\n\`\`\``;
const FILES = { files: ["a.ts"] };

describe("splitBlock", () => {
  it.each<[string, string, Readonly<Record<string, unknown>>]>([
    ["an object with files", '{"files": ["a.ts"]}', FILES],
    ["an object with tasks", '{"open_tasks": ["docs"]}', { open_tasks: ["docs"] }],
    ["an object with a summary", '{"summary": "short"}', { summary: "short" }],
    ["an object with a plan", '{"plan": 1}', { plan: 1 }],
    ["an object with blanks around it", ' {"files": ["a.ts"]} ', FILES],
    ["an object with blanks around it that JSON does not know", '\u00a0{"files": ["a.ts"]}\ufeff', FILES],
    ["a fence", '```\n{"files": ["a.ts"]}\n```', FILES],
    ["a fence with a language and blanks behind it", '```json  \n{"files": ["a.ts"]}\n```', FILES],
    ["an object with commas too many", '{"files": ["a.ts",\n ],}', FILES],
  ])("takes an answer that is %s for the block alone", (_, text, block) => {
    expect(splitBlock(text)).toEqual({ body: "", block });
  });

  it.each<[string, string, string, Readonly<Record<string, unknown>> | null]>([
    ["in a fence", `Text${FENCE}{"files": ["a.ts"]}\n\`\`\``, "Text", FILES],
    ["in a fence that is not closed", `Text${FENCE}{"files": ["a.ts"]}`, "Text", FILES],
    ["in the last fence", `${EARLIER}${FENCE}{"files": ["a.ts"]}\n\`\`\``, EARLIER, FILES],
    ["in a fence at the very beginning", `${FENCE}{"files": ["a.ts"]}\n\`\`\`\nBye`, "", FILES],
    ["that is broken but names files", `Text${FENCE}{"files": ["a.ts\n\`\`\``, "Text", null],
    ["that is broken but names tasks", `Text${FENCE}{"open_tasks": ["a\n\`\`\``, "Text", null],
    ["without a fence", 'Text\n{"files": ["a.ts"]}', "Text", FILES],
    ["without a fence, tasks first", 'Text\n{"open_tasks": ["docs"]}', "Text", { open_tasks: ["docs"] }],
    ["without a fence on many lines", 'Text\n{\n  "plan": {\n "id": 1}}', "Text", { plan: { id: 1 } }],
    ["without a fence, the last of two", 'Text\n{"files": []}\n{"files": ["a.ts"]}', 'Text\n{"files": []}', FILES],
    ["after a bare object of another kind", 'Text\n{\n"port": 1}\n{"files": ["a.ts"]}', 'Text\n{\n"port": 1}', FILES],
    ["that begins the text", '\n{"files": ["b"]} {\n{"files": ["a.ts"]}', '\n{"files": ["b"]} {', FILES],
  ])("takes a block away %s", (_, text, body, block) => {
    expect(splitBlock(text)).toEqual({ body, block });
  });

  it.each([
    ["prose", "Text"],
    ["an object of another kind", '{"port": 1}'],
    ["a list", '["files"]'],
    ["a text in quotes", '"files"'],
    ["a fence of another kind", `Text${FENCE}{"port": 1}\n\`\`\``],
    ["a fence whose fields lie deeper", `Text${FENCE}{"port": {"files": []}}\n\`\`\``],
    ["a broken fence of another kind", `Text${FENCE}{"port": oops\n\`\`\``],
    ["a fence that says nothing", '{"files":["a"]} {\n```json'],
    ["a bare object of another kind", 'Text\n{\n"port": 1}'],
    ["a bare object that is broken", "Text\n{\nfiles}"],
    ["a bare object with words behind it", 'Text\n{"files": ["a.ts"]}\nso {much}'],
    ["an object with an empty fence behind it", '{"files": ["a.ts"]}\n```\n\n```'],
    ["a broken object in a fence that closes inside it", '```\n{"files": ["x\n```y"]}'],
  ])("leaves %s as it is", (_, text) => {
    expect(splitBlock(text)).toEqual({ body: text, block: null });
  });

  it("accepts at most three hundred characters after a block as a farewell", () => {
    const block = `${FENCE}{"files": ["a.ts"]}\n\`\`\``;
    const withFarewell = (length: number): string => `Long ${"text ".repeat(100)}${block}\n \n${"x".repeat(length)}\n `;
    expect(splitBlock(withFarewell(300))).toEqual({ body: `Long ${"text ".repeat(100)}`, block: FILES });
    expect(splitBlock(withFarewell(301))).toEqual({ body: withFarewell(301), block: null });
  });
});

describe("readBlock", () => {
  it("has empty lists where there is no block, or none in it", () => {
    expect(readBlock(null)).toEqual({ files: [], open_tasks: [] });
    expect(readBlock({ files: "a.ts", open_tasks: { a: 1 } })).toEqual({ files: [], open_tasks: [] });
  });

  it("reads texts once each, without blanks, and nothing that is none", () => {
    const files = [" a.ts", "a.ts", 7, "", " ", "…", null, "b.ts"];
    expect(readBlock({ files, openTasks: ["docs"], summary: "s", plan: null })).toStrictEqual({
      summary: "s",
      files: ["a.ts", "b.ts"],
      open_tasks: ["docs"],
      plan: null,
    });
    expect(readBlock({ open_tasks: ["one"], openTasks: ["two"] })).toEqual({ files: [], open_tasks: ["one"] });
  });
});

/** A summary of about so many tokens over some turns; later ids are newer. */
function summary(id: string, [from_turn, to_turn]: readonly [number, number], tokens: number): Compaction {
  const timestamp = `2026-02-01T00:00:0${id}Z`;
  return { type: "compaction", id, timestamp, from_turn, to_turn, summary: { summary: "word ".repeat(tokens) } };
}

describe("hasRoomForSummary", () => {
  const two = [summary("1", [0, 4], 100), summary("2", [5, 9], 100)];

  it("says whether several summaries leave three quarters of the limit", () => {
    expect(hasRoomForSummary(two, 2000)).toBe(true);
    expect(hasRoomForSummary(two, 400)).toBe(false);
  });

  it("takes no single one for too much: another in its place is no smaller", () => {
    expect(hasRoomForSummary([], 10)).toBe(true);
    expect(hasRoomForSummary(two.slice(0, 1), 10)).toBe(true);
  });

  it("counts only summaries, and none that a newer one replaces", () => {
    expect(hasRoomForSummary([...two, summary("3", [0, 9], 100)], 10)).toBe(true);
    const { summary: _, ...rest } = summary("4", [10, 12], 100);
    expect(hasRoomForSummary([...two.slice(0, 1), { ...rest, turns: "omit" }], 10)).toBe(true);
    // An older one over all turns is no newer one's place.
    expect(hasRoomForSummary([summary("0", [0, 9], 100), ...two], 400)).toBe(false);
  });
});
