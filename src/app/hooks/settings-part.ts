// What jpg has to stand in one file of settings: whether it does, the file with it, and the file without it. Pure.
import type { JsonEntry, SettingsPart } from "../../formats/agent-format.ts";
import { outlineJson } from "./json-outline.ts";
import { addJson, findJson, removeJson } from "./json-settings.ts";
import { type AddedText, cutInserted, type NotAdded } from "./settings-edit.ts";
import { addToml, findToml, removeToml } from "./toml-settings.ts";

/** How it stands in a file: as it is to be, as an older jpg wrote it or somebody changed it, or what is there is not jpg's. */
export type PartState = "same" | "other" | "foreign" | "absent";

/** Says how a part stands in a file; `text` null = there is no file. */
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

/** Gives the file with the part in it. */
export function addPart(text: string | null, part: SettingsPart): AddedText | NotAdded {
  const before = text ?? "";
  if (part.type === "file") return { text: part.text, inserted: [part.text] };
  if (part.type === "toml") return addToml(before, part);
  const isOld = findPart(text, part) === "other";
  const cleared = isOld ? removeJson(before, part.entries, isOwnEntry) : before;
  return cleared === null ? { problem: "is not JSON" } : addJson(cleared, part.entries);
}

/**
 * Gives the file without the part: with the characters gone that were put in, where they stand as they were, else with the
 * entry taken out wherever it stands now. Null where the file cannot be read.
 */
export function removePart(text: string, part: SettingsPart, inserted: readonly string[]): string | null {
  if (part.type === "file") return "";
  const exact = inserted.length === 0 ? null : cutInserted(text, inserted);
  if (exact !== null && isReadable(exact, part) && findPart(exact, part) === "absent") return exact;
  return part.type === "toml" ? removeToml(text, part) : removeJson(text, part.entries, isOwnEntry);
}

/** Whether a file holds nothing any more that anybody put there. */
export function isEmptyFile(text: string): boolean {
  return text.trim() === "" || /^\s*\{\s*\}\s*$/.test(text);
}

function isReadable(text: string, part: SettingsPart): boolean {
  if (text.trim() === "") return true;
  return part.type === "toml" ? removeToml(text, part) !== null : outlineJson(text) !== null;
}

/** An entry is jpg's when all that jpg's says stands in it: its owner may have added to it. A hook is by a line that only calls the script. */
function isOwnEntry(value: unknown, { value: own, isItem }: JsonEntry): boolean {
  const [held, said] = [stringsIn(value), stringsIn(own)];
  if (!isItem) return said.every((text) => held.includes(text));
  return held.some((text) => HOOK_LINE.test(text));
}

/** What every line that calls jpg's hook holds, wherever the user's files are. */
export const HOOK_MARK = "jpg/hooks/keep.sh";

const SCRIPT = `(?:'(?:[^']|'\\\\'')*${HOOK_MARK}'|[^\\s'";&|]*${HOOK_MARK})`;
/** A line that calls jpg's hook and does nothing else, as any jpg wrote it. What a user wrote around it is the user's. */
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
