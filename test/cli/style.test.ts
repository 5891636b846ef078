import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStyle, plain, plainLine, wantsColor } from "../../src/cli/style.ts";

const anyText = fc.string({ unit: "binary", maxLength: 60 });

describe("plain", () => {
  it("leaves no control character but tab and line feed, and keeps the length", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const safe = plain(text);
        expect(safe).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(safe).toHaveLength(text.length);
      }),
    );
  });

  it("shows an escape sequence instead of sending it", () => {
    expect(plain("a\u001b[2Jb\u009b31m\u007f")).toBe("a␛[2Jb\ufffd31m␡");
  });

  it("keeps ordinary text of any script", () => {
    const text = "größe 日本語 🎉\tx\n";
    expect(plain(text)).toBe(text);
  });
});

describe("plainLine", () => {
  it("makes one line", () => {
    expect(plainLine("  a\r\n\tb \u0007 ")).toBe("a b ␇");
  });
});

describe("wantsColor", () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ])("with %j on a terminal: %s says %s", (env, isTerminal, expected) => {
    expect(wantsColor(env, isTerminal)).toBe(expected);
  });
});

describe("createStyle", () => {
  it("changes nothing when colours are off", () => {
    expect(createStyle(false).bad("x")).toBe("x");
  });

  it("colours whatever the stream when they are on", () => {
    expect(createStyle(true).bad("x")).toBe("\u001b[31mx\u001b[39m");
  });
});
