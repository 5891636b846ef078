// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTemplate, parseSummaryTemplate } from "../../../src/core/compact/summary-prompt.ts";

describe("fillTemplate", () => {
  it("fills each hole, as often as it comes", () => {
    expect(fillTemplate("t", "{{a}} and {{b}} and {{a}}\n", { a: "1", b: "2" })).toBe("1 and 2 and 1");
  });

  it("takes a line away that is a hole filled with nothing, and the empty line after it", () => {
    expect(fillTemplate("t", "one\n\n{{a}}\n\ntwo {{a}}.\n", { a: "" })).toBe("one\n\ntwo .");
    expect(fillTemplate("t", "{{a}}\none\n{{a}}\n\n\ntwo", { a: "" })).toBe("one\n\ntwo");
    expect(fillTemplate("t", "one {{a}}\n\n{{b}}\n\ntwo", { a: "", b: "B" })).toBe("one \n\nB\n\ntwo");
  });

  it("takes blanks at the end away, and none at the beginning", () => {
    expect(fillTemplate("t", "\n one {{a}}\n \n", { a: "1  " })).toBe("\n one 1");
    expect(fillTemplate("t", "{{ a }} {{A}} {a} {{}}", {})).toBe("{{ a }} {{A}} {a} {{}}");
    expect(fillTemplate("t", "{{one_two}}", { one_two: "2" })).toBe("2");
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
    const notOne = ["Do it.", "Do it.\n# Sections\nnone", "# Sections\n## ONE (optional)", "## ONE\n## Sections"];
    for (const text of [...notOne, "x # Sections\n## ONE", "# Sections \n## ONE", "## ONE\n# Sections\nx ## TWO"])
      expect(() => parseSummaryTemplate("f", text)).toThrowError(
        expect.objectContaining({
          kind: "internal",
          code: "bad_template",
          message: 'The template f names no sections: expected a line "# Sections" and lines "## NAME" after it.',
        }),
      );
  });

  it("reads only headings that are whole lines, after the line that separates them from the text", () => {
    const content =
      "\nFirst.\n## NOT\n\n# Sections\n\n## A (optional) \n### no\n## B (optional)\n ## no\n## C\n# Sections\n";
    expect(parseSummaryTemplate("f", content)).toEqual({
      text: "First.\n## NOT",
      sections: "## A (optional) \n### no\n## B (optional)\n ## no\n## C\n# Sections",
      required: ["A (optional) ", "C"],
      names: ["A (optional) ", "B", "C"],
    });
  });
});
