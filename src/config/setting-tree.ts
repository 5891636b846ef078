// The schema as a tree that can be walked by key: tables with fixed keys, tables named by the user, settings. Other
// accepted spellings of a key (aliases) lead to the same place, so everything after this file sees one key per setting.
import { $ZodObject, $ZodOptional, $ZodRecord, type $ZodType } from "zod/v4/core";
import { configSchema, type SettingFacts, settingFacts } from "./schema.ts";
import { isSafeName, type SettingPath } from "./setting-key.ts";

/** A place in the schema. */
export type SettingNode =
  | { readonly type: "table"; readonly fields: Readonly<Record<string, $ZodType>> }
  | { readonly type: "named"; readonly entry: $ZodType }
  | { readonly type: "setting"; readonly schema: $ZodType; readonly facts: SettingFacts };

/** A node and its one path, whatever spelling was asked for. */
export interface FoundNode {
  readonly path: SettingPath;
  readonly node: SettingNode;
}

interface Alias {
  readonly from: SettingPath;
  readonly to: SettingPath;
}

const COMPACTION: SettingPath = ["conversation", "compaction"];

const ALIASES: readonly Alias[] = [
  { from: ["compaction", "model"], to: [...COMPACTION, "model"] },
  { from: ["compaction", "auto"], to: [...COMPACTION, "auto", "enabled"] },
  { from: ["compaction", "protected_messages"], to: [...COMPACTION, "protected_messages"] },
  { from: [...COMPACTION, "summarize_model"], to: [...COMPACTION, "model"] },
];

/** Finds the node of a path; null when there is none. The empty path is the root table. */
export function findNode(path: SettingPath): FoundNode | null {
  const alias = ALIASES.find(({ from }) => isSamePath(from, path));
  if (alias !== undefined) return findNode(alias.to);
  let schema: $ZodType | undefined = configSchema;
  for (const name of path) {
    schema = childSchema(schema, name);
    if (schema === undefined) {
      const holdsAlias = ALIASES.some(({ from }) => isPrefix(path, from));
      return holdsAlias ? { path, node: { type: "table", fields: {} } } : null;
    }
  }
  return { path, node: toNode(schema) };
}

/** Lists the names that a table of fixed keys accepts, aliases included; empty for other nodes. */
export function namesUnder(path: SettingPath): readonly string[] {
  const node = findNode(path)?.node;
  const fields = node?.type === "table" ? Object.keys(node.fields) : [];
  const aliases = ALIASES.filter(({ from }) => isPrefix(path, from)).map(({ from }) => from[path.length] ?? "");
  return [...new Set([...fields, ...aliases])];
}

function childSchema(schema: $ZodType, name: string): $ZodType | undefined {
  const node = toNode(schema);
  switch (node.type) {
    case "table":
      return Object.hasOwn(node.fields, name) ? node.fields[name] : undefined;
    case "named":
      return isSafeName(name) ? node.entry : undefined;
    case "setting":
      return undefined;
  }
}

function toNode(schema: $ZodType): SettingNode {
  if (schema instanceof $ZodOptional) return toNode(schema._zod.def.innerType);
  const facts = settingFacts.get(schema);
  if (facts !== undefined) return { type: "setting", schema, facts };
  if (schema instanceof $ZodObject) return { type: "table", fields: schema._zod.def.shape };
  if (schema instanceof $ZodRecord) return { type: "named", entry: schema._zod.def.valueType };
  throw new TypeError(`no facts are registered for a setting of type ${schema._zod.def.type}`);
}

function isSamePath(a: SettingPath, b: SettingPath): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

function isPrefix(prefix: SettingPath, path: SettingPath): boolean {
  return prefix.length < path.length && prefix.every((name, index) => name === path[index]);
}
