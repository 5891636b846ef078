// Puts the settings in force together into one frozen config. Tables have no prototype: looking up a name that nobody
// set gives undefined, whatever the name.
import type { Config } from "./config.ts";
import type { Assignment, Origin } from "./layer.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";

/** A config and the settings it was made of, by dotted key, ordered by it. */
export interface AssembledConfig {
  readonly config: Config;
  /** As written. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly origins: ReadonlyMap<string, Origin>;
}

type Table = Record<string, unknown>;

/** Tables that exist even when nothing is set in them. */
const ALWAYS_PRESENT: readonly SettingPath[] = [["conversation", "tools"], ["providers"], ["mcp", "servers"]];

/** Assembles the config from the assignment in force for each key. The built-in layer must be among them. */
export function assembleConfig(inForce: ReadonlyMap<string, Assignment>): AssembledConfig {
  const settings = withSummaryPolicies(inForce);
  const root: Table = Object.create(null);
  for (const path of ALWAYS_PRESENT) tableAt(root, path);
  for (const { path, facts, value } of settings) {
    const table = tableAt(root, facts === null ? path : path.slice(0, -1));
    if (facts !== null && value !== undefined) table[path[path.length - 1] ?? ""] = value;
  }
  // Each value was checked by the schema at its place, and the schema is one of Config.
  const config = freeze(root) as unknown as Config;
  const set = settings.filter(({ facts }) => facts !== null);
  return {
    config,
    values: new Map(set.map(({ path, raw }) => [formatKey(path), raw])),
    origins: new Map(set.map(({ path, origin }) => [formatKey(path), origin])),
  };
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

function tableAt(root: Table, path: SettingPath): Table {
  let table = root;
  for (const name of path) {
    const inner = (table[name] ?? Object.create(null)) as Table;
    table[name] = inner;
    table = inner;
  }
  return table;
}

function freeze(value: unknown): unknown {
  if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
