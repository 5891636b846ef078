// What is to stand in an agent's settings so that it calls jpg, as values: which file, and what in it. Pure; `src/app/hooks`
// writes it and takes it out again.

/** What stands in one file of settings. */
export type SettingsPart = { readonly path: string } & (JsonPart | TomlPart | FilePart);

/** Entries of a JSON file, in which comments may stand. */
export interface JsonPart {
  readonly type: "json";
  /** Never empty. */
  readonly entries: readonly JsonEntry[];
}

export interface JsonEntry {
  /** Keys from the top of the file down, never empty. */
  readonly keys: readonly string[];
  readonly value: JsonValue;
  /** Whether it is one of the list there; else it is what stands there. */
  readonly isItem: boolean;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A table of a TOML file. */
export interface TomlPart {
  readonly type: "toml";
  /** As between its brackets, e.g. `mcp_servers.jpg`. */
  readonly table: string;
  /** Values by key. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
}

/** A file of jpg's own, such as a plug-in. */
export interface FilePart {
  readonly type: "file";
  /** Its first line tells that jpg wrote it. */
  readonly text: string;
}
