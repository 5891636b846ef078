// The part of jpg in one settings file: finds it, adds it and removes it. Pure.
import type { JsonEntry, SettingsPart } from "../../formats/agent-format.ts";
import { addJson, findJson, isJson, removeJson } from "./json-settings.ts";
import { type AddedText, cutInserted, type NotAdded } from "./settings-file.ts";
import { editTomlTable, findToml, isToml } from "./toml-settings.ts";

/** `same` = as this jpg writes it, `other` = by an older jpg or changed by somebody, `foreign` = an entry that is not jpg's. */
export type PartState = "same" | "other" | "foreign" | "absent";

/** Finds a part in a file; `text` null = there is no file. */
export function findPart(text: string | null, part: SettingsPart): PartState {
  if (text === null) return "absent";
  if (part.type === "file") {
    if (text === part.text) return "same";
    return firstLine(text) === firstLine(part.text) ? "other" : "foreign";
  }
  if (part.type === "toml") return findToml(text, part) ?? "absent";
  const states = part.entries.map((entry) => findJson(text, entry, isOwnEntry) ?? "absent");
  if (states.includes("foreign")) return "foreign";
  const [first] = states;
  return first !== undefined && states.every((state) => state === first) ? first : "other";
}

/** Returns the file with the part. */
export function addPart(text: string | null, part: SettingsPart): AddedText | NotAdded {
  const before = text ?? "";
  if (part.type === "file") return { text: part.text, inserted: [part.text] };
  if (part.type === "toml") {
    const edited = editTomlTable(before, part.table, part.values);
    if (typeof edited !== "string") return edited;
    return { text: edited, inserted: edited === before ? [] : [edited.slice(before.length)] };
  }
  const isOld = findPart(text, part) === "other";
  const cleared = isOld ? removeJson(before, part.entries, isOwnEntry) : before;
  return typeof cleared === "string" ? addJson(cleared, part.entries) : cleared;
}

/**
 * Returns the file without the part: removes exactly the characters that were inserted if they are still there, else the entry
 * wherever it is now.
 */
export function removePart(text: string, part: SettingsPart, inserted: readonly string[]): string | NotAdded {
  if (part.type === "file") return "";
  const exact = inserted.length === 0 ? null : cutInserted(text, inserted);
  if (exact !== null && isReadable(exact, part) && findPart(exact, part) === "absent") return exact;
  return part.type === "toml" ? editTomlTable(text, part.table, null) : removeJson(text, part.entries, isOwnEntry);
}

/** Whether a file has no content left. */
export function isEmptyFile(text: string): boolean {
  return text.trim() === "" || /^\s*\{\s*\}\s*$/.test(text);
}

function isReadable(text: string, part: SettingsPart): boolean {
  if (text.trim() === "") return true;
  return part.type === "toml" ? isToml(text) : isJson(text);
}

/**
 * An entry is jpg's if it has all that jpg wrote: the user may have added to it. A hook is jpg's if its line only calls the script.
 */
function isOwnEntry(value: unknown, { value: own, isItem }: JsonEntry): boolean {
  const [held, said] = [stringsIn(value), stringsIn(own)];
  if (!isItem) return said.every((text) => held.includes(text));
  return held.some((text) => HOOK_LINE.test(text));
}

/** Contained in every line that calls jpg's hook, wherever the user's files are. */
export const HOOK_MARK = "jpg/hooks/keep.sh";

const SCRIPT = `(?:'(?:[^']|'\\\\'')*${HOOK_MARK}'|[^\\s'";&|]*${HOOK_MARK})`;
/** A line that calls jpg's hook and nothing else, as written by any jpg. Lines that the user extended are the user's. */
const HOOK_LINE = new RegExp(
  `^(?:(?:\\[ ! -f ${SCRIPT} \\] \\|\\| )?(?:/bin/)?sh ${SCRIPT}|/bin/sh -c 'f="[^"';&|]*${HOOK_MARK}"; \\[ ! -f "\\$f" \\] \\|\\| exec /bin/sh "\\$f")(?: [a-z-]+){0,2}'?$`,
);

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
