// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStyle, displayWidth } from "../../../src/cli/frame/terminal.ts";
import { wrapProse } from "../../../src/cli/frame/wrap.ts";
import { forTerminal, safe } from "../../../src/core/safe-text.ts";
import { runs } from "../../helpers/runs.ts";

const words = fc.array(fc.stringMatching(/^[a-zé日]{1,12}$|^`[a-z]{1,5} [a-z]{1,5}`[.,]?$/), { minLength: 1 });

describe("wrapProse", () => {
  it("keeps every word and command whole and in order, within the width", () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 30, max: 90 }), (said, columns) => {
        const text = said.join(" ");
        const rows = wrapProse(forTerminal(text), columns);
        expect(rows.map((row) => row.trim()).join(" ")).toBe(text);
        expect(rows.filter((row) => displayWidth(row) > columns)).toEqual([]);
        expect(rows.filter((row) => row.split("`").length % 2 === 0)).toEqual([]);
        expect(rows.slice(1).filter((row) => !row.startsWith("  "))).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });

  it("gives what is wider than the terminal a row of its own, and does not count colours", () => {
    const path = `/${"long/".repeat(8)}end`;
    expect(wrapProse(forTerminal(`Wrote it: ${path} today`), 30)).toEqual(["Wrote it:", `  ${path}`, "  today"]);
    const coloured = "\u001b[33mwarning:\u001b[39m twenty-one more signs" as ReturnType<typeof forTerminal>;
    expect(wrapProse(coloured, 31)).toEqual([coloured]);
  });

  it("keeps a command in the colour of ids whole, and ends each colour with its row", () => {
    const style = createStyle(true);
    const command = style.id(safe`jpg use ID`);
    expect(wrapProse(safe`No conversation is checked out: ${command}`, 38)).toEqual([
      "No conversation is checked out:",
      `  ${command}`,
    ]);
    const faint = style.faint(safe`one two three four five six`);
    expect(wrapProse(faint, 20)).toEqual([
      style.faint(safe`one two three four`),
      safe`  ${style.faint(safe`five six`)}`,
    ]);
  });
});
