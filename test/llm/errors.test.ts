// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyRefusal, readRefusal, toDisplayText, toDisplayUrl } from "../../src/llm/errors.ts";
import { anyText } from "../helpers/any-text.ts";

const judge = (status: number | null, body: unknown): string => classifyRefusal(readRefusal(status, body)).code;

describe("readRefusal", () => {
  it("reads the sentence wherever a server puts it", () => {
    const sentences = [
      { error: { message: "a" } },
      [{ error: { message: "a" } }],
      { error: "a" },
      { message: "a" },
      { detail: "a" },
      '{"error":{"message":"a"}}',
      "a",
    ].map((body) => readRefusal(400, body).sentence.trim());
    expect(new Set(sentences)).toEqual(new Set(["a"]));
  });

  it("reads a page without its tags and scripts", () => {
    const page = "<html><title>502</title><style>b{}</style><body><b>Bad gateway</b></body></html>";
    expect(readRefusal(502, page).sentence.trim()).toBe("Bad gateway");
  });

  it("reads any value without failing", () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        expect(typeof readRefusal(null, body).sentence).toBe("string");
        expect(judge(null, body)).not.toBe("");
      }),
    );
  });
});

describe("classifyRefusal", () => {
  it.each([
    [
      429,
      {
        error: {
          message: "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000",
          code: "rate_limit_exceeded",
        },
      },
      "context_overflow",
    ],
    [402, { error: { message: "Insufficient credits", code: 402 } }, "request_refused"],
    [
      403,
      { error: { status: "PERMISSION_DENIED", message: "Method doesn't allow unregistered callers" } },
      "wrong_key",
    ],
    [400, { error: { message: "abc is not a valid model ID", code: 400 } }, "unknown_model"],
    [404, { error: { message: 'model "x" not found, try pulling it first' } }, "unknown_model"],
    [400, { error: { message: "The model `x` has been decommissioned and is no longer supported." } }, "unknown_model"],
    [
      400,
      { error: { message: "Unsupported parameter: 'max_tokens' is not supported with this model." } },
      "request_refused",
    ],
    [400, { error: { message: "This model does not support assistant message prefill." } }, "request_refused"],
    [504, "", "provider_timeout"],
    [500, { type: "error", error: { type: "timeout_error", message: "slow" } }, "provider_timeout"],
    [500, { error: { message: "boom" } }, "provider_failed"],
    [418, "", "request_refused"],
    [null, { code: 502, message: "Upstream" }, "provider_failed"],
    [null, { code: 429, message: "Slow down" }, "rate_limited"],
    [null, { code: "model_not_found", message: "" }, "unknown_model"],
  ])("reads %s %j as %s", (status, body, code) => {
    expect(judge(status, body)).toBe(code);
  });

  it("tries again what may pass and nothing else", () => {
    const passing = [408, 409, 429, 500, 502, 503, 504, 529];
    for (let status = 400; status < 600; status++) {
      const { isTransient: isPassing } = classifyRefusal(readRefusal(status, ""));
      expect([status, isPassing]).toEqual([status, passing.includes(status) || status >= 500]);
    }
  });
});

const KEY = "sk-live-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

describe("toDisplayText", () => {
  it("never shows a run of eight characters of the key, wherever and however it is quoted", () => {
    const piece = fc
      .tuple(fc.nat(KEY.length), fc.nat(KEY.length))
      .map(([a, b]) => KEY.slice(Math.min(a, b), Math.max(a, b)));
    const texts = fc.array(fc.oneof(fc.string(), fc.constant(KEY), piece), { maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.constantFrom("", " ", '"', "\n"), (parts, joiner) => {
        const shown = toDisplayText(parts.join(joiner), KEY);
        for (let from = 0; from + 8 <= KEY.length; from++) expect(shown).not.toContain(KEY.slice(from, from + 8));
      }),
    );
  });

  it("takes out pieces that touch and overlap", () => {
    expect(toDisplayText("tUvWxYz0tUvWxYz01", KEY)).toBe("[key][key]");
    expect(toDisplayText(`a${KEY}${KEY.slice(0, 9)} b`, KEY)).toBe("a[key][key] b");
  });

  it("is one short line without control characters", () => {
    const text = anyText({ maxLength: 2000 });
    fc.assert(
      fc.property(text, (value) => {
        const shown = toDisplayText(value, undefined);
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
    expect(toDisplayText(text, undefined)).toBe(shown);
  });

  it("leaves words alone that only share letters with a short key", () => {
    expect(toDisplayText("the ollama server", "x")).toBe("the ollama server");
    expect(toDisplayText("your key none1 is bad", "none1")).toBe("your key [key] is bad");
  });

  it("cuts no character in half", () => {
    const shown = toDisplayText("😀".repeat(400), undefined);
    expect(shown).toMatch(/^(?:😀)+…$/u);
  });
});

describe("toDisplayUrl", () => {
  it("shows neither user, password, query nor fragment", () => {
    expect(toDisplayUrl("https://me:secret@host.example:8443/v1/?key=abc#d", undefined)).toBe(
      "https://host.example:8443/v1",
    );
  });

  it("shows what is no address as a text", () => {
    expect(toDisplayUrl(`nonsense\n${KEY}`, KEY)).toBe("nonsense [key]");
  });
});
