// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStyle } from "../../../src/cli/frame/terminal.ts";
import { createStreamPrinter, renderCall, renderResult } from "../../../src/cli/render/answer.ts";
import { forTerminal, safe } from "../../../src/core/safe-text.ts";

function printed(work: (printer: ReturnType<typeof createStreamPrinter>) => void, colours = false): string {
  let text = "";
  work(
    createStreamPrinter((piece) => {
      text += piece;
    }, createStyle(colours)),
  );
  return text;
}

describe("an answer that streams", () => {
  it("is printed piece by piece, nothing held back", () => {
    const pieces: string[] = [];
    const printer = createStreamPrinter((piece) => pieces.push(piece), createStyle(false));
    printer.delta("message", "Hel");
    printer.delta("message", "lo");
    expect(pieces).toEqual(["Hel", "lo"]);
  });

  it("has its reasoning apart and faint", () => {
    const work = (printer: ReturnType<typeof createStreamPrinter>): void => {
      printer.delta("reasoning", "hmm");
      printer.delta("message", "Yes.");
      printer.end();
    };
    expect(printed(work)).toBe("hmm\nYes.\n");
    expect(printed(work, true)).toBe(`${createStyle(true).faint(safe`hmm`)}\nYes.\n`);
  });

  it("gives way to whole lines and goes on below them", () => {
    expect(
      printed((printer) => {
        printer.delta("message", "Looking");
        printer.line(safe`→ shell ls`);
        printer.line(safe`✓ shell`);
        printer.delta("message", "Done.\n");
        printer.end();
      }),
    ).toBe("Looking\n→ shell ls\n✓ shell\nDone.\n");
  });

  it("never lets a control character through", () => {
    expect(printed((printer) => printer.delta("message", "a\u001b[2J\u202eb\u0007"))).toBe("a␛[2J\ufffdb␇");
  });

  it("is the same text however it is cut into pieces, half characters included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat(40)), (text, cuts) => {
        const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
          (a, b) => a - b,
        );
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        const whole = printed((printer) => {
          for (const piece of pieces) printer.delta("message", piece);
        });
        expect(whole).toBe(forTerminal(text));
      }),
    );
  });

  it("shows half a character that nothing followed as a mark", () => {
    expect(
      printed((printer) => {
        printer.delta("message", "x\ud83d");
        printer.end();
      }),
    ).toBe("x\ufffd\n");
  });
});

describe("a call of a tool", () => {
  const style = createStyle(false);

  it("is one line, shortened and safe", () => {
    expect(renderCall("shell", { command: "ls\n\u001b[31m" }, style)).toBe('→ shell {"command":"ls\\n\\u001b[31m"}');
    expect(renderCall("write", { text: "x".repeat(5000) }, style).length).toBeLessThan(150);
    expect(renderCall("odd\nname", undefined, style)).toBe("→ odd name ");
    const result = renderResult("shell", "one\ntwo\u001b[2J", { isError: false, style });
    expect(result).toBe("✓ shell one two␛[2J");
    expect(renderResult("shell", "no such file", { isError: true, style })).toBe("✗ shell no such file");
  });
});
