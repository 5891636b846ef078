// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutMiddleBytes } from "../../../src/app/models/tool-box.ts";

describe("cutMiddle", () => {
  it("does not change a text that fits", () => {
    expect(cutMiddleBytes("ebb and flow", 12)).toBe("ebb and flow");
  });

  it("keeps both ends within the limit, cuts no character in two, and counts what is missing", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(text, fc.nat(300), (whole, limit) => {
        const cut = cutMiddleBytes(whole, limit);
        const size = Buffer.byteLength(whole);
        if (size <= limit) {
          expect(cut).toBe(whole);
          return;
        }
        const parts = /^([\s\S]*)\n\[… (\d+) of (\d+) bytes left out …\]\n([\s\S]*)$/.exec(cut);
        const [, head = "", missing, total, tail = ""] = parts ?? [];
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        const kept = Buffer.byteLength(head) + Buffer.byteLength(tail);
        // A character on the edge of the head is kept whole.
        expect(kept).toBeLessThanOrEqual(limit + 3);
        expect([Number(missing), Number(total)]).toEqual([size - kept, size]);
      }),
    );
  });
});
