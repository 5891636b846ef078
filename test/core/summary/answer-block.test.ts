import { describe, expect, it } from "vitest";
import { readBlock, splitBlock } from "../../../src/core/compact/summary-answer.ts";

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

  it("takes three hundred characters behind a block for a farewell, and no more", () => {
    const block = `${FENCE}{"files": ["a.ts"]}\n\`\`\``;
    const withFarewell = (length: number): string => `Long ${"text ".repeat(100)}${block}\n \n${"x".repeat(length)}\n `;
    expect(splitBlock(withFarewell(300))).toEqual({ body: `Long ${"text ".repeat(100)}`, block: FILES });
    expect(splitBlock(withFarewell(301))).toEqual({ body: withFarewell(301), block: null });
  });
});

describe("readBlock", () => {
  it("has empty lists where there is no block, or none in it", () => {
    expect(readBlock(null)).toStrictEqual({ files: [], open_tasks: [] });
    expect(readBlock({ files: "a.ts", open_tasks: { a: 1 } })).toStrictEqual({ files: [], open_tasks: [] });
  });

  it("reads texts once each, without blanks, and nothing that is none", () => {
    const files = [" a.ts", "a.ts", 7, "", " ", "…", null, "b.ts"];
    expect(readBlock({ files, openTasks: ["docs"], summary: "s", plan: null })).toStrictEqual({
      summary: "s",
      files: ["a.ts", "b.ts"],
      open_tasks: ["docs"],
      plan: null,
    });
    expect(readBlock({ open_tasks: ["one"], openTasks: ["two"] })).toStrictEqual({ files: [], open_tasks: ["one"] });
  });
});
