// The config of nobody's settings, put together without the schema, which is the larger part of loading a config. The
// test keeps it the same as what `loadConfig` gives.
import { parseToolCallPolicy } from "../core/policy.ts";
import { assembleConfig } from "./assemble-config.ts";
import { BUILT_IN } from "./built-in.ts";
import type { Assignment } from "./layer.ts";
import type { LoadedConfig } from "./load-config.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";

/** Loads the config of nobody's settings: the same as `loadConfig` without a layer, and without the schema. */
export function loadBuiltIn(): LoadedConfig {
  const assignments = leavesOf(BUILT_IN, []).map(({ path, raw }): [string, Assignment] => [
    formatKey(path),
    { path, facts: { expected: "" }, raw, value: heldAs(path, raw), origin: { layer: "built-in" } },
  ]);
  return { ...assembleConfig(new Map(assignments)), ignored: [] };
}

interface Leaf {
  readonly path: SettingPath;
  readonly raw: unknown;
}

function leavesOf(table: Readonly<Record<string, unknown>>, path: SettingPath): Leaf[] {
  return Object.entries(table).flatMap(([name, raw]): Leaf[] => {
    const inner = [...path, name];
    return typeof raw === "object" && raw !== null ? leavesOf({ ...raw }, inner) : [{ path: inner, raw }];
  });
}

/** The built-in policies are words, which the config holds in full. */
function heldAs(path: SettingPath, raw: unknown): unknown {
  return path.at(-1) === "tool_calls" ? parseToolCallPolicy(raw, "tool_calls") : raw;
}
