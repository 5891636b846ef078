// The title of a session that is not stored: the one that its conversation has after the import.
import { titleByRequests } from "../../core/conversation/asked.ts";
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { isResumedTitle } from "../../core/conversation/marks.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import { titleRecordId } from "./import-commits.ts";

/** Turns that are read for a title, at most. */
const MOST_TURNS = 20;

/** Returns the title that was given last, safe to show, else what the first request asks that asks anything. */
export function sessionTitle(session: ImportedSession): string {
  return givenSessionTitle(session) ?? titleByRequests(session.title, firstTurns(session));
}

/** The title that the agent or the user gave last; undefined = none. */
export function givenSessionTitle({ titles, sessionId }: ImportedSession): string | undefined {
  // In the order of the records that an import makes of them: lines without a time of their own share one.
  const order = (id: string): string => titleRecordId(sessionId, id);
  return titles
    .filter(({ title }) => !isResumedTitle(title))
    .sort((a, b) => compareTimestamps(a.timestamp, b.timestamp) || (order(a.id) < order(b.id) ? -1 : 1))
    .at(-1)?.title;
}

function* firstTurns({
  turnCount,
  readTurn,
}: Pick<ImportedSession, "turnCount" | "readTurn">): Generator<Pick<Turn, "events">> {
  for (let turn = 0; turn < Math.min(turnCount, MOST_TURNS); turn++) yield { events: readTurn(turn) };
}
