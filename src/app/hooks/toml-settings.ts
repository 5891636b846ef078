// Puts a table into a TOML file of settings, and takes it out: only its own lines come and go, comments and layout of the rest
// stay. Pure.
import { parse } from "smol-toml";
import type { TomlPart } from "../../formats/agent-format.ts";
import type { AddedText, NotAdded } from "./settings-edit.ts";

/** Puts the table at the end, where none of its name is. */
export function addToml(text: string, { table, values }: TomlPart): AddedText | NotAdded {
  const before = tableOf(text, table);
  if (before === null) return { problem: "is not TOML" };
  if (before.value !== undefined) return { text, inserted: [] };
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = Object.entries(values).map(
    ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll('","', '", "')}`,
  );
  const begin = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  const inserted = `${begin}${[`[${table}]`, ...lines].join(eol)}${eol}`;
  const after = tableOf(text + inserted, table);
  if (after?.value === undefined) return { problem: `takes no table [${table}] behind what it holds` };
  return { text: text + inserted, inserted: [inserted] };
}

/** Whether a table stands there that holds what jpg puts there, more than that, or something else. */
export function findToml(text: string, { table, values }: TomlPart): "same" | "foreign" | null {
  const found = tableOf(text, table);
  if (found === null || found.value === undefined) return null;
  const held = found.value as Readonly<Record<string, unknown>>;
  return Object.entries(values).every(([key, value]) => JSON.stringify(held[key]) === JSON.stringify(value))
    ? "same"
    : "foreign";
}

/** Gives what stands in a table; undefined where there is none, or the text is no TOML. */
export function readToml(text: string, table: string): unknown {
  return tableOf(text, table)?.value;
}

/** Takes a table out, by its header, up to the next one and what is said before that. Null where the text is no TOML then. */
export function removeToml(text: string, { table }: TomlPart): string | null {
  const lines = text.split(/(?<=\n)/);
  const start = lines.findIndex((line) => headerOf(line) === table);
  if (start === -1) return tableOf(text, table) === null ? null : text;
  const next = lines.findIndex((line, at) => at > start && headerOf(line) !== null && !isWithin(headerOf(line), table));
  let end = next === -1 ? lines.length : next;
  // Comments and blank lines right before the next table are of that table.
  while (next !== -1 && end > start + 1 && /^(#.*)?$/.test((lines[end - 1] ?? "").trim())) end -= 1;
  const from = start > 0 && lines[start - 1]?.trim() === "" ? start - 1 : start;
  const left = [...lines.slice(0, from), ...lines.slice(end)].join("");
  return tableOf(left, table)?.value === undefined ? left : null;
}

/** The name between the brackets of a header's line. */
function headerOf(line: string): string | null {
  const name = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line.trimEnd())?.[1];
  if (name !== undefined)
    return name
      .split(".")
      .map((key) => key.trim())
      .join(".");
  return /^\s*\[\[/.test(line) ? "" : null;
}

function isWithin(header: string | null, table: string): boolean {
  return header?.startsWith(`${table}.`) === true;
}

/** What a text says under the keys of a table; null where it is no TOML. */
function tableOf(text: string, table: string): { readonly value: unknown } | null {
  try {
    let value: unknown = parse(text);
    for (const key of table.split("."))
      value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    return { value };
  } catch {
    return null;
  }
}
