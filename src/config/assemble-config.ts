// Puts the settings in force together into one frozen config: the built-in one, of which the tables that a layer changes are
// copied. Tables have no prototype: looking up a name that nobody set gives undefined, whatever the name.
import { BUILT_IN_CONFIG, listBuiltIn } from "./built-in-config.ts";
import type { Config } from "./config.ts";
import type { Assignment, SettingOrigin } from "./layer.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";

/** A config and the settings it was made of, by dotted key, ordered by it. */
export interface AssembledConfig {
  readonly config: Config;
  /** As written. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly origins: ReadonlyMap<string, SettingOrigin>;
}

type Table = Record<string, unknown>;

/**
 * Assembles the config from the assignment in force for each key that a layer above the built-in settings gives. `values`
 * and `origins` are put together when they are asked for: only listings ask.
 */
export function assembleConfig(inForce: ReadonlyMap<string, Assignment>): AssembledConfig {
  const settings = withStrategy(withSummaryPolicies(inForce));
  return {
    config: configOf(settings),
    get values() {
      return new Map(listSet(settings).map(([key, { raw }]) => [key, raw]));
    },
    get origins() {
      return new Map(listSet(settings).map(([key, { origin }]) => [key, origin]));
    },
  };
}

function configOf(settings: readonly Assignment[]): Config {
  if (settings.length === 0) return BUILT_IN_CONFIG;
  const root: Table = ownCopy(BUILT_IN_CONFIG);
  for (const { path, facts, value } of settings) {
    const table = tableAt(root, facts === null ? path : path.slice(0, -1));
    const name = path[path.length - 1] ?? "";
    if (facts === null) continue;
    if (value === undefined) delete table[name];
    else table[name] = value;
  }
  // Each value was checked by the schema at its place, and the schema is one of Config.
  return freeze(root) as unknown as Config;
}

/** The settings by key, those of the built-in layer among them, in the order of their keys. */
function listSet(settings: readonly Assignment[]): readonly [string, Assignment][] {
  const above = settings.filter(({ facts }) => facts !== null);
  const all = new Map([...listBuiltIn(), ...above].map((setting) => [formatKey(setting.path), setting]));
  return [...all].filter(([, { raw }]) => raw !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A summary table that names no policy means the only one there is. */
function withSummaryPolicies(inForce: ReadonlyMap<string, Assignment>): readonly Assignment[] {
  const all = new Map(inForce);
  for (const { path, facts } of inForce.values()) {
    const isProfileKey = path[1] === "compaction" && path[2] === "profiles";
    if (!isProfileKey || path[4] !== "summary" || facts === null) continue;
    const policy = [...path.slice(0, 5), "policy"];
    const key = formatKey(policy);
    if (all.has(key)) continue;
    all.set(key, { path: policy, facts, raw: "summarize", value: "summarize", origin: { layer: "built-in" } });
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, assignment]) => assignment);
}

const COMPACTION: SettingPath = ["conversation", "compaction"];
const STRATEGY: SettingPath = [...COMPACTION, "strategy"];
const AUTO_ENABLED: SettingPath = [...COMPACTION, "auto", "enabled"];
const AUTO_PROFILE: SettingPath = [...COMPACTION, "auto", "profile"];

/**
 * A strategy that was set takes the place of the built-in profile of automatic compaction, not of one that was set. Where neither
 * was, `[compaction] auto = true` means what it says in the design that it is from (Compaction v2): tier by tier.
 */
function withStrategy(settings: readonly Assignment[]): readonly Assignment[] {
  const find = (path: SettingPath) => settings.find((setting) => formatKey(setting.path) === formatKey(path));
  if (find(AUTO_PROFILE) !== undefined) return settings;
  const strategy = find(STRATEGY);
  if (strategy !== undefined)
    return [...settings, { ...strategy, path: AUTO_PROFILE, raw: undefined, value: undefined }];
  const enabled = find(AUTO_ENABLED);
  if (enabled?.alias !== "compaction.auto" || enabled.value !== true) return settings;
  return [...settings, { ...enabled, path: AUTO_PROFILE, raw: "tiered", value: "tiered" }];
}

function tableAt(root: Table, path: SettingPath): Table {
  let table = root;
  for (const name of path) {
    const inner = table[name];
    const own = inner === undefined || Object.isFrozen(inner) ? ownCopy(inner) : (inner as Table);
    table[name] = own;
    table = own;
  }
  return table;
}

function ownCopy(table: unknown): Table {
  return Object.assign(Object.create(null), table);
}

/** What is frozen is shared with the built-in config. */
function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
