import { describe, expect, it } from "vitest";
import { formatMessage, quotePath } from "../../../../src/store/git/write.ts";
import { formatSignature } from "../../../../src/store/ref-files.ts";

describe("formatSignature", () => {
  it("writes zones as git does", () => {
    const person = { name: "A", email: "a@b", seconds: 100 };
    expect(formatSignature(person)).toBe("A <a@b> 100 +0000");
    expect(formatSignature({ ...person, offsetMinutes: 330 })).toBe("A <a@b> 100 +0530");
    expect(formatSignature({ ...person, offsetMinutes: -90 })).toBe("A <a@b> 100 -0130");
  });

  it("keeps out what would break the line, and dates before 1970", () => {
    expect(formatSignature({ name: "A <x>\n", email: "a>b", seconds: -5.5 })).toBe("A x <ab> 0 +0000");
  });
});

describe("formatMessage", () => {
  it("ends in one line end", () => {
    expect(formatMessage("a\n\nb\n\n")).toBe("a\n\nb\n");
    expect(formatMessage("a\0b")).toBe("ab\n");
  });
});

describe("quotePath", () => {
  it("escapes quotes, backslashes and line ends, and keeps the rest", () => {
    expect(quotePath('ü "x"\\y\nz')).toBe('"ü \\"x\\"\\\\y\\nz"');
  });

  it("refuses what is no path in a tree", () => {
    for (const path of ["", "a//b", "a/../b", ".GIT/hooks/x", "a\0"]) {
      expect(() => quotePath(path)).toThrow(expect.objectContaining({ code: "bad_path" }));
    }
  });
});
