// `--cfg KEY=VALUE`: one setting of this call, and the delta that a conversation stores for it.
import { parse } from "smol-toml";
import * as z from "zod/mini";
import { type JpgError, userError } from "../core/errors.ts";
import { DEFAULT_PROFILE, isAllowedToConversations } from "./layer-trust.ts";
import { readLayer } from "./read-layer.ts";
import { scanKey } from "./scan-key.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";
import type { SettingNode } from "./setting-tree.ts";
import { resolveShortKey } from "./short-key.ts";

/** One setting of the command line. */
export interface Override {
  /** From the root, in full. */
  readonly path: SettingPath;
  readonly value: unknown;
  /** As typed. */
  readonly text: string;
}

/**
 * Parses `KEY=VALUE`. `conversation.compaction.` and `conversation.` may be left out; VALUE is TOML, else a bare text.
 * Throws `bad_override` and `unknown_key`. Whether the value is allowed is decided when the layers are loaded.
 */
export function parseOverride(text: string): Override {
  const key = scanKey(text, 0);
  if (key === null || text[key.end] !== "=") throw badOverride(text, "expected KEY=VALUE");
  const { path, node } = resolveShortKey(key.path);
  return { path, value: parseValue(node, text.slice(key.end + 1).trim()), text };
}

/** Gives an override as nested tables, the shape of a config file. */
export function toTable({ path, value }: Override): Readonly<Record<string, unknown>> {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<Record<string, unknown>>;
}

/**
 * Puts overrides together into the delta that a conversation stores; the later one wins. Settings that a conversation may
 * not set (programs, addresses, what spends or sends) are left out: they hold for this call only. Null when nothing is left
 * to store. What is wrong with an override is `loadConfig`'s to report.
 */
export function toDelta(
  overrides: readonly Override[],
  asksForSummary: (profile: string) => boolean,
): Readonly<Record<string, unknown>> | null {
  const delta: Record<string, unknown> = {};
  let isEmpty = true;
  for (const override of overrides) {
    for (const { path, raw, facts } of readLayer({ name: "flag", table: toTable(override) }).assignments) {
      if (facts === null || !isAllowedToConversations(path)) continue;
      if (formatKey(path) === DEFAULT_PROFILE && asksForSummary(String(raw))) continue;
      setAt(delta, path, raw);
      isEmpty = false;
    }
  }
  return isEmpty ? null : delta;
}

function setAt(table: Record<string, unknown>, path: SettingPath, value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    table[name] = value;
    return;
  }
  const inner = Object.hasOwn(table, name) ? (table[name] as Record<string, unknown>) : {};
  table[name] = inner;
  setAt(inner, rest, value);
}

/** A setting that wants a text gets one even where the text could be read as a number or a date. */
function parseValue(node: SettingNode, text: string): unknown {
  const value = parseTomlValue(text);
  if (node.type !== "setting" || typeof value === "string") return value;
  const fits = (candidate: unknown) => candidate === node.facts.unset || z.safeParse(node.schema, candidate).success;
  return !fits(value) && fits(text) ? text : value;
}

function parseTomlValue(text: string): unknown {
  try {
    const table = parse(`value = ${text}`);
    return Object.keys(table).length === 1 ? table["value"] : text;
  } catch {
    return text; // no TOML: a bare text
  }
}

function badOverride(text: string, expected: string): JpgError {
  const shown = text.includes("=") ? text.slice(0, text.indexOf("=") + 1) : text;
  return userError("bad_override", `--cfg ${JSON.stringify(shown)} cannot be read: ${expected}.`, {
    hints: ["For example: --cfg keep_last=5, or --cfg conversation.compaction.default_profile=light"],
  });
}
