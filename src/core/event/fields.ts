// The fields of a value of unknown making, such as JSON that a provider, an agent or a person wrote.

/** A JSON object whose values are not looked at yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object, not a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a value; none when it is no object. A list has none that are named. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
