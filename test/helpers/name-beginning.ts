// Beginnings of names that can be typed for them.

/** The first characters of an id: `length` of them, and more where these are digits, which would be the number of a turn. */
export function beginningOf(id: string, length: number): string {
  const digits = /^\d*/.exec(id)?.[0].length ?? 0;
  return id.slice(0, Math.max(length, digits >= length ? digits + 1 : 0));
}
