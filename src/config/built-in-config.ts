// The built-in settings as a finished config. They are ours, so nothing is checked at a start: a test reads them against the
// schema. Layers above copy the tables that they change and share the others.
import { parseToolCallPolicy } from "../core/conversation/policy.ts";
import { BUILT_IN } from "./built-in.ts";
import type { Config } from "./config.ts";
import type { Assignment } from "./layer.ts";
import type { SettingPath } from "./setting-key.ts";

type Table = Readonly<Record<string, unknown>>;

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

function leavesOf(table: Table, path: SettingPath): readonly Assignment[] {
  return Object.entries(table).flatMap(([name, raw]): readonly Assignment[] => {
    const inner = [...path, name];
    if (isTable(raw)) return leavesOf(raw, inner);
    return [{ path: inner, facts: { expected: "" }, raw, value: heldAs(name, raw), origin: { layer: "built-in" } }];
  });
}

function holdTable(table: Table): Table {
  const held: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(table)) held[name] = heldAs(name, table[name]);
  return Object.freeze(held);
}

/** The built-in policies are words, which the config holds in full. */
function heldAs(name: string, raw: unknown): unknown {
  if (isTable(raw)) return holdTable(raw);
  return name === "tool_calls" ? Object.freeze(parseToolCallPolicy(raw, "tool_calls")) : raw;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
