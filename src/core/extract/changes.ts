// What became of the files that calls changed: where each was changed last, and what was defined in it there and before.
import { stringsIn } from "../loss/event-texts.ts";
import { definedNames } from "../summary/defined-names.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";

/** The last change of a file. */
export interface LastChange {
  /** Turn position, 0-based. */
  readonly turn: number;
  /** Whether that took the file away. */
  readonly isDeleted: boolean;
  /** What the changes of the file define, each once, the newest first; of calls that change several files none. */
  readonly names: readonly string[];
}

/** Gives the changes of files by their paths as written, those that were changed last at the end. What failed is none. */
export function changesOf(calls: readonly ToolCall[]): ReadonlyMap<string, LastChange> {
  const changes = new Map<string, LastChange>();
  for (const { request, response, turn, responseTurn = turn } of calls) {
    const { kind, path, paths = path === undefined ? [] : [path] } = callFacts(request);
    if (!isWriting(kind) || response?.is_error === true) continue;
    const texts = stringsIn(request.arguments);
    const names = paths.length > 1 ? [] : texts.flatMap((text) => [...definedNames(text)]);
    for (const file of paths) {
      const isDeleted = texts.some((text) => text.includes(`*** Delete File: ${file}`));
      const before = changes.get(file)?.names ?? [];
      changes.delete(file);
      changes.set(file, { turn: responseTurn, isDeleted, names: [...new Set([...names, ...before])] });
    }
  }
  return changes;
}

/** Names told of the changes of a file. */
const MOST_NAMES = 6;

/**
 * Says of each of some files what became of it, in their order: ` (t12: parse, render)`. Together they take `chars` characters at most;
 * where there is no room for all, those that were changed last have it, and the others are "".
 */
export function changeNotes(
  files: readonly string[],
  changes: ReadonlyMap<string, LastChange>,
  chars: number,
): readonly string[] {
  const notes = new Map<string, string>();
  let left = chars;
  for (const [file, change] of [...changes].reverse()) {
    const note = noteOf(change);
    if (note.length > left) continue;
    left -= note.length;
    notes.set(file, note);
  }
  return files.map((file) => notes.get(file) ?? "");
}

function noteOf({ turn, isDeleted, names }: LastChange): string {
  const what = isDeleted ? "deleted" : names.slice(0, MOST_NAMES).join(", ");
  return ` (t${turn}${what === "" ? "" : `: ${what}`})`;
}
