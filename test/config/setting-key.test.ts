// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatKey, parseKey, scanKey } from "../../src/config/keys.ts";

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
