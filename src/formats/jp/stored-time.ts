// Times as jp writes them, `2026-05-04 09:00:03.5` in UTC with 1 to 9 digits of a second, and as events have them. jp reads
// RFC 3339 as well, and writes it its own way on the next save.

const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)?$/;

/** Reads a stored time as RFC 3339 in UTC, with 3 to 9 digits of a second; absent when it is none. */
export function readStoredTime(value: unknown): string | undefined {
  const [, date, time, fraction = "", zone = "Z"] = (typeof value === "string" && TIME.exec(value)) || [];
  const instant = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${zone}`);
  if (Number.isNaN(instant)) return undefined;
  const seconds = zone === "Z" ? `${date}T${time}` : new Date(instant).toISOString().slice(0, 19);
  return `${seconds}.${trimZeros(fraction).padEnd(3, "0")}Z`;
}

/** Writes a time of an event as jp stores it. */
export function formatStoredTime(timestamp: string): string {
  const [seconds = "", fraction = ""] = timestamp.replace(/Z$/, "").split(".");
  return `${seconds.replace("T", " ")}.${trimZeros(fraction.slice(0, 9)) || "0"}`;
}

function trimZeros(fraction: string): string {
  return fraction.replace(/0+$/, "");
}
