import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTemplate } from "../../../src/core/summary/fill-template.ts";
import { parseSummaryTemplate } from "../../../src/core/summary/summary-template.ts";

describe("fillTemplate", () => {
  it("fills each hole, as often as it comes", () => {
    expect(fillTemplate("t", "{{a}} and {{b}} and {{a}}\n", { a: "1", b: "2" })).toBe("1 and 2 and 1");
  });

  it("takes a line away that is a hole filled with nothing, and the empty line after it", () => {
    expect(fillTemplate("t", "one\n\n{{a}}\n\ntwo {{a}}.\n", { a: "" })).toBe("one\n\ntwo .");
  });

  it("refuses a hole without a value and a value without a hole", () => {
    expect(() => fillTemplate("t", "{{a}} {{b}}", { a: "1", c: "2" })).toThrowError(
      expect.objectContaining({
        kind: "internal",
        code: "bad_template",
        message: "The template t cannot be filled: nothing is given for {{b}}, it has no hole {{c}}.",
      }),
    );
  });

  it("never looks at what was filled in: holes and patterns in a text stay as they are", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("", "{{b}}", "$&", "$1", "{{a}}"), (text, end) => {
        const value = `x${text}${end}x`;
        expect(fillTemplate("t", "<{{a}}|{{b}}>", { a: value, b: "B" })).toBe(`<${value}|B>`);
      }),
    );
  });
});

describe("parseSummaryTemplate", () => {
  it("parts the text from the sections, of which some are optional", () => {
    expect(
      parseSummaryTemplate("f", "Do it.\n\n# Sections\n\n## ONE\nfirst\n## TWO WORDS (optional)\nsecond\n"),
    ).toEqual({
      text: "Do it.",
      sections: "## ONE\nfirst\n## TWO WORDS (optional)\nsecond",
      required: ["ONE"],
      names: ["ONE", "TWO WORDS"],
    });
  });

  it("refuses a file without sections", () => {
    for (const text of ["Do it.", "Do it.\n# Sections\nnone"])
      expect(() => parseSummaryTemplate("f", text)).toThrowError(expect.objectContaining({ code: "bad_template" }));
  });
});
