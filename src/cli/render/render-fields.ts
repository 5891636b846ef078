// Named values one below the other, as `git log` and `git remote show` print them.
import { forTerminalLine } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";

/** A name and its value; null, undefined and empty values are left out. */
export type Field = readonly [name: string, value: string | number | null | undefined];

/** Lays out fields with their values in one column. */
export function renderFields(fields: readonly Field[], { style }: Rendering): string[] {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${style.faint(`${name}:`.padEnd(width + 1))} ${forTerminalLine(String(value))}`);
}
