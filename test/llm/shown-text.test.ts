// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toShownText, toShownUrl } from "../../src/llm/errors.ts";
import { anyText } from "../helpers/any-text.ts";

const KEY = "sk-live-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

describe("toShownText", () => {
  it("never shows a run of eight characters of the key, wherever and however it is quoted", () => {
    const piece = fc
      .tuple(fc.nat(KEY.length), fc.nat(KEY.length))
      .map(([a, b]) => KEY.slice(Math.min(a, b), Math.max(a, b)));
    const texts = fc.array(fc.oneof(fc.string(), fc.constant(KEY), piece), { maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.constantFrom("", " ", '"', "\n"), (parts, joiner) => {
        const shown = toShownText(parts.join(joiner), KEY);
        for (let from = 0; from + 8 <= KEY.length; from++) expect(shown).not.toContain(KEY.slice(from, from + 8));
      }),
    );
  });

  it("takes out pieces that touch and overlap", () => {
    expect(toShownText("tUvWxYz0tUvWxYz01", KEY)).toBe("[key][key]");
    expect(toShownText(`a${KEY}${KEY.slice(0, 9)} b`, KEY)).toBe("a[key][key] b");
  });

  it("is one short line without control characters", () => {
    const text = anyText({ maxLength: 2000 });
    fc.assert(
      fc.property(text, (value) => {
        const shown = toShownText(value, undefined);
        expect(shown.length).toBeLessThanOrEqual(300);
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
        expect(shown).toBe(shown.trim());
      }),
    );
  });

  it.each([
    ["Incorrect API key provided: sk-proj-****************wxyz.", "Incorrect API key provided: [key]"],
    ["Bearer abc.def-ghi is expired", "[key] is expired"],
    ["key AIzaSyA1234567890abcdef unknown", "key [key] unknown"],
    ["gsk_0123456789abcdef", "[key]"],
    ["the risk-free task was ok", "the risk-free task was ok"],
  ])("takes out what looks like a key: %s", (text, shown) => {
    expect(toShownText(text, undefined)).toBe(shown);
  });

  it("leaves words alone that only share letters with a short key", () => {
    expect(toShownText("the ollama server", "x")).toBe("the ollama server");
    expect(toShownText("your key none1 is bad", "none1")).toBe("your key [key] is bad");
  });

  it("cuts no character in half", () => {
    const shown = toShownText("😀".repeat(400), undefined);
    expect(shown).toMatch(/^(?:😀)+…$/u);
  });
});

describe("toShownUrl", () => {
  it("shows neither user, password, query nor fragment", () => {
    expect(toShownUrl("https://me:secret@host.example:8443/v1/?key=abc#d", undefined)).toBe(
      "https://host.example:8443/v1",
    );
  });

  it("shows what is no address as a text", () => {
    expect(toShownUrl(`nonsense\n${KEY}`, KEY)).toBe("nonsense [key]");
  });
});
