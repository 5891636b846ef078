// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatStatus } from "../../../src/app/talk/chat-model.ts";
import { renderNearlyFull, renderStatus } from "../../../src/cli/chat/run-chat.ts";
import { renderOffer } from "../../../src/cli/chat/slash-compact.ts";
import { isAsciiOnly } from "../../../src/cli/frame/screen.ts";
import { createStyle, displayWidth } from "../../../src/cli/frame/terminal.ts";
import { safe } from "../../../src/core/safe-text.ts";

const plainStyle = createStyle(false);
const STATUS: ChatStatus = {
  messages: 52,
  summaries: 0,
  tokens: 144_000,
  window: 200_000,
  isNearlyFull: true,
  compactsItself: false,
  sinceCompaction: null,
};

describe("the status line", () => {
  it.each([
    [{}, "[52 messages] [ctx: 72%]"],
    [{ messages: 15, summaries: 1, tokens: 9000 }, "[Summary + 15 messages] [ctx: 5%]"],
    [{ messages: 16, summaries: 3 }, "[3 summaries + 16 messages] [ctx: 72%]"],
    [{ messages: 1, tokens: 0 }, "[1 message] [ctx: 0%]"],
    [{ messages: 0, tokens: 0, window: null }, "[0 messages]"],
    [{ tokens: 260_000 }, "[52 messages] [ctx: 130%]"],
  ])("of %j", (change, expected) => {
    expect(renderStatus({ ...STATUS, ...change }, plainStyle)).toBe(expected);
  });

  it("stands out when the window is nearly full", () => {
    const style = createStyle(true);
    expect(renderStatus(STATUS, style)).toContain(style.caution(safe`[ctx: 72%]`));
    expect(renderStatus({ ...STATUS, isNearlyFull: false }, style)).not.toContain(style.caution(safe`[ctx: 72%]`));
  });

  it("is followed by a warning that says what to type", () => {
    expect(renderNearlyFull(STATUS)).toMatch(/72%.*\/compact/);
  });
});

describe("the offer to compact", () => {
  it("is the box of the design", () => {
    expect(`\n${renderOffer(52, 15, { width: 80, ascii: false })}\n`).toBe(`
┌────────────────────────────────────────────────┐
│ 📦 Conversation History Compaction             │
│                                                │
│ Your conversation has 52 messages and may be   │
│ affecting performance. Compact older messages  │
│ while preserving the most recent context?      │
│                                                │
│ [Y] Yes, compact now (keep last 15)            │
│ [N] Not now                                    │
│ [V] Never ask again this session               │
│                                                │
│ Tip: Use /compact anytime to compact manually  │
└────────────────────────────────────────────────┘
`);
  });

  it("is never wider than the terminal, and its sides are straight", () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 200 }), fc.nat(100_000), fc.boolean(), (width, messages, ascii) => {
        const widths = renderOffer(messages, 15, { width, ascii }).split("\n").map(displayWidth);
        expect(new Set(widths).size).toBe(1);
        expect(widths[0]).toBeLessThanOrEqual(Math.min(width, 50));
      }),
    );
  });

  it("has only ASCII where the terminal has no more", () => {
    expect(renderOffer(52, 15, { width: 80, ascii: true })).toMatch(/^[\n\x20-\x7e]+$/);
  });

  it.each([
    [{}, false],
    [{ TERM: "xterm-256color", LANG: "en_US.UTF-8" }, false],
    [{ LANG: "de_DE.utf8" }, false],
    [{ TERM: "dumb", LANG: "en_US.UTF-8" }, true],
    [{ LANG: "C" }, true],
    [{ LC_ALL: "POSIX", LANG: "en_US.UTF-8" }, true],
    [{ LC_ALL: "", LC_CTYPE: "en_US.UTF-8", LANG: "C" }, false],
    [{ LANG: "de_DE.ISO-8859-1" }, true],
  ])("%j has only ASCII: %s", (env, expected) => {
    expect(isAsciiOnly(env)).toBe(expected);
  });
});
