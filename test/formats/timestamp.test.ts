import { describe, expect, it } from "vitest";
import { addMilliseconds, readTimestamp } from "../../src/formats/session-source.ts";

describe("readTimestamp", () => {
  it("keeps a date in UTC as it is written, whatever its fraction", () => {
    expect(readTimestamp("2026-03-01T09:00:00Z")).toBe("2026-03-01T09:00:00Z");
    expect(readTimestamp("2026-03-01T09:00:00.123456Z")).toBe("2026-03-01T09:00:00.123456Z");
  });

  it("brings a date with an offset to UTC", () => {
    expect(readTimestamp("2026-03-01T09:00:00.5+02:00")).toBe("2026-03-01T07:00:00.500Z");
  });

  it.each(["yesterday", "2026-03-01", "2026-13-45T99:00:00Z", "", 1772355600000, null])(
    "takes %j for no date",
    (value) => {
      expect(readTimestamp(value)).toBeUndefined();
    },
  );

  it("adds milliseconds over the end of a day", () => {
    expect(addMilliseconds("2026-12-31T23:59:59.999Z", 1)).toBe("2027-01-01T00:00:00.000Z");
  });
});
