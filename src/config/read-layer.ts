// Reads a layer into single assignments, each setting under its one key. Never throws: what is wrong comes as problems,
// and the caller decides whether a layer's problems are errors or merely reported.
import * as z from "zod/mini";
import { type Assignment, type Layer, type LayerContents, originOf, type Problem } from "./layer.ts";
import { badValue, notATable, setTwice, unknownKey } from "./layer-problem.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";
import { findNode, type SettingNode } from "./setting-tree.ts";

interface Reading {
  readonly layer: Layer;
  readonly seen: Set<string>;
  readonly assignments: Assignment[];
  readonly problems: Problem[];
}

/** Reads a layer's tables against the schema. */
export function readLayer(layer: Layer): LayerContents {
  const reading: Reading = { layer, seen: new Set(), assignments: [], problems: [] };
  if (isTable(layer.table)) readTable(reading, [], layer.table);
  else reading.problems.push(notATable(layer, [], layer.table));
  return { assignments: reading.assignments, problems: reading.problems };
}

function readTable(reading: Reading, path: SettingPath, table: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(table)) readEntry(reading, [...path, name], value);
}

function readEntry(reading: Reading, path: SettingPath, value: unknown): void {
  const { layer, assignments, problems } = reading;
  const found = findNode(path);
  if (found === null) problems.push(unknownKey(layer, path));
  else if (found.node.type === "setting")
    readSetting(reading, { written: path, path: found.path, node: found.node, value });
  else if (!isTable(value)) problems.push(notATable(layer, path, value));
  else {
    const isNamed = findNode(path.slice(0, -1))?.node.type === "named";
    const isEmpty = Object.keys(value).length === 0;
    if (isNamed && isEmpty)
      assignments.push({ path, facts: null, raw: value, value: undefined, origin: originOf(layer, path) });
    readTable(reading, path, value);
  }
}

interface WrittenSetting {
  readonly written: SettingPath;
  readonly path: SettingPath;
  readonly node: Extract<SettingNode, { type: "setting" }>;
  readonly value: unknown;
}

function readSetting(reading: Reading, { written, path, node, value: raw }: WrittenSetting): void {
  const { layer, seen, assignments, problems } = reading;
  const key = formatKey(path);
  const { schema, facts } = node;
  const isUnset = facts.unset !== undefined && raw === facts.unset;
  const parsed = isUnset ? { success: true, data: undefined } : z.safeParse(schema, raw);
  if (seen.has(key)) problems.push(setTwice(layer, written, path));
  else if (!parsed.success) problems.push(badValue(layer, written, facts, raw));
  else
    assignments.push({
      path,
      ...aliasOf(written, key),
      facts,
      raw,
      value: parsed.data,
      origin: originOf(layer, written),
    });
  seen.add(key);
}

function aliasOf(written: SettingPath, key: string): Pick<Assignment, "alias"> {
  const name = formatKey(written);
  return name === key ? {} : { alias: name };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
