import { describe, expect, it } from "vitest";
import { writeSections } from "../../../src/core/compact/extract.ts";
import type { Gathered } from "../../../src/core/compact/gather.ts";
import { NOTHING_GATHERED } from "../../helpers/nothing-gathered.ts";

function sections(found: Partial<Gathered>, chars = 8000): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(writeSections({ ...NOTHING_GATHERED, ...found }, chars));
}

const remark = "Every module inside the renderer draws its own coloured borders separately.";

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
    const run = (command: string, failed = false) => ({ command, failed });
    const answers = [
      { turn: 0, text: "first answer" },
      { turn: 1, text: "second answer" },
    ];
    const found: Partial<Gathered> = {
      requests: [
        { turn: 0, text: "one" },
        { turn: 1, text: "yes\nplease" },
      ],
      messages: [{ turn: 0, text: remark }, ...answers],
      answers,
      modified: ["a.ts"],
      notModified: ["b.ts"],
      read: ["c.ts"],
      tools: ["Bash 2x", "Read 1x"],
      commands: [run("`npm test`"), run("`make`", true)],
      commits: [{ turn: 1, line: "1a2b3c4 Add a" }],
      failures: [
        { turn: 0, what: "`make`", lines: ["Error: x", "y"], mend: { turn: 1, changed: ["a.ts"] } },
        { turn: 1, what: "`make`", lines: [], mend: null },
      ],
      decisions: [{ turn: 0, text: "use a stack" }],
      guidance: [{ turn: 1, text: "never push" }],
      openTasks: ["write it"],
    };
    expect(sections(found)).toEqual({
      "TASK STATE": [
        "- [t0] Request: one",
        "- [t0] Answer: first answer",
        "- [t1] Request: yes\n  please",
        "- [t1] Answer: second answer",
        "Said on the way:",
        `- [t0] ${remark}`,
      ],
      FILES: ["Changed:", "- a.ts", "- b.ts (every change failed)", "Read:", "- c.ts"],
      "TOOL HISTORY": [
        "Calls: Bash 2x, Read 1x",
        "Commits:",
        "- [t1] 1a2b3c4 Add a",
        "Commands:",
        "- `npm test`",
        "- `make` → failed",
      ],
      ERRORS: ["- [t0] `make` failed: Error: x; y → worked in t1 after changes to a.ts", "- [t1] `make` failed"],
      DECISIONS: ["- [t0] use a stack"],
      "USER GUIDANCE": ["- [t1] never push"],
      "NEXT STEPS": ["- Open: write it"],
    });
  });

  it("hands on what one kind of line leaves, and counts what must be in before", () => {
    const commits = Array.from({ length: 50 }, (_, n) => ({ turn: 0, line: `${n + 10} abcdefgh` }));
    const shown = (found: Partial<Gathered>, chars: number): number =>
      Math.max(0, (sections({ commits, ...found }, chars)["TOOL HISTORY"]?.length ?? 0) - 1);
    // A line is 19 characters with its end; guidance, decisions and failures leave what they have: 0.38 in all.
    expect(shown({}, 330 + 100)).toBe(2);
    expect(shown({}, 330 + 99)).toBe(1);
    expect(shown({ modified: ["a"] }, 330 + 4 + 100)).toBe(2);
    expect(shown({ modified: ["a"] }, 330 + 3 + 100)).toBe(1);
    expect(shown({ openTasks: ["a"] }, 330 + 10 + 100)).toBe(2);
    expect(shown({ openTasks: ["a"] }, 330 + 9 + 100)).toBe(1);
    expect(shown({ requests: [{ turn: 0, text: "one" }] }, 330 + 20 + 100)).toBe(2);
    expect(shown({ requests: [{ turn: 0, text: "one" }] }, 330 + 19 + 100)).toBe(1);
    expect(shown({}, 0)).toBe(0);
  });

  it("gives requests three tenths of the room", () => {
    const requests = [{ turn: 0, text: "x".repeat(5000) }];
    expect(sections({ requests }, 330 + 1000)["TASK STATE"]).toEqual([`- [t0] Request: ${"x".repeat(276)}\n  …`]);
  });

  it("cuts a long list of tools at 600 characters", () => {
    const tools = Array.from({ length: 100 }, (_, n) => `tool-${n} 1x`);
    const [line = ""] = sections({ tools })["TOOL HISTORY"] ?? [];
    expect(line.length).toBeLessThanOrEqual(600);
    expect(line.length).toBeGreaterThan(580);
    expect(line).toMatch(/^Calls: tool-0 1x, tool-1 1x, .* …$/);
  });
});
