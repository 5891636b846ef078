// @module-tag law
// Lines that are drawn over: on a terminal that knows only what they send it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Screen } from "../../../src/cli/frame/screen.ts";
import { createLiveLines } from "../../../src/cli/render/markdown.ts";
import { forTerminal } from "../../../src/core/safe-text.ts";
import { runs } from "../../helpers/runs.ts";

/** A terminal that knows only what live lines send it. */
function drawnScreen(columns: number, rows: number): { readonly screen: Screen; text(): string } {
  const lines: string[] = [""];
  let at = 0;
  const screen: Screen = {
    columns: () => columns,
    rows: () => rows,
    every: () => () => undefined,
    write(text) {
      for (const [index, part] of text.split("\n").entries()) {
        if (index > 0) {
          at++;
          lines[at] ??= "";
        }
        lines[at] += part;
      }
    },
    draw(sequences) {
      expect(sequences).toMatch(/^(\u001b\[2K\u001b\[A)*\r\u001b\[2K$/);
      at -= sequences.split("\u001b[A").length - 1;
      if (at < 0) throw new Error("above the screen");
      lines.length = at + 1;
      lines[at] = "";
    },
  };
  return { screen, text: () => lines.join("\n") };
}

describe("lines that change", () => {
  it("stand at last as they were settled, whatever was live between", () => {
    const line = fc.constantFrom(...["", "a", "ab", "a b c", "long line"].map(forTerminal));
    const step = fc.tuple(fc.array(line, { maxLength: 3 }), fc.array(line, { maxLength: 9 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const { screen, text } = drawnScreen(20, 5);
        const live = createLiveLines(screen);
        for (const [settled, changing] of steps) live.show(settled, changing);
        live.show([], []);
        expect(text()).toBe([...steps.flatMap(([settled]) => settled), ""].join("\n"));
      }),
      { numRuns: runs(300) },
    );
  });
});
