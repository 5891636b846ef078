import { describe, expect, it } from "vitest";
import { renderNothing } from "../../../src/cli/render/compact.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const report = {
  reason: "everything that may be removed is already compacted",
  hints: ["`jpg log` lists the compactions."],
};

describe("renderNothing", () => {
  it("says why, as a sentence, and what to type", () => {
    expect(renderNothing(report, PLAIN.style)).toBe(
      "Nothing to compact. Everything that may be removed is already compacted.\nhint: `jpg log` lists the compactions.",
    );
    expect(renderNothing({}, PLAIN.style)).toBe("Nothing to compact.");
  });

  it("leaves names as they are at the start of a sentence", () => {
    for (const reason of ["test/model-1 found no tangent.", "a-b", "3 turns are too few", "Ünter", "$HOME"])
      expect(renderNothing({ reason }, PLAIN.style)).toBe(`Nothing to compact. ${reason.replace(/\.$/, "")}.`);
  });

  it("breaks lines between words where it is told the width", () => {
    expect(renderNothing(report, PLAIN.style, 40).split("\n")).toEqual([
      "Nothing to compact. Everything that may",
      "be removed is already compacted.",
      "hint: `jpg log` lists the compactions.",
    ]);
  });

  it("lets nothing of a conversation steer the terminal", () => {
    expect(renderNothing({ reason: "\u001b[2Jgone" }, PLAIN.style)).not.toContain("\u001b");
  });
});
