import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSummaryAnswer } from "../../../src/core/summary/summary-answer.ts";

const NAMES = ["TASK STATE", "FILES", "ERRORS", "CONTEXT"];
const BLOCK = '{"files": ["/p/a.ts"], "open_tasks": ["docs"]}';
const PLAIN = "## TASK STATE\ngoing well\n\n## FILES\n- /p/a.ts\n\n## ERRORS\nnone";

const read = (text: string) => readSummaryAnswer(text, NAMES);
const found = (text: string) => Object.fromEntries(read(text).sections);

describe("readSummaryAnswer", () => {
  it("reads sections and the block", () => {
    expect(read(`${PLAIN}\n\n\`\`\`json\n${BLOCK}\n\`\`\``)).toEqual({
      summary: PLAIN,
      sections: new Map([
        ["TASK STATE", "going well"],
        ["FILES", "- /p/a.ts"],
        ["ERRORS", "none"],
      ]),
      files: ["/p/a.ts"],
      open_tasks: ["docs"],
    });
  });

  it.each([
    ["numbered", "1. TASK STATE: going well\n2. FILES:\n- /p/a.ts\n3. ERRORS: none"],
    ["bold", "**TASK STATE**\ngoing well\n**FILES:**\n- /p/a.ts\n**Errors**: none"],
    ["bold numbers", "**1. TASK STATE**\ngoing well\n**2. FILES**\n- /p/a.ts\n**3. ERRORS**\nnone"],
    ["headings of any depth", "# Task State\ngoing well\n### Files\n- /p/a.ts\n#### ERRORS\nnone"],
    ["in a fence", `\`\`\`markdown\n${PLAIN}\n\n\`\`\`json\n${BLOCK}\n\`\`\`\n\`\`\``],
    ["with thinking before it", `<think>\n## FILES\nwell\n</think>\n${PLAIN}`],
    [
      "with a preamble and a farewell",
      `Here is the summary:\n\n${PLAIN}\n\n\`\`\`json\n${BLOCK}\n\`\`\`\nAnything else?`,
    ],
    ["with a block that has no fence", `${PLAIN}\n${BLOCK}`],
    ["with a block that is no JSON", `${PLAIN}\n\`\`\`json\n{"files": [oops\n\`\`\``],
    ["with a block that was cut", `${PLAIN}\n\`\`\`json\n{"files": ["/p/a.t`],
    ["as JSON", JSON.stringify({ summary: PLAIN, files: [], open_tasks: [] })],
    ["as fenced JSON", `\`\`\`json\n${JSON.stringify({ summary: PLAIN })}\n\`\`\``],
    [
      "as JSON by section",
      JSON.stringify({ summary: { TASK_STATE: "going well", files: ["/p/a.ts"], Errors: "none" } }),
    ],
    ["with a section said twice", `## FILES\n- /p/a.ts\n${PLAIN.replace("- /p/a.ts", "")}`],
  ])("reads the same sections %s", (_, text) => {
    expect(found(text)).toEqual({ "TASK STATE": "going well", FILES: "- /p/a.ts", ERRORS: "none" });
  });

  it("keeps blocks of code that are the summary's own", () => {
    const text = `## TASK STATE\n\`\`\`json\n{"port": 9090}\n\`\`\`\n## FILES\nnone`;
    expect(read(text).summary).toContain('{"port": 9090}');
    expect(found(text)).toMatchObject({ FILES: "none" });
  });

  it("keeps a long text before the first heading", () => {
    const lead = "word ".repeat(100).trim();
    expect(read(`${lead}\n${PLAIN}`).summary).toBe(`${lead}\n\n${PLAIN}`);
  });

  it("does not count a heading with nothing under it", () => {
    expect(found("## TASK STATE\n## FILES\n\n## ERRORS\nnone")).toEqual({ ERRORS: "none" });
  });

  it("forgives a comma too many in the block, and leaves out what is no text", () => {
    const block = '{"files": ["/p/a.ts", "", "…", 7, "/p/a.ts",], "open_tasks": "docs"}';
    expect(read(`${PLAIN}\n\`\`\`json\n${block}\n\`\`\``)).toMatchObject({ files: ["/p/a.ts"], open_tasks: [] });
  });

  it("gives back the plan of a bundle", () => {
    expect(read(`${PLAIN}\n\`\`\`json\n{"plan": {"id": "x"}, "files": []}\n\`\`\``).plan).toEqual({ id: "x" });
  });

  it("reads any text, and its own form again to the same", () => {
    const line = fc.constantFrom(
      ...NAMES,
      "## FILES",
      "**ERRORS**:",
      "1. CONTEXT: so",
      "```json",
      "```",
      "{",
      "text",
      "",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 12 }), (lines) => {
        const once = read([...lines, "", BLOCK].join("\n"));
        if (once.sections.size === 0) return;
        const again = read(once.summary);
        expect(Object.fromEntries(again.sections)).toMatchObject(Object.fromEntries(once.sections));
      }),
    );
  });
});
