// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  forJson,
  forLine,
  forMarkdown,
  forTerminal,
  forTerminalLine,
  joinLines,
  joinSafe,
  type SafeText,
  safe,
} from "../../src/core/safe-text.ts";
import { anyText } from "../helpers/any-text.ts";

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** What an attacker sends: clears the screen, writes the clipboard, colours by C1, turns text around. */
const ATTACK = "\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m\u0000\u202e\u2066\u200f\u061c\ud83d";
const piece = fc.oneof(
  anyText(),
  fc.constantFrom(
    "\u001b",
    "\u001b[",
    "\u009b",
    "31m",
    "\u202e",
    "\u061c",
    "\u2028",
    "\r\n",
    "\ud800",
    "\\ud800",
    "```",
    "</p>",
  ),
);
const foreign = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));

describe("forTerminal", () => {
  it("leaves no unsafe character, and keeps the length", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        expect(forTerminal(text)).not.toMatch(UNSAFE);
        expect(forTerminal(text)).toHaveLength(text.length);
      }),
    );
  });

  it("shows an escape sequence instead of sending it", () => {
    expect(forTerminal("a\u001b[2Jb\u009b31m\u007f")).toBe("a␛[2Jb\ufffd31m␡");
  });

  it("keeps ordinary text of any script", () => {
    const text = "größe 日本語 🎉 👩‍🚀\tx\n";
    expect(forTerminal(text)).toBe(text);
  });
});

describe("forTerminalLine", () => {
  it("makes one line", () => {
    expect(forTerminalLine("  a\r\n\tb \u0007 ")).toBe("a b ␇");
  });
});

describe("forLine", () => {
  it("leaves one clean line, no longer than asked", () => {
    fc.assert(
      fc.property(foreign, fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const line = forLine(text, limit);
        expect(line).not.toMatch(UNSAFE);
        expect(line).not.toMatch(/[\t\n\u2028\u2029]|\p{Cs}|^\s|\s$/u);
        expect([...line].length).toBeLessThanOrEqual(limit);
        expect(forLine(line, limit)).toBe(line);
      }),
    );
  });

  it("takes colours, direction marks and halves of characters out", () => {
    expect(forLine("a\u001b[31mred\u001b[0m \u202eb\u200f\ud800c")).toBe("ared b\ufffdc");
  });

  it("looks only at the start of a long text", () => {
    expect(forLine("word ".repeat(2_000_000), 9)).toBe("word word");
  });
});

describe("forMarkdown", () => {
  it("leaves no unsafe character", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        expect(forMarkdown(text)).not.toMatch(UNSAFE);
      }),
    );
  });

  it("takes colours out and shows what else an attacker sends, so that nothing is hidden behind it", () => {
    expect(forMarkdown("\u001b[1;31mred\u001b[0m\tx\n\u001b]0;never ended")).toBe("red\tx\n␛]0;never ended");
  });
});

describe("forJson", () => {
  it("changes no value but halves of surrogate pairs, also in names, and leaves nothing unsafe", () => {
    const whole = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd");
    fc.assert(
      fc.property(foreign, foreign, (name, text) => {
        const json = forJson(JSON.stringify([[name, text], { [`k${name}`]: text }]));
        expect(json).not.toMatch(UNSAFE);
        expect(JSON.parse(json)).toEqual([[whole(name), whole(text)], { [whole(`k${name}`)]: whole(text) }]);
      }),
    );
  });

  it("takes a backslash that is text for what it is", () => {
    expect(JSON.parse(forJson(JSON.stringify("\\ud800 \ud800")))).toBe("\\ud800 \ufffd");
  });

  it("gives JSON that steers nothing", () => {
    expect(forJson(JSON.stringify(ATTACK))).toBe(
      '"\\u001b[2J\\u001b]52;c;ZXZpbA==\\u0007\\u009b31m\\u0000\\u202e\\u2066\\u200f\\u061c\ufffd"',
    );
  });
});

describe("safe", () => {
  const foreign = String("a\u001b[2J");
  const count = foreign.length;

  it("joins own words, numbers and safe text", () => {
    const word = count === 1 ? "turn" : "turns";
    expect(safe`${count} ${word} of ${forTerminalLine(foreign)}\n`).toBe("5 turns of a␛[2J\n");
    expect(joinSafe([safe`a`, "", safe`b`], ", ")).toBe("a, , b");
    expect(joinLines([safe`a`, safe`b`])).toBe("a\nb");
  });

  it("does not compile with text that nobody made safe", () => {
    // Each line is one that `npm run types` refuses; were it to compile, the unused expectation would be the error.
    const refused: readonly (() => SafeText)[] = [
      // @ts-expect-error: a string is not safe
      () => foreign,
      // @ts-expect-error: neither in a template
      () => safe`${foreign}`,
      // @ts-expect-error: nor where a template hides it
      () => safe`${`turn ${foreign}`}`,
      // @ts-expect-error: nor where it is one of two
      () => safe`${count === 1 ? "a" : foreign}`,
      // @ts-expect-error: nor as what joins
      () => joinSafe([safe`a`], foreign),
    ];
    for (const make of refused) expect(make()).toContain("a");
  });
});
