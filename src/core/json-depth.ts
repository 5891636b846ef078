// How deep JSON nests. JSON.parse reads any depth, but what walks a value afterwards, JSON.stringify too, does so on the
// stack: foreign text is held against a bound before anything walks it.

/** Deepest nesting of what agents, models and files give, levels; theirs stays below 30. */
export const MAX_FOREIGN_DEPTH = 500;
/** Deepest nesting of a stored record, the record itself counted: it wraps foreign values in a few levels more. */
export const MAX_RECORD_DEPTH = 1000;

/** Whether the value parsed from a text has more levels of lists and objects than `levels`; a short text is not looked into. */
export function isTooDeep(text: string, value: unknown, levels: number): boolean {
  return text.length > 2 * levels && nestsDeeper(value, levels);
}

/** Whether a parsed value has more than so many levels of lists and objects. Uses no more stack than that many calls. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof inner === "object" && inner !== null && nestsDeeper(inner, levels - 1)) return true;
  }
  return false;
}
