// @module-tag law

import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { formatKey, parseKey, scanKey, scanKeyLines } from "../../src/config/keys.ts";

describe("lines of keys", () => {
  it("finds keys, tables and dotted keys below tables", () => {
    const lineOf = scanKeyLines('# one\na = 1\n\n[b.c] # table\nd = "x"\ne.f = 2\n[[g]]\nh = 3\n');
    expect([["a"], ["b", "c"], ["b", "c", "d"], ["b", "c", "e", "f"], ["g"], ["g", "h"]].map(lineOf)).toEqual([
      2, 4, 5, 6, 7, 8,
    ]);
  });

  it("gives the line of the table around a key inside an inline table", () => {
    expect(scanKeyLines('[t]\nprofile = { reasoning = "strip" }')(["t", "profile", "reasoning"])).toBe(2);
  });

  it("gives nothing for a key that stands nowhere", () => {
    expect(scanKeyLines("a = 1")(["b"])).toBeUndefined();
  });

  it("is not led astray by strings, lists and comments that look like keys", () => {
    const text = [
      'a = """',
      "[no]",
      "b = 1 # no",
      '""" # yes',
      "c = '''",
      'd = "',
      "'''",
      "e = [",
      '  "]", # ]',
      "  '#',",
      "]",
      "f = { g = '}' }",
      'h = "\\"#["',
      "i = 1",
    ].join("\r\n");
    expect(Object.keys(parse(text))).toEqual(["a", "c", "e", "f", "h", "i"]);
    expect(["a", "c", "e", "f", "h", "i", "b", "d"].map((key) => scanKeyLines(text)([key]))).toEqual([
      1,
      5,
      8,
      12,
      13,
      14,
      undefined,
      undefined,
    ]);
  });

  it("finds every key of a text made of any values", () => {
    const values = [
      "1",
      '"a # b"',
      "'[x]'",
      '"""\nk0 = 1\n"""',
      "[\n1,\n2, # ]\n]",
      "{ a = 1 }",
      '""""q""""',
      "2020-01-01",
    ];
    const statement = fc.record({
      value: fc.constantFrom(...values),
      gap: fc.constantFrom("", "\n", "# k1 = 2\n", "  "),
    });
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 12 }), (statements) => {
        let text = "";
        const expected = statements.map(({ value, gap }, index) => {
          text += gap;
          const line = text.split("\n").length;
          text += `k${index} = ${value}\n`;
          return line;
        });
        parse(text);
        expect(statements.map((_, index) => scanKeyLines(text)([`k${index}`]))).toEqual(expected);
      }),
    );
  });
});

describe("setting keys", () => {
  it("quotes only names that need it", () => {
    expect(formatKey(["tools", "fs_read-2", "my.tool", ""])).toBe('tools.fs_read-2."my.tool".""');
  });

  it("lets no control character through", () => {
    expect(formatKey(["\u001b[31m\u009b\u007f"])).toBe('"\\u001b[31m\\u009b\\u007f"');
    expect(parseKey(formatKey(["\u001b\u009b\u007f"]))).toEqual(["\u001b\u009b\u007f"]);
  });

  it("reads bare, quoted and literal names with blanks around the dots", () => {
    expect(parseKey(`a . "b.\\"c" . 'd\\e'`)).toEqual(["a", 'b."c', "d\\e"]);
  });

  it("tells where a key ends", () => {
    expect(scanKey("x = a.b = 1", 4)).toEqual({ path: ["a", "b"], end: 8 });
  });

  it.each(["", ".", "a.", "a b", "a.=", '"open', '"bad \\q escape"'])("takes %j for no key", (text) => {
    expect(parseKey(text)).toBeNull();
  });

  it("reads back every path that it formats", () => {
    const path = fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(path, (names) => {
        expect(parseKey(formatKey(names))).toEqual(names);
      }),
    );
  });
});
