// What can be wrong with a key of a layer, worded once: expected, received, nearest.
import { nearestName } from "../core/errors.ts";
import { type Layer, originOf, type Problem } from "./layer.ts";
import type { SettingFacts } from "./schema.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";
import { namesUnder } from "./setting-tree.ts";

const SHOWN_CHARACTERS = 60;

/** Creates the problem of a key that no setting has. */
export function unknownKey(layer: Layer, path: SettingPath): Problem {
  const table = path.slice(0, -1);
  const name = path[path.length - 1] ?? "";
  const names = namesUnder(table);
  const near = nearestName(name, names);
  const expected = names.length > 0 ? `one of ${names.join(", ")}` : "another name";
  return {
    code: "unknown_key",
    key: formatKey(path),
    origin: originOf(layer, path),
    reason: `expected ${expected}, received ${formatKey([name])}`,
    gated: false,
    ...(near === undefined ? {} : { nearest: formatKey([...table, near]) }),
  };
}

/** Creates the problem of a value that its setting does not accept. */
export function badValue(layer: Layer, path: SettingPath, facts: SettingFacts, value: unknown): Problem {
  const received = facts.hidden === undefined ? describeValue(value) : "a value that is not shown";
  const near = typeof value === "string" && facts.words !== undefined ? nearestName(value, facts.words) : undefined;
  return {
    code: "bad_value",
    key: formatKey(path),
    origin: originOf(layer, path),
    reason: `expected ${facts.expected}, received ${received}`,
    gated: facts.gated === true,
    ...(near === undefined ? {} : { nearest: `"${near}"` }),
  };
}

/** Creates the problem of a value that is not the table that its key stands for. */
export function notATable(layer: Layer, path: SettingPath, value: unknown): Problem {
  return mismatch(layer, path, `expected a table of settings, received ${describeValue(value)}`);
}

/** Creates the problem of a setting that one layer gives under two of its names. */
export function setTwice(layer: Layer, path: SettingPath, canonical: SettingPath): Problem {
  return mismatch(layer, path, `expected ${formatKey(canonical)} once, received it under two names`);
}

function mismatch(layer: Layer, path: SettingPath, reason: string): Problem {
  return { code: "bad_value", key: formatKey(path), origin: originOf(layer, path), reason, gated: false };
}

function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `the text ${JSON.stringify(shorten(value))}`;
    case "number":
      return `the number ${value}`;
    case "boolean":
      return String(value);
    default:
      return describeObject(value);
  }
}

function describeObject(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return value instanceof Date ? "a date" : "a table";
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
