// Writes a conversation as a stream of jp: jpg's own entry, which jp keeps and no rule of its sees, then the turns and overlays. The
// same export is the same bytes, in jp's stored form.
import type { View } from "../../core/conversation/event.ts";
import type { DraftHistory, SessionDraft } from "../agent-format.ts";
import { createOriginLine } from "../export-origin.ts";
import type { RawLine } from "../json-line.ts";
import { NO_DATE } from "../timestamp.ts";
import { OVERLAYS_KEY } from "./compactions.ts";
import { planLayered, planShown } from "./draft-turns.ts";
import { type EntryList, layOutEntries } from "./entry-list.ts";
import { nameOfOverlay } from "./overlays.ts";
import { formatStoredTime } from "./stored-time.ts";

/** Gives the text of `events.json`. */
export function writeJpSession({ view, history, sessionId, origin }: SessionDraft): string {
  const { entries, overlays } = layOut(view, history);
  const { type, ...fields } = createOriginLine(origin, sessionId);
  const timestamp = formatStoredTime(view.turns[0]?.events[0]?.timestamp ?? NO_DATE);
  const names = overlays.map((overlay) => [nameOfOverlay(overlay), overlay.id]);
  const mark: RawLine = { type, timestamp, ...fields, ...(overlays.length > 0 && { [OVERLAYS_KEY]: names }) };
  return formatStream([mark, ...entries]);
}

function layOut(view: View, history: DraftHistory | undefined): EntryList {
  const layered = planLayered(view, history);
  return (layered === null ? null : layOutEntries(layered)) ?? layOutEntries(planShown(view)) ?? NOTHING;
}

const NOTHING: EntryList = { entries: [], overlays: [] };

/** Gives the text of a stream: two spaces, and a line end. */
export function formatStream(entries: readonly RawLine[]): string {
  return `${JSON.stringify(entries, null, 2)}\n`;
}
