import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readLedger } from "../../../src/core/summary/event-ledger.ts";
import { finishSummary } from "../../../src/core/summary/finish-summary.ts";
import { renderLedger, withoutLedger } from "../../../src/core/summary/ledger-text.ts";
import { call, result } from "../../helpers/sample-view.ts";

const placed = [
  call("a", "Write", { file_path: "/p/new.ts", content: "x" }),
  result("ar", "a", "ok"),
  call("b", "Edit", { file_path: "/p/failed.ts" }),
  result("br", "b", "no match", true),
  call("c", "Read", { file_path: "/p/read.ts" }),
  call("d", "Grep", { pattern: "x", path: "/p" }),
  call("e", "Bash", { command: "npm test\nsecond line" }),
  result("er", "e", "Error: it broke", true),
].map((event) => ({ turn: 0, event }));
const LEDGER = readLedger(placed);
const NONE = { modified: [], read: [], commands: [], errors: [] };

describe("readLedger", () => {
  it("has files that changed, files looked at, commands with how they ended, and errors", () => {
    expect(LEDGER).toEqual({
      modified: ["/p/new.ts"],
      read: ["/p/failed.ts", "/p/read.ts"],
      commands: ["npm test → failed"],
      errors: ["no match", "Error: it broke"],
    });
  });
});

describe("renderLedger", () => {
  it("lists modified files always, and the rest where the text does not have it", () => {
    const text = "ran npm test on /p/new.ts, saw Error: it broke";
    expect(renderLedger(LEDGER, { text, limit: 1000 }).split("\n").slice(2)).toEqual([
      "Files modified:",
      "- /p/new.ts",
      "Errors seen:",
      "- no match",
      "Files looked at:",
      "- /p/failed.ts",
      "- /p/read.ts",
    ]);
  });

  it("is empty without anything to add, and without room", () => {
    expect(renderLedger(NONE, { text: "", limit: 1000 })).toBe("");
    expect(renderLedger(LEDGER, { text: "", limit: 50 })).toBe("");
  });

  it("stays within its limit, says when something is left out, and can be taken off again", () => {
    const entries = fc.array(
      fc.string({ minLength: 1, maxLength: 30 }).map((text) => `f${text.replace(/\s/g, "")}`),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(entries, entries, fc.nat(600), (modified, commands, limit) => {
        const ledger = { ...NONE, modified, commands };
        const text = renderLedger(ledger, { text: "", limit });
        expect(text.length).toBeLessThanOrEqual(limit);
        const listed = text.split("\n").filter((line) => line.startsWith("- ") && !line.startsWith("- … more"));
        if (text !== "" && listed.length < modified.length + commands.length) expect(text).toContain("… more");
        if (text !== "") expect(withoutLedger(`words\n\n${text}`)).toBe("words");
      }),
    );
  });
});

describe("finishSummary", () => {
  const answer = {
    summary: "words",
    sections: new Map(),
    files: ["new.ts", "./p/read.ts", "other.ts"],
    open_tasks: ["docs"],
  };

  it("puts the events' files before the model's, each file once", () => {
    const { files, open_tasks } = finishSummary(answer, LEDGER, 1000);
    expect(files).toEqual(["/p/new.ts", "/p/failed.ts", "/p/read.ts", "other.ts"]);
    expect(open_tasks).toEqual(["docs"]);
  });

  it("has no ledger where the summary saves nothing", () => {
    expect(finishSummary(answer, LEDGER, 0).summary).toBe("words");
    expect(finishSummary(answer, LEDGER, 1000).summary).toMatch(/^words\n\n## LEDGER\n/);
  });
});
