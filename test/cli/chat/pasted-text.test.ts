import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPastedTexts, firstKeys } from "../../../src/cli/chat/pasted-text.ts";

const PASTE = (text: string): string => `\u001b[200~${text}\u001b[201~`;

describe("what comes first in keys", () => {
  it.each([
    ["abc", { kind: "typed", text: "abc", length: 3 }],
    ["abc\rdef", { kind: "typed", text: "abc", length: 3 }],
    ["\r", { kind: "enter", length: 1 }],
    ["\r\nx", { kind: "enter", length: 2 }],
    ["\nx", { kind: "enter", length: 1 }],
    ["\u001b", { kind: "typed", text: "\u001b", length: 1 }],
    ["\u001b[A", { kind: "typed", text: "\u001b[A", length: 3 }],
    ["\u001b[20", { kind: "incomplete", length: 0 }],
    ["ab\u001b[200", { kind: "typed", text: "ab", length: 2 }],
    [`ab${PASTE("x")}`, { kind: "typed", text: "ab", length: 2 }],
    [`${PASTE("x\ry")}z`, { kind: "pasted", text: "x\ry", length: 15 }],
    ["\u001b[200~x\ry", { kind: "incomplete", length: 0 }],
    ["\u001b[200~x\u0003y", { kind: "typed", text: "\u0003", length: 8 }],
  ])("%j", (keys, expected) => {
    expect(firstKeys(keys)).toEqual(expected);
  });

  it("always takes something of keys that hold no beginning of a mark", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (keys) => {
        fc.pre(!keys.includes("\u001b"));
        expect(firstKeys(keys).length).toBeGreaterThan(0);
      }),
    );
  });
});

describe("a pasted text", () => {
  it("of one line stands as it is", () => {
    expect(createPastedTexts().nameOf("a small text")).toBe("a small text");
  });

  it("of several lines, with a tab or very long has a name in the line", () => {
    const pasted = createPastedTexts();
    expect(pasted.nameOf("one\r\ntwo\rthree")).toBe("[pasted #1: 3 lines]");
    expect(pasted.nameOf("a\tb")).toBe("[pasted #2: 1 line]");
    expect(pasted.nameOf("x".repeat(501))).toBe("[pasted #3: 1 line]");
    expect(pasted.expand("see [pasted #1: 3 lines] and [pasted #2: 1 line]!")).toBe("see one\ntwo\nthree and a\tb!");
    expect(pasted.expand("[pasted #9: 2 lines]")).toBe("[pasted #9: 2 lines]");
  });

  it("comes back as it was, whatever it holds", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
        const pasted = createPastedTexts();
        for (const text of texts) {
          fc.pre(!/\[pasted #/.test(text));
          const back = pasted.expand(pasted.nameOf(text));
          expect(back.replaceAll("\\@", "@")).toBe(text.replaceAll(/\r\n?/g, "\n").replaceAll("\\@", "@"));
        }
      }),
    );
  });
});
