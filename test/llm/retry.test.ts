// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jitterOf, MAX_RETRY_AFTER_MS, readRetryAfter, sleep, waitBefore } from "../../src/llm/exchange.ts";

describe("waitBefore", () => {
  it("grows with each try, stays within its bounds, and shortens by at most a quarter", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(1000), (attempt, seed) => {
        const wait = waitBefore(attempt, null, jitterOf(seed, attempt))!;
        const full = Math.min(500 * 2 ** (attempt - 1), 8000);
        expect(wait).toBeGreaterThanOrEqual(full * 0.75);
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });

  it("does what the provider asks, up to a minute", () => {
    expect(waitBefore(1, 1234, 0.5)).toBe(1234);
    expect(waitBefore(1, MAX_RETRY_AFTER_MS, 0)).toBe(60_000);
    expect(waitBefore(1, MAX_RETRY_AFTER_MS + 1, 0)).toBeNull();
  });
});

describe("readRetryAfter", () => {
  const asked = (headers: Record<string, string>, body = ""): number | null =>
    readRetryAfter(new Headers(headers), body);
  const date = "Sat, 21 Nov 2026 20:30:00 GMT";

  it.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": " 1.5 " }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
    [{ "retry-after": "Sat, 21 Nov 2026 20:30:12 GMT", date }, 12_000],
    [{ "retry-after": "Sat, 21 Nov 2026 20:29:00 GMT", date }, null],
    [{ "retry-after": "Sat, 21 Nov 2026 20:30:12 GMT" }, null],
    [{ "retry-after": "0" }, null],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": "soon" }, null],
    [{}, null],
  ])("reads %j as %s", (headers, wait) => {
    expect(asked(headers)).toBe(wait);
  });

  it("reads the delay that Google puts into the body", () => {
    expect(asked({}, '{"error":{"details":[{"retryDelay": "34.5s"}]}}')).toBe(34_500);
    expect(asked({}, '{"error":{"details":[{"retryDelay": "soon"}]}}')).toBeNull();
  });
});

describe("sleep", () => {
  it("ends with the signal, before and while it waits", async () => {
    await sleep(1e9, AbortSignal.abort());
    const controller = new AbortController();
    const waiting = sleep(1e9, controller.signal);
    controller.abort();
    await waiting;
  });

  it("ends by itself", async () => {
    expect(await sleep(1)).toBeUndefined();
  });
});
