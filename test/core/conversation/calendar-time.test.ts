// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Calendar, isTime, parseTime } from "../../../src/core/conversation/range-bound.ts";

const HOUR = 3_600_000;
/** A calendar two hours east of UTC on 22 November 2026, in which that day has 25 hours. */
const calendar: Calendar = {
  startOfDay: (daysAgo) => calendar.localTime({ year: 2026, month: 11, day: 22 - daysAgo }),
  localTime: ({ year, month, day, hours = 0, minutes = 0, seconds = 0 }) => {
    const local = Date.UTC(year, month - 1, day, hours, minutes, seconds);
    return new Date(local - (local >= Date.UTC(2026, 10, 23) ? HOUR : 2 * HOUR));
  },
};
const spanOf = (text: string): string[] | null => {
  const span = parseTime(text, calendar);
  return span === null ? null : [span.fromMs, span.untilMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
};

describe("parseTime", () => {
  it.each([
    ["today", "2026-11-21T22:00", "2026-11-22T23:00"],
    ["yesterday", "2026-11-20T22:00", "2026-11-21T22:00"],
    ["2026-11-22", "2026-11-21T22:00", "2026-11-22T23:00"],
    ["2024-02-29", "2024-02-28T22:00", "2024-02-29T22:00"],
    ["2026-12-31", "2026-12-30T23:00", "2026-12-31T23:00"],
  ])("reads the day %s in the user's zone, however many hours it has", (text, from, until) => {
    expect(spanOf(text)).toEqual([from, until]);
  });

  it.each([
    ["2026-11-22T10:30", "2026-11-22T08:30"],
    ["2026-11-22 10:30:59.5", "2026-11-22T08:30"],
    ["2026-11-22T10:30Z", "2026-11-22T10:30"],
    ["2026-11-22T10:30:00+05:30", "2026-11-22T05:00"],
    ["2026-11-22T23:30-0800", "2026-11-23T07:30"],
  ])("reads the moment %s", (text, moment) => {
    expect(spanOf(text)).toEqual([moment, moment]);
  });

  it.each([
    "",
    "tomorrow",
    "2026-13-01",
    "2026-02-29",
    "2026-04-31",
    "2026-11-00",
    "2026-11-22T24:00",
    "2026-1-2",
    "22.11.2026",
    "toString",
  ])("does not read %j", (text) => {
    expect(spanOf(text)).toBeNull();
    expect(isTime(text)).toBe(false);
  });

  it("reads every day that there is", () => {
    const utc: Calendar = {
      startOfDay: () => new Date(0),
      localTime: ({ year, month, day }) => new Date(Date.UTC(year, month - 1, day)),
    };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), (days) => {
        const fromMs = days * 24 * HOUR;
        const text = new Date(fromMs).toISOString().slice(0, 10);
        expect(parseTime(text, utc)).toEqual({ fromMs, untilMs: fromMs + 24 * HOUR });
      }),
    );
  });
});
