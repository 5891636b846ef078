// The names that the user gave a session of pi.
import { shownTitle } from "../../core/conversation/marks.ts";
import type { ImportedSession } from "../imported-session.ts";
import { stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import type { Entry } from "./entry-index.ts";

/** The names of a session, oldest first; cleared ones and repetitions are left out, also of the one before. */
export function readSessionNames(
  lines: ParsedLines,
  entries: readonly Entry[],
  before?: string,
): ImportedSession["titles"] {
  const titles: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, kind, timestamp, eventId } of entries) {
    const raw = kind === "side" ? lines.at(line) : null;
    if (raw === null || typeof raw === "string" || raw["type"] !== "session_info") continue;
    const title = shownTitle(stringOf(raw, "name") ?? "");
    if (title !== "" && title !== (titles.at(-1)?.title ?? before)) titles.push({ timestamp, title, id: eventId });
  }
  return titles;
}
