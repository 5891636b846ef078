// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSummaryAnswer } from "../../../src/core/compact/summary-answer.ts";

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
    expect(read(text)).toEqual({
      summary: '## TASK STATE\n```json\n{"port": 9090}\n```\n\n## FILES\nnone',
      sections: new Map([
        ["TASK STATE", '```json\n{"port": 9090}\n```'],
        ["FILES", "none"],
      ]),
      files: [],
      open_tasks: [],
    });
  });

  it("removes what precedes the first heading, however long, also when it names sections", () => {
    const lead = "w".repeat(5000);
    expect(read(`${lead}\n${PLAIN}`).summary).toBe(PLAIN);
    expect(read(`<analysis>\n1. FILES: I look.\n## ERRORS\nhm\n</analysis>\n\n${PLAIN}`).summary).toBe(PLAIN);
    expect(read(`<thinking>a</thinking>\n<analysis>b</analysis><summary>\n${PLAIN}\n</summary>`).summary).toBe(PLAIN);
  });

  it("leaves an answer without sections whole, but for its analysis", () => {
    expect(readSummaryAnswer("<analysis>\nhm\n</analysis>\n\nA poem.\nOf two lines.", []).summary).toBe(
      "A poem.\nOf two lines.",
    );
  });

  it("takes the whole text where no section is found", () => {
    expect(read(`  just prose\n\n${BLOCK}`)).toEqual({
      summary: "just prose",
      sections: new Map(),
      files: ["/p/a.ts"],
      open_tasks: ["docs"],
    });
    expect(read("")).toEqual({ summary: "", sections: new Map(), files: [], open_tasks: [] });
    expect(read('{"plan": 7}')).toEqual({ summary: "", sections: new Map(), files: [], open_tasks: [], plan: 7 });
  });

  it.each([
    "## FILES",
    "   ## FILES",
    "##FILES",
    "###### FILES",
    "files",
    "FILES:",
    "FILES (optional)",
    "FILES (Optional):",
    "FILES:   ",
    "2) FILES",
    "12. FILES",
    "## 2. FILES",
    "## **2. FILES**",
    "__FILES__",
    "__FILES:__",
    "**FILES** :",
  ])("takes the line %j for a heading", (line) => {
    expect(found(`${line}\nown`)).toEqual({ FILES: "own" });
  });

  it.each([
    "    ## FILES",
    "####### FILES",
    "100. FILES",
    "- FILES",
    "MY FILES",
    "FILES are here",
    "FILESYSTEM",
    "FILES - own",
    "2 FILES",
    "TASKSTATE",
  ])("takes the line %j for text", (line) => {
    expect(found(`## ERRORS\n${line}`)).toEqual({ ERRORS: line.trim() });
  });

  it.each([
    ["FILES: a.ts", "a.ts"],
    ["**FILES:** a.ts ", "a.ts"],
    ["**FILES**: a.ts: b", "a.ts: b"],
    ["FILES:a.ts\nb.ts", "a.ts\nb.ts"],
  ])("reads what stands behind the colon of %j", (text, own) => {
    expect(found(text)).toEqual({ FILES: own });
  });

  it("reads names of several words with any blanks or lines under them, and takes their signs as they are", () => {
    for (const line of ["TASK STATE", "task_state", "Task   State", "TASK__STATE"])
      expect(found(`${line}\nwell`)).toEqual({ "TASK STATE": "well" });
    const signs = ["A.B (C)", "D+E?"];
    const { sections, summary } = readSummaryAnswer("## A.B (C)\none\n## AxB (C)\n## D+E?\ntwo", signs);
    expect([...sections]).toEqual([
      ["A.B (C)", "one\n## AxB (C)"],
      ["D+E?", "two"],
    ]);
    expect(summary).toBe("## A.B (C)\none\n## AxB (C)\n\n## D+E?\ntwo");
  });

  it("joins a section that comes twice where it came first, also where it is empty there", () => {
    expect(read("## FILES\n## ERRORS\ne\n## FILES\n\na\n## ERRORS: f\n").summary).toBe(
      "## FILES\na\n\n## ERRORS\ne\nf",
    );
    expect(read("## FILES\n## ERRORS\ne").summary).toBe("## FILES\n\n## ERRORS\ne");
  });

  it.each<[string, unknown, string]>([
    ["a list", ["one", "two"], "- one\n- two"],
    ["a list of other things", [1, null, true, { FILES: "f" }], "- 1\n- \n- true\n- ## FILES\nf"],
    ["a number", 5, "5"],
    ["nothing", null, ""],
    ["sections", { FILES: ["f", "g"], Errors: 0 }, "## FILES\n- f\n- g\n\n## ERRORS\n0"],
  ])("reads a summary given in JSON as %s", (_, summary, text) => {
    expect(read(JSON.stringify({ summary })).summary).toBe(text);
  });

  it.each([
    ["markdown", "```markdown\n", "\n```"],
    ["md", "```md  \n", "\n```"],
    ["text", "```text\n", "\n\n```"],
    ["txt", "\n```txt\n", "\n```\n"],
  ])("takes a fence of %s around the answer away", (_, open, close) => {
    expect(read(`${open}## FILES\nown${close}`).summary).toBe("## FILES\nown");
    expect(read(`${open}just prose${close}`).summary).toBe("just prose");
  });

  it("takes a fence without a language away only where there are others inside it", () => {
    const inner = "## FILES\n```sh\nls\n```";
    expect(read(`\`\`\`\n${inner}\n\`\`\``).summary).toBe(inner);
    const texts = ["```\nprose\n```", "```\nprose", "```md\nprose", "```md\nprose\n```x", "```md\na\n```\nprose"];
    const more = ["so\n```md\nprose\n```", "```mdx\nprose\n```", "```\na\n```\nb\n```", "```ts md\nprose\n```"];
    for (const text of [...texts, ...more]) expect(read(text).summary).toBe(text);
  });

  it("takes thinking away before the answer only", () => {
    for (const tag of ["think", "thinking", "reasoning"])
      expect(read(`\n <${tag}>\nhm </b>\n</${tag}>\n## FILES\nown`).summary).toBe("## FILES\nown");
    const others = ["so <think>hm</think>", "<think>hm</thinking>", "<b>hm</b>", "<think>hm"];
    for (const text of others) expect(read(text).summary).toBe(text);
    expect(read("<think>a</think> b <think>c</think>").summary).toBe("b <think>c</think>");
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
