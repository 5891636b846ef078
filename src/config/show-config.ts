// The settings in force as rows and text, for `jpg config`. Runs no program and shows no secret.
import { stringify } from "smol-toml";
import { isFields } from "../core/conversation/event.ts";
import { formatKey, parseKey, type SettingPath } from "./keys.ts";
import { renderPlace, type SettingOrigin } from "./layers.ts";
import type { LoadedConfig } from "./load.ts";
import { findNode, resolveShortKey, type SettingFacts } from "./schema.ts";

/** One setting in force. */
export interface SettingRow {
  /** Dotted, in full. */
  readonly key: string;
  /** As written; a placeholder for a secret. */
  readonly value: unknown;
  readonly origin: SettingOrigin;
}

const HIDDEN = "(not shown)";

/** The tools' table: its built-in values are listed only on request. */
const TOOLS: SettingPath = ["conversation", "tools"];

/**
 * Lists the settings in force, sorted by key: all, or those of one key or table (its prefix may be omitted). Lists the two hundred
 * lines of built-in tool hints only for a key inside `conversation.tools`, or for that table. Empty when an existing key is not
 * set. Throws `unknown_key`.
 */
export function listSettings(loaded: LoadedConfig, key?: string): readonly SettingRow[] {
  const under = key === undefined ? [] : resolveShortKey(parseKey(key) ?? [key]).path;
  const rows: SettingRow[] = [];
  const { origins, values } = loaded;
  for (const [dotted, origin] of origins) {
    const path = parseKey(dotted) ?? [];
    if (!isUnder(path, under)) continue;
    if (origin.layer === "built-in" && isUnder(path, TOOLS) && !isUnder(under, TOOLS)) continue;
    rows.push({ key: dotted, value: shownValue(path, values.get(dotted)), origin });
  }
  return rows;
}

function isUnder(path: SettingPath, table: SettingPath): boolean {
  return table.every((name, index) => name === path[index]);
}

/**
 * Renders one row per line, `key=value`, or `layer TAB place TAB key=value` with origins; values are TOML, so that `--cfg` takes
 * them.
 */
export function renderSettings(rows: readonly SettingRow[], { showOrigin }: { readonly showOrigin: boolean }): string {
  return rows
    .map(({ key, value, origin }) => {
      const setting = `${key}=${renderValue(value)}`;
      if (!showOrigin) return `${setting}\n`;
      const place = origin.file === undefined ? "" : renderPlace(origin);
      return `${origin.layer}\t${place}\t${setting}\n`;
    })
    .join("");
}

function renderValue(value: unknown): string {
  if (isFields(value)) {
    const entries = Object.entries(value).map(([name, inner]) => `${formatKey([name])} = ${renderValue(inner)}`);
    return `{ ${entries.join(", ")} }`;
  }
  return stringify({ value }).slice("value = ".length).trimEnd();
}

function shownValue(path: SettingPath, value: unknown): unknown {
  const node = findNode(path)?.node;
  const facts: SettingFacts | null = node?.type === "setting" ? node.facts : null;
  switch (facts?.hidden) {
    case "all":
      return HIDDEN;
    case "credentials":
      return String(value)
        .replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1")
        .replace(/[?#].*$/s, "");
    case undefined:
      return value;
  }
}
