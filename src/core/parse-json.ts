// JSON → a value of a known shape, by one schema that says the shape and checks it.

/** What is needed of a schema; those of zod have it. */
export interface Schema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false };
}

/** Parses a text; null when it is not JSON, or not of that shape. */
export function parseJson<T>(text: string, schema: Schema<T>): T | null {
  try {
    const result = schema.safeParse(JSON.parse(text));
    return result.success ? result.data : null;
  } catch {
    return null; // not JSON: cut short, or never written by jpg
  }
}
