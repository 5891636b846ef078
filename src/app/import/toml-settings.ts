// Edits jpg's table in a TOML settings file; the rest stays unchanged, byte for byte. Pure.
import { parse, TomlError } from "smol-toml";
import { fieldsOf } from "../../core/conversation/event.ts";
import type { TomlPart } from "../../formats/agent-format.ts";
import type { NotAdded } from "./settings-file.ts";

/** Finds a table: `same` = it has all of jpg's values, `foreign` = it has others. */
export function findToml(text: string, { table, values }: TomlPart): "same" | "foreign" | null {
  const found = readToml(text, table);
  if (found === undefined) return null;
  const held = fieldsOf(found);
  const isSame = ([key, value]: [string, unknown]): boolean => JSON.stringify(held[key]) === JSON.stringify(value);
  return Object.entries(values).every(isSame) ? "same" : "foreign";
}

/** Returns the values of a table; undefined if there is none, or the text is no TOML. */
export function readToml(text: string, table: string): unknown {
  const read = readTree(text);
  return "problem" in read ? undefined : valueUnder(read.tree, table);
}

export function isToml(text: string): boolean {
  return !("problem" in readTree(text));
}

/**
 * Appends a table to a text that has none of its name; `values` null = removes it with the tables below it. Refuses if the result
 * would not parse as intended: a table can be written without a header.
 */
export function editTomlTable(text: string, table: string, values: TomlPart["values"] | null): string | NotAdded {
  const before = readTree(text);
  if ("problem" in before) return before;
  if ((valueUnder(before.tree, table) !== undefined) === (values !== null)) return text;
  const edited = values === null ? cutTable(text, table) : appendTable(text, table, values);
  const after = readTree(edited);
  if (!("problem" in after) && (valueUnder(after.tree, table) !== undefined) === (values !== null)) return edited;
  const problem =
    values === null ? `has [${table}] in a form that jpg cannot remove` : `cannot have a table [${table}] at its end`;
  return { problem };
}

function appendTable(text: string, table: string, values: TomlPart["values"]): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = Object.entries(values).map(
    ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll('","', '", "')}`,
  );
  const begin = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  return `${text}${begin}${[`[${table}]`, ...lines].join(eol)}${eol}`;
}

/** Removes a table from its header up to the comments of the next one, and the blank line before it. */
function cutTable(text: string, table: string): string {
  const lines = text.split(/(?<=\n)/);
  const start = lines.findIndex((line) => headerOf(line) === table);
  if (start === -1) return text;
  const next = lines.findIndex((line, at) => {
    const header = at > start ? headerOf(line) : null;
    return header !== null && !header.startsWith(`${table}.`);
  });
  let end = next === -1 ? lines.length : next;
  // Comments and blank lines right before the next table belong to it.
  while (next !== -1 && end > start + 1 && /^(#.*)?$/.test((lines[end - 1] ?? "").trim())) end -= 1;
  const from = start > 0 && lines[start - 1]?.trim() === "" ? start - 1 : start;
  return [...lines.slice(0, from), ...lines.slice(end)].join("");
}

/** The name in a table's header; null for another line. */
function headerOf(line: string): string | null {
  const name = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line.trimEnd())?.[1];
  const keys = name?.split(".").map((key) => key.trim());
  return keys?.join(".") ?? (/^\s*\[\[/.test(line) ? "" : null);
}

function readTree(text: string): { readonly tree: unknown } | NotAdded {
  try {
    return { tree: parse(text) };
  } catch (error) {
    if (error instanceof TomlError) return { problem: "is not TOML", line: error.line };
    throw error;
  }
}

function valueUnder(tree: unknown, table: string): unknown {
  return table.split(".").reduce((value, key) => fieldsOf(value)[key], tree);
}
