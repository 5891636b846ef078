// Puts the settings in force together into one frozen config; and the lowest layer, what holds when nobody has set anything. No
// schema is needed for it.
import { TRIGGER_RATIO } from "../core/compact/automatic.ts";
import { DEFAULT_TOOL_HINTS } from "../core/compact/tool-hints.ts";
import { CONTENT_TYPES } from "../core/conversation/contents/content-types.ts";
import { BUILT_IN_PROFILES } from "../core/conversation/policy.ts";
import type { Config } from "./config.ts";
import { formatKey, type SettingPath } from "./keys.ts";
import type { Assignment, LayerName, SettingOrigin } from "./layers.ts";

/** A setting that a layer gave and that does not count. */
export interface IgnoredSetting {
  /** Dotted key; empty when a whole file does not count. */
  readonly key: string;
  readonly layer: LayerName;
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly reason: string;
  /** As written; absent where it is of no use, or the whole file does not count. */
  readonly value?: unknown;
}

export interface LoadedConfig {
  readonly config: Config;
  /** As written, by dotted key; only what is in force. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Where each value comes from, by dotted key; same keys as `values`. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  /** Lowest layer first. */
  readonly ignored: readonly IgnoredSetting[];
}

// Puts the settings in force together into one frozen config: the built-in one, of which the tables that a layer changes are
// copied. Tables have no prototype: looking up a name that nobody set gives undefined, whatever the name.

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

/** The built-in settings, in the shape of a config file. */
export const BUILT_IN: Readonly<Record<string, unknown>> = {
  conversation: {
    model: "",
    system_prompt: "",
    compaction: {
      default_profile: "default",
      keep_last: 3,
      strategy: "auto",
      model: "",
      summarize_threshold: 0.5,
      index: true,
      fork: false,
      profiles: BUILT_IN_PROFILES,
      auto: { enabled: false, trigger_ratio: TRIGGER_RATIO, warning_ratio: 0.7, profile: "default", min_turns: 5 },
    },
    tools: Object.fromEntries(Object.entries(DEFAULT_TOOL_HINTS).map(([name, hint]) => [name, { compaction: hint }])),
  },
};

// The built-in settings as a finished config. They are ours, so nothing is checked at a start: a test reads them against the
// schema. Layers above copy the tables that they change and share the others.

type BuiltInTable = Readonly<Record<string, unknown>>;

/** The config of nobody's settings, frozen. Tables have no prototype. */
export const BUILT_IN_CONFIG: Config = holdTable({
  ...BUILT_IN,
  providers: {},
  mcp: { servers: {} },
  secrets: { allow: [] },
}) as unknown as Config;

/** Lists the built-in settings one by one, as a layer would give them; for listings only. */
export function listBuiltIn(): readonly Assignment[] {
  return leavesOf(BUILT_IN, []);
}

function leavesOf(table: BuiltInTable, path: SettingPath): readonly Assignment[] {
  return Object.entries(table).flatMap(([name, raw]): readonly Assignment[] => {
    const inner = [...path, name];
    if (isTable(raw)) return leavesOf(raw, inner);
    return [{ path: inner, facts: { expected: "" }, raw, value: heldAs(name, raw), origin: { layer: "built-in" } }];
  });
}

function holdTable(table: BuiltInTable): BuiltInTable {
  const held: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(table)) held[name] = heldAs(name, table[name]);
  return Object.freeze(held);
}

/** The built-in policies are words, which the config holds in full. */
function heldAs(name: string, raw: unknown): unknown {
  if (isTable(raw)) return holdTable(raw);
  const parse = CONTENT_TYPES.find(({ content }) => content === name)?.parse;
  return parse === undefined ? raw : Object.freeze(parse(raw, name));
}

function isTable(value: unknown): value is BuiltInTable {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
