// The config of nobody's settings, without the schema, which is the larger part of loading a config. The test keeps it the
// same as what `loadConfig` gives.
import { assembleConfig } from "./assemble-config.ts";
import type { LoadedConfig } from "./load-config.ts";

/** Loads the config of nobody's settings: the same as `loadConfig` without a layer, and without the schema. */
export function loadBuiltIn(): LoadedConfig {
  return Object.assign(assembleConfig(new Map()), { ignored: [] });
}
