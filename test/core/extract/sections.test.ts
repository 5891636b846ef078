import { describe, expect, it } from "vitest";
import type { Gathered } from "../../../src/core/extract/gather.ts";
import { writeSections } from "../../../src/core/extract/sections.ts";
import { NOTHING_GATHERED } from "../../helpers/nothing-gathered.ts";

function sections(found: Partial<Gathered>, chars = 8000): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(writeSections({ ...NOTHING_GATHERED, ...found }, chars));
}

const decision = "We keep brackets on a stack because errors must name their column.";
const trouble = "The nightly deployment crashed while copying certificates across regions.";
const remark = "Every module inside the renderer draws its own coloured borders separately.";
const guidance = "Never touch those generated fixtures inside the vendor folder please.";

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
    const found: Partial<Gathered> = {
      requests: [
        { turn: 0, text: "one" },
        { turn: 1, text: `${"y".repeat(200)}. ${"z".repeat(4000)}. ${guidance}` },
      ],
      messages: [
        { turn: 0, text: `${decision} ${trouble}` },
        { turn: 1, text: remark },
      ],
      answers: [
        { turn: 0, text: "first answer" },
        { turn: 1, text: "second answer" },
      ],
      modified: ["a.ts"],
      notModified: ["b.ts"],
      read: ["c.ts"],
      tools: ["Bash 2x", "Read 1x"],
      commands: ["npm test", "cat x.ts", "make → failed"],
      errors: [{ turn: 1, line: "Error: x" }],
      openTasks: ["write it"],
      isUnanswered: true,
    };
    const written = sections(found);
    expect(written["TASK STATE"]?.map((line) => line.slice(0, 30))).toEqual([
      "- [t0] Request: one",
      "- [t0] Answer: first answer",
      `- [t1] Request: ${"y".repeat(14)}`,
      "- [t1] Answer: second answer",
      "Said on the way:",
      `- [t1] ${remark}`.slice(0, 30),
    ]);
    expect(written).toMatchObject({
      FILES: ["Changed:", "- a.ts", "- b.ts (every change failed)", "Read:", "- c.ts"],
      "TOOL HISTORY": ["Calls: Bash 2x, Read 1x", "Commands:", "- npm test", "- make → failed"],
      ERRORS: ["- [t1] Error: x", "What was said of problems:", `- [t0] ${trouble}`],
      DECISIONS: [`- [t0] ${decision}`],
      "USER GUIDANCE": [`- [t1] ${guidance}`],
      "NEXT STEPS": ["- write it", "- the last request has no answer yet"],
    });
  });

  it("points at requests and answers where they say all there is", () => {
    const said = (text: string) => [{ turn: 0, text }];
    expect(sections({ requests: said("one"), answers: said("two") })).toMatchObject({
      DECISIONS: ["- see the answers above"],
      "USER GUIDANCE": ["- see the requests above"],
    });
    const known = { requests: said(guidance), answers: said(decision), messages: said(decision) };
    expect(sections(known)).toMatchObject({
      DECISIONS: ["- see the answers above"],
      "USER GUIDANCE": ["- see the requests above"],
    });
  });

  it("takes a sentence that speaks of trouble and of a decision for a decision, and no other for guidance", () => {
    const both = "The nightly deployment crashed because certificates expired across regions.";
    const messages = [{ turn: 0, text: both }];
    const requests = [{ turn: 0, text: `${"x".repeat(5000)}. ${remark}` }];
    const written = sections({ messages, requests });
    expect(written).toMatchObject({
      ERRORS: [],
      DECISIONS: [`- [t0] ${both}`],
      "USER GUIDANCE": ["- see the requests above"],
    });
  });

  it("hands on what one kind of line leaves, and counts what must be in before", () => {
    const commands = Array.from({ length: 50 }, (_, n) => `make part-${n + 10}`);
    const shown = (found: Partial<Gathered>, chars: number): number =>
      Math.max(0, (sections({ commands, ...found }, chars)["TOOL HISTORY"]?.length ?? 0) - 1);
    // A line is 15 characters with its end, and commands have a tenth of what is left.
    expect(shown({}, 330 + 300)).toBe(2);
    expect(shown({}, 330 + 299)).toBe(1);
    expect(shown({ modified: ["a"] }, 330 + 4 + 300)).toBe(2);
    expect(shown({ modified: ["a"] }, 330 + 3 + 300)).toBe(1);
    expect(shown({ openTasks: ["a"] }, 330 + 4 + 300)).toBe(2);
    expect(shown({ openTasks: ["a"] }, 330 + 3 + 300)).toBe(1);
    expect(shown({ requests: [{ turn: 0, text: "one" }] }, 330 + 20 + 300)).toBe(2);
    expect(shown({ requests: [{ turn: 0, text: "one" }] }, 330 + 19 + 300)).toBe(1);
    expect(shown({}, 0)).toBe(0);
  });

  it("gives requests three tenths of the room", () => {
    const requests = [{ turn: 0, text: "x".repeat(5000) }];
    expect(sections({ requests }, 330 + 1000)["TASK STATE"]).toEqual([`- [t0] Request: ${"x".repeat(282)} …`]);
  });

  it("cuts a long list of tools at 600 characters", () => {
    const tools = Array.from({ length: 100 }, (_, n) => `tool-${n} 1x`);
    const [line = ""] = sections({ tools })["TOOL HISTORY"] ?? [];
    expect(line.length).toBeLessThanOrEqual(600);
    expect(line.length).toBeGreaterThan(580);
    expect(line).toMatch(/^Calls: tool-0 1x, tool-1 1x, .* …$/);
  });
});
