import { describe, expect, it } from "vitest";
import { renderTable, renderTableText } from "../../../src/cli/frame/table.ts";
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

  it("draws a column that repeats itself, cells of other colours in it, and rows that end in blanks", () => {
    const angle = (text: SafeText): SafeText => safe`<${text}>`;
    const rows = [
      ["a", "1", "x "],
      ["a", "1", "x "],
      [{ text: "a", paint: angle }, "22", ""],
      ["", "22", ""],
      ["", "", "日本"],
      ["", "", "日本"],
    ];
    expect(renderTable(rows, { columns: [{}, { align: "right" }, {}] })).toEqual([
      "a   1  x",
      "a   1  x",
      "<a>  22",
      "   22",
      "       日本",
      "       日本",
    ]);
  });
});

describe("renderTableText", () => {
  it("is the lines of the table, however many there are", () => {
    const columns = [{ shrinkTo: 3 }, { align: "right" as const }, { shrinkTo: 4 }];
    const rows = Array.from({ length: 2000 }, (_, index) => [
      `name-${index}`,
      String(index % 7),
      index % 5 === 0 ? "größe 日本 \u001b[2J" : "a title ",
    ]);
    const options = { columns, width: 20, indent: "  " as const };
    expect(renderTableText(rows.flat(), options)).toBe(renderTable(rows, options).join("\n"));
    expect(renderTableText([], options)).toBe("");
  });
});
