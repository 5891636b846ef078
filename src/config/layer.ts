// A layer: one place that settings come from, and what a layer gives once it has been read.
import { defined } from "../core/json.ts";
import type { LineOfKey } from "./key-lines.ts";
import type { SettingFacts } from "./schema.ts";
import type { SettingPath } from "./setting-key.ts";

/** The layers, lowest first; a higher one wins. */
export type LayerName = "built-in" | "user" | "project" | "conversation" | "flag";

/** Where a value comes from. */
export interface SettingOrigin {
  readonly layer: LayerName;
  /** File, absent for built-in values and flags. */
  readonly file?: string;
  /** Line of the file, 1-based. */
  readonly line?: number;
}

/** The settings of one place as plain tables. */
export interface Layer {
  readonly name: LayerName;
  readonly file?: string;
  readonly lineOf?: LineOfKey;
  readonly table: unknown;
}

/** One setting as a layer gives it. */
export interface Assignment {
  readonly path: SettingPath;
  /** The key that stands there, where it is another name of the setting. */
  readonly alias?: string;
  /** Null for a table that is named but empty, such as a profile without policies. */
  readonly facts: SettingFacts | null;
  /** As written. */
  readonly raw: unknown;
  /** As the config holds it; undefined = takes back what a lower layer set. */
  readonly value: unknown;
  readonly origin: SettingOrigin;
}

/** What is wrong with one key of a layer. */
export interface Problem {
  readonly code: "unknown_key" | "bad_value";
  /** Dotted key as written. */
  readonly key: string;
  readonly origin: SettingOrigin;
  /** What was expected and received. */
  readonly reason: string;
  /** The nearest name or word, when one is near. */
  readonly nearest?: string;
  /** Whether the key needs trust before its value matters. */
  readonly gated: boolean;
}

export interface LayerContents {
  /** In the order written. */
  readonly assignments: readonly Assignment[];
  readonly problems: readonly Problem[];
}

/** Gives the origin of a key of a layer. */
export function originOf({ name, file, lineOf }: Layer, path: SettingPath): SettingOrigin {
  const line = lineOf?.(path);
  return { layer: name, ...defined({ file, line }) };
}

/** Renders where a setting stands: `file:line`, or the layer's name when it stands in no file. */
export function renderPlace({ layer, file, line }: SettingOrigin): string {
  return [file ?? layer, ...(line === undefined ? [] : [line])].join(":");
}
