import { describe, expect, it } from "vitest";
import { renderTable } from "../../../src/cli/frame/table.ts";
import { type SafeText, safe } from "../../../src/core/safe-text.ts";

describe("renderTable", () => {
  it("aligns columns by what a terminal shows, without blanks at the end", () => {
    const rows = [
      ["日本", "1", "x"],
      ["abc", "1234", ""],
    ];
    expect(renderTable(rows, { columns: [{}, { align: "right" }, {}] })).toEqual(["日本     1  x", "abc   1234"]);
  });

  it("leaves out a column that is empty everywhere", () => {
    expect(renderTable([["a", "", "b"]], { columns: [{}, {}, {}] })).toEqual(["a  b"]);
  });

  it("shrinks the last column that may, first", () => {
    const columns = [{ shrinkTo: 4 }, {}, { shrinkTo: 3 }];
    expect(renderTable([["abcdefgh", "fixed", "abcdefgh"]], { columns, width: 22 })).toEqual([
      "abcdefgh  fixed  abcd…",
    ]);
    expect(renderTable([["abcdefgh", "fixed", "abcdefgh"]], { columns, width: 16 })).toEqual(["abc…  fixed  ab…"]);
  });

  it("colours a column where a cell does not say otherwise", () => {
    const columns = [{ paint: (text: SafeText) => safe`<${text}>` }, { align: "right" as const }];
    const rows = [
      [{ text: "id", paint: (text: SafeText) => safe`(${text})` }, "n"],
      ["a", "10"],
    ];
    expect(renderTable(rows, { columns })).toEqual(["(id)   n", "<a>   10"]);
  });

  it("makes cells safe and colours them after measuring", () => {
    const paint = (text: SafeText): SafeText => safe`<${text}>`;
    expect(renderTable([[{ text: "a\u001b[2J\nb", paint }, "c"]], { columns: [{}, {}] })).toEqual(["<a␛[2J b>  c"]);
  });
});
