// A setting's key: the names from the root table down to it, written dotted as in TOML (`a.b."c.d"`).
import { forJson } from "../core/safe-text.ts";

/** Names from the root down, never empty. */
export type SettingPath = readonly string[];

const BARE_NAME = /^[A-Za-z0-9_-]+$/;

/** Names that would reach an object's prototype; no setting may be called so. */
const UNSAFE_NAMES: ReadonlySet<string> = new Set(["__proto__"]);

/** Whether a table may have an entry of that name. */
export function isSafeName(name: string): boolean {
  return !UNSAFE_NAMES.has(name);
}

/** Formats a path as a dotted key, quoting names that need it. */
export function formatKey(path: SettingPath): string {
  return path.map((name) => (BARE_NAME.test(name) ? name : quoteName(name))).join(".");
}

/** Quotes a name as TOML does; JSON leaves the last control characters as they are, TOML allows none. */
function quoteName(name: string): string {
  return forJson(JSON.stringify(name));
}
