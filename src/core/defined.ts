// Properties that are absent where they have no value, as JSON and `exactOptionalPropertyTypes` want them.

/** The same fields, each of them optional and never undefined. */
export type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Gives the fields that have a value, in order; `null` is one. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const found: Defined<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name] as never;
  return found;
}
