import { describe, expect, it } from "vitest";
import { createStyle, onlyColors, wantsColor } from "../../../src/cli/frame/terminal.ts";
import { safe } from "../../../src/core/safe-text.ts";

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
    expect(createStyle(false).bad(safe`x`)).toBe("x");
  });

  it("colours whatever the stream when they are on", () => {
    expect(createStyle(true).bad(safe`x`)).toBe("\u001b[31mx\u001b[39m");
  });
});

describe("onlyColors", () => {
  it("lets nothing through but text and what createStyle makes", () => {
    const style = createStyle(true);
    const { enabled: _, ...paints } = style;
    for (const paint of Object.values(paints)) expect(onlyColors(paint(safe`a\tb\n`))).toBe(paint(safe`a\tb\n`));
    expect(onlyColors("\u001b[8mhidden\u001b[2J\u001b]52;c;eA==\u0007\u009b31m")).toBe(
      "␛[8mhidden␛[2J␛]52;c;eA==␇\ufffd31m",
    );
  });
});
