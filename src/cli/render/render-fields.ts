// Named values one below the other, as `git log` and `git remote show` print them.
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";

/** A name and its value; null, undefined and empty values are left out. */
export type Field = readonly [name: string, value: string | number | null | undefined];

/** Lays out fields with their values in one column. */
export function renderFields(fields: readonly Field[], { style }: Rendering): SafeText[] {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(
    ([name, value]) =>
      safe`${style.faint(forTerminal(`${name}:`.padEnd(width + 1)))} ${forTerminalLine(String(value))}`,
  );
}
