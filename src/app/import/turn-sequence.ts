// A session's turns as positions of a conversation, whether the file holds the whole conversation or continues one that
// jpg exported.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import type { ImportedSession, ImportedTurns, SettingsChange, ToolList } from "../../formats/imported-session.ts";

/** A turn of which only the object id and the number of events are known. */
export interface KnownTurn {
  readonly oid: string;
  readonly events: number;
}

export interface TurnSequence {
  /** Turns of the conversation once all are stored. */
  readonly turnCount: number;
  /** The first turns, where they are known without reading the file. */
  readonly known: readonly KnownTurn[];
  /** The first turn that anything is asked of: the pieces, compactions and titles of those before it are stored as they are. */
  readonly firstRead: number;
  /** Events of one turn, `turn_start` first; not of the known ones, but for the newest, which may have to be written again. */
  readTurn(index: number): readonly Event[];
  /** The file's lines of a turn, `[first, end)`; null where the file has none of that turn. */
  lines(index: number): { readonly first: number; readonly end: number } | null;
  /** The agent's compactions whose commits follow that turn's commit, oldest first, positions of the conversation. */
  compactionsAfter(index: number): readonly Compaction[];
  /** Titles given during that turn, oldest first. */
  titlesIn(index: number): ImportedSession["titles"];
  /** What the agent offered its model from that turn on, one list a change, oldest first. */
  toolsIn(index: number): readonly ToolList[];
  /** What the agent set for the conversation in that turn, oldest first. */
  settingsIn(index: number): readonly SettingsChange[];
}

/**
 * The sequence of a file that holds its conversation from the start; `lineCount` null = it is one document, `known` = the
 * turns before the first that was read.
 */
export function wholeSequence(
  session: ImportedSession,
  lineCount: number | null,
  known: readonly KnownTurn[] = [],
): TurnSequence {
  const { turnCount, firstTurn = 0 } = session;
  const titles = titlesByTurn(session);
  return {
    turnCount,
    known,
    firstRead: firstTurn,
    readTurn: (index) => session.readTurn(index),
    lines: (index) =>
      lineCount === null
        ? null
        : {
            first: index === 0 ? 0 : session.turnLine(index),
            end: index + 1 < turnCount ? session.turnLine(index + 1) : lineCount,
          },
    compactionsAfter: (index) =>
      session.compactions.filter((compaction) => session.compactionTurns.get(compaction.id) === index),
    titlesIn: (index) => titles.get(index) ?? [],
    toolsIn: (index) => toolsOfTurn(session, index),
    settingsIn: (index) => settingsOfTurn(session, index),
  };
}

/** The lists of a turn of the file. */
export function toolsOfTurn({ toolLists = [] }: ImportedSession, index: number): readonly ToolList[] {
  return toolLists.filter(({ turn }) => turn === index);
}

/** The changes of settings of a turn of the file. */
export function settingsOfTurn({ settings = [] }: ImportedSession, index: number): readonly SettingsChange[] {
  return settings.filter(({ turn }) => turn === index);
}

/** The sequence of a branch that the agent left: its own turns after the common ones; it has no lines of its own. */
export function abandonedSequence(turns: ImportedTurns, common: readonly KnownTurn[]): TurnSequence {
  return {
    turnCount: turns.turnCount,
    known: common,
    firstRead: 0,
    readTurn: (index) => turns.readTurn(index),
    lines: () => null,
    compactionsAfter: () => [],
    titlesIn: () => [],
    toolsIn: () => [],
    settingsIn: () => [],
  };
}

/** A title belongs to the last turn that starts no later; those without a time to the turn before them. */
export function titlesByTurn(session: ImportedSession): Map<number, ImportedSession["titles"]> {
  const byTurn = new Map<number, ImportedSession["titles"][number][]>();
  if (session.titles.length === 0 || session.turnCount === 0) return byTurn;
  const first = session.firstTurn ?? 0;
  const starts = Array.from({ length: session.turnCount }, (_, index) =>
    index < first ? Number.NEGATIVE_INFINITY : Date.parse(session.turnTime(index)),
  );
  for (const title of session.titles) {
    const time = Date.parse(title.timestamp);
    let turn = first;
    while (turn + 1 < starts.length && (starts[turn + 1] ?? Number.POSITIVE_INFINITY) <= time) turn++;
    byTurn.set(turn, [...(byTurn.get(turn) ?? []), title]);
  }
  return byTurn;
}
