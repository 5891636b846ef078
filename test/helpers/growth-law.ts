// The law of reading a session that grew: from the mark of an earlier state it is what reading it whole gives, or nothing.
import { expect } from "vitest";
import { titlesByTurn } from "../../src/app/import/import-commits.ts";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { AgentFormat } from "../../src/formats/agent-format.ts";
import type { ImportedSession, SessionMark } from "../../src/formats/imported-session.ts";

function readWhole(format: AgentFormat, bytes: Buffer): ImportedSession | null {
  try {
    return format.read(createBufferSource(bytes));
  } catch {
    return null; // no session yet
  }
}

/** As it comes back from a cache. */
const kept = (mark: SessionMark): SessionMark => ({
  ...mark,
  state: JSON.parse(JSON.stringify(mark.state)) as unknown,
  names: Uint8Array.from(mark.names),
});

const turnsFrom = (session: ImportedSession, first: number, end = session.turnCount) =>
  Array.from({ length: Math.max(0, end - first) }, (_, index) => ({
    events: session.readTurn(first + index),
    line: session.turnLine(first + index),
    time: session.turnTime(first + index),
  }));

/** All that an import takes of a session, from a turn on. */
function contentOf(session: ImportedSession, first: number): unknown {
  const { turnCount, title, createdAt, cwd, sessionId, skippedLines } = session;
  const titles = [...titlesByTurn(session)].filter(([turn]) => turn >= first);
  const tools = session.toolLists?.filter(({ turn }) => turn >= first);
  return { turnCount, title, createdAt, cwd, sessionId, skippedLines, titles, tools, turns: turnsFrom(session, first) };
}

/** Reads a file as it grows, from the mark of the state before each time; gives how often that could be done. */
export function followGrowth(
  format: AgentFormat,
  bytes: Buffer,
  ends: readonly number[],
): { readonly short: number; readonly whole: number } {
  const last: { session: ImportedSession | null; whole: ImportedSession | null } = { session: null, whole: null };
  const count = { short: 0, whole: 0 };
  for (const end of ends) {
    const now = bytes.subarray(0, end);
    const whole = readWhole(format, now);
    const { whole: beforeWhole } = last;
    const mark: SessionMark | null = last.session?.mark?.() ?? null;
    const tail: ImportedSession | null =
      mark === null ? null : (format.readTail?.(createBufferSource(now), kept(mark)) ?? null);
    if (tail !== null && whole !== null && beforeWhole !== null) {
      const first = tail.firstTurn ?? 0;
      expect(contentOf(tail, first)).toEqual(contentOf(whole, first));
      // What stands before is as it was, and nothing was compacted since.
      expect(turnsFrom(whole, 0, first)).toEqual(turnsFrom(beforeWhole, 0, first));
      expect([whole.compactions, whole.compactionTurns]).toEqual([
        beforeWhole.compactions,
        beforeWhole.compactionTurns,
      ]);
      const earlier = (session: ImportedSession) => [...titlesByTurn(session)].filter(([turn]) => turn < first);
      expect(earlier(whole)).toEqual(earlier(beforeWhole));
    }
    count[tail === null ? "whole" : "short"] += 1;
    last.session = tail ?? whole;
    last.whole = whole;
  }
  return count;
}

/** Ends of lines, `stride` lines apart, and of the file; with `inside`, also in the middle of lines. */
export function endsOfLines(bytes: Buffer, stride: number, inside = false): number[] {
  const found: number[] = [];
  let line = 0;
  for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) {
    line += 1;
    if (line % stride !== 0 && end !== bytes.length) continue;
    if (inside && end > 20) found.push(end - 9);
    found.push(end);
  }
  return found;
}
