// A file of an agent's settings on disk: read as a whole, replaced as a whole, and only while it is what was read. A link, a
// file that may not be written and bytes that are no text are left alone.
import { chmod, lstat, readFile, readlink, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { parse } from "smol-toml";
import { codeOf, JpgError, reasonOf, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { TomlPart } from "../../formats/agent-format.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { userFileMode } from "../conversation/runtime.ts";

/** Larger settings are left alone, bytes. */
const LARGEST = 16 * 1024 * 1024;
/** The agent may write its settings at the same time. */
const ATTEMPTS = 5;

/** What a change makes of a file: its new text, null = the file goes, undefined = it stays as it is. */
type NewText = string | null | undefined;

/**
 * Changes a file. `change` is told its text, null = there is none, and asked again where somebody else wrote meanwhile. Throws
 * `settings_is_link`, `settings_read_only`, `settings_unreadable`, `cannot_write`, and what `change` throws; then nothing changed.
 */
export async function changeSettings(path: string, change: (text: string | null) => NewText): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await readSettingsFile(path);
    const after = change(before);
    if (after === undefined || after === before) return;
    await refuseReadOnly(path);
    const isSame = (await readSettingsFile(path)) === before;
    if (isSame) return after === null ? await rm(path, { force: true }) : await write(path, after);
    if (attempt === ATTEMPTS)
      throw userError("settings_change", `${path} keeps being changed by another program.`, {
        hints: ["End the agent and run the command again."],
      });
  }
}

/** Reads a file; null when there is none. Throws as `changeSettings` does. */
export async function readSettingsFile(path: string): Promise<string | null> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw unreadable(path, reasonOf(error), error);
  });
  if (found === null) return null;
  if (found.isSymbolicLink()) throw await linked(path);
  if (!found.isFile()) throw unreadable(path, "it is not a file");
  if (found.size > LARGEST) throw unreadable(path, `it is larger than ${LARGEST / 1024 / 1024} MiB`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (error) {
    throw unreadable(path, codeOf(error).startsWith("ERR_ENCODING") ? "it is not UTF-8" : reasonOf(error), error);
  }
}

/** By its mode alone: whoever may write everything did not mean to write this. */
async function refuseReadOnly(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || (found.mode & 0o222) !== 0) return;
  throw userError("settings_read_only", `${path} is read-only, and stays as it is.`, {
    hints: [`Allow writing it and run the command again: chmod u+w ${path}`],
  });
}

async function write(path: string, text: string): Promise<void> {
  try {
    makeFolders(dirname(path));
    const found = await lstat(path).catch(() => null);
    await replaceFile(path, text, { mode: 0o600 });
    await chmod(path, found === null ? userFileMode() : found.mode & 0o777);
  } catch (error) {
    if (error instanceof JpgError) throw error;
    throw userError("cannot_write", `${path} cannot be written: ${reasonOf(error)}.`, {
      hints: ["Give yourself access to its folder and run the command again."],
      cause: error,
    });
  }
}

async function linked(path: string): Promise<JpgError> {
  const target = await readlink(path).catch(() => "another place");
  return userError("settings_is_link", `${path} is a link to ${target}, and jpg does not write through links.`, {
    hints: ["Replace it with a file and run the command again, or edit the file that it points to by hand."],
  });
}

function unreadable(path: string, why: string, cause?: unknown): JpgError {
  return userError("settings_unreadable", `${path} cannot be changed: ${why}.`, {
    hints: ["Correct it and run the command again; nothing was written."],
    ...defined({ cause }),
  });
}

// A change of a settings file as text: what is put in is only ever added, so that taking the very same characters out again
// gives back what was there. Pure.

/** A settings file with something put in. */
export interface AddedText {
  readonly text: string;
  /** What was put in, in the order of the file; empty = everything was there. */
  readonly inserted: readonly string[];
}

/** Why something cannot be put into a file; completes "FILE …". */
export interface NotAdded {
  readonly problem: string;
}

/** Something to put in, and where: an offset in characters. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Puts one thing in. */
export function insertText(text: string, insertion: Insertion): string {
  return text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at);
}

/** Takes what was put in out again; null where it does not stand there as it was, or not as often. */
export function cutInserted(text: string, inserted: readonly string[]): string | null {
  let left = text;
  // What was put in last may stand within what was put in before.
  for (const piece of [...inserted].reverse()) {
    const at = left.indexOf(piece);
    const again = left.indexOf(piece, at + 1);
    const isMine = inserted.filter((other) => other === piece).length > 1;
    if (at === -1 || (again !== -1 && !isMine)) return null;
    left = left.slice(0, at) + left.slice(at + piece.length);
  }
  return left;
}

// Puts a table into a TOML file of settings, and takes it out: only its own lines come and go, comments and layout of the rest
// stay. Pure.

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
