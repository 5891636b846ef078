// Timestamps of session lines as RFC 3339 in UTC. A line without a usable one takes that of the dated line before it, so
// that every event is dated and the same bytes always give the same date.

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d$/;

/** The date of a session in which no line is dated. */
export const NO_DATE = "1970-01-01T00:00:00.000Z";

/** Reads a timestamp; absent when the value is no RFC 3339 date and time. */
export function readTimestamp(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (!UTC.test(value) && !WITH_OFFSET.test(value)) return undefined;
  const time = Date.parse(value);
  if (Number.isNaN(time)) return undefined;
  return UTC.test(value) ? value : new Date(time).toISOString();
}

/** The timestamp some milliseconds later, in UTC with three fraction digits. */
export function addMilliseconds(timestamp: string, milliseconds: number): string {
  return new Date(Date.parse(timestamp) + milliseconds).toISOString();
}
