import { describe, expect, it } from "vitest";
import { parseTitle, shownTitle, titleOfRequest } from "../../src/core/conversation/marks.ts";

describe("parseTitle", () => {
  it("makes one clean line", () => {
    expect(parseTitle("  Fix\tthe\n\u001b[31mparser\u202e ")).toBe("Fix the parser");
  });

  it("takes 200 characters and no more, and names the limit", () => {
    expect(parseTitle("🎉".repeat(200))).toBe("🎉".repeat(200));
    expect(() => parseTitle("x".repeat(102_400))).toThrow(
      expect.objectContaining({
        code: "long_title",
        message: "A title has at most 200 characters; this one has 102400.",
      }),
    );
  });

  it("refuses a title of which nothing is left", () => {
    for (const text of ["", " \n", "\u001b[2J\u202e"])
      expect(() => parseTitle(text)).toThrow(expect.objectContaining({ code: "empty_title" }));
  });
});

describe("titles that others wrote", () => {
  it("are cut, between characters", () => {
    expect(shownTitle("🎉".repeat(300))).toBe(`${"🎉".repeat(199)}…`);
    expect(titleOfRequest(`${"🎉".repeat(79)} and more`)).toBe(`${"🎉".repeat(79)}…`);
    expect(titleOfRequest("x".repeat(80))).toBe("x".repeat(80));
    expect(titleOfRequest("\u0000")).toBe("");
  });
});
