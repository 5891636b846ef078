// What a session says of compactions that jpg made while Claude Code ran: marks, what was taken back, and under which ids the
// running agent holds its rows.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { FoundLiveMark, LiveMarks, LiveUndo } from "../live-mark.ts";
import { type SessionGraph, type SessionPath, startsNewContext } from "./active-path.ts";
import type { AnsweredIndex } from "./answers.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";
import type { TurnCut } from "./turns.ts";

interface LiveReading {
  /** All lines, rows of answers as they were indexed first. */
  readonly index: SessionIndex;
  readonly answers: AnsweredIndex["answers"];
  readonly graph: Pick<SessionGraph, "keptBy">;
  readonly path: SessionPath;
  readonly cuts: readonly TurnCut[];
  readonly compactions: readonly Compaction[];
}

export function readLive(reading: LiveReading): LiveMarks {
  const marks = readMarks(reading);
  let handles: ReadonlyMap<string, string> | undefined;
  return {
    marks,
    undone: readUndone(reading),
    handleOf(event) {
      handles ??= readHandles(reading);
      const [line = event] = event.split(".", 1);
      return handles.get(line);
    },
  };
}

function readMarks({ index, answers }: LiveReading): readonly FoundLiveMark[] {
  const installed = new Set([...answers.values()].map(({ answer }) => answer.mark));
  return index.entries.flatMap((entry) => {
    const { mark, uuid } = entry;
    return mark === undefined || uuid === undefined ? [] : [{ ...mark, line: uuid, isInstalled: installed.has(entry) }];
  });
}

function readUndone({ answers, cuts, compactions }: LiveReading): readonly LiveUndo[] {
  const undone: LiveUndo[] = [];
  for (const [turn, { chain }] of cuts.entries()) {
    for (const entry of chain) {
      const answer = answers.get(entry)?.answer;
      const mark = answer?.isWhole === true ? answer.mark?.mark : undefined;
      if (mark?.kind !== "undo") continue;
      const own = answer?.boundary.timestamp ?? entry.timestamp;
      const made = compactions.find(({ id }) => id === mark.compaction)?.timestamp ?? own;
      const timestamp = compareTimestamps(own, made) < 0 ? made : own;
      undone.push({ compaction: mark.compaction, turn, timestamp });
    }
  }
  return undone;
}

/** The ids in the agent's context, by the ids of the lines that events are named after. */
function readHandles({ answers, graph, path }: LiveReading): ReadonlyMap<string, string> {
  const { chain, offPath } = path;
  const start = chain.findLastIndex((entry) => entry.kind === "repeated" || startsNewContext(entry));
  const own = new Set(chain.slice(start + 1));
  for (const [entry, anchor] of offPath) if (own.has(anchor)) own.add(entry);
  const handles = new Map<string, string>();
  for (const { uuid } of own) if (uuid !== undefined) handles.set(uuid, uuid);
  for (const { row, original } of keptRows(chain, start)) {
    if (row.uuid !== undefined && original.uuid !== undefined) handles.set(original.uuid, row.uuid);
  }
  return handles;

  /** The rows that the newest new context kept, each with the row that it repeats. */
  function keptRows(chain: readonly LineEntry[], at: number): readonly KeptRow[] {
    const first = chain[at];
    const found = first === undefined ? undefined : answers.get(first);
    if (found !== undefined) {
      const { rows, originals } = found.answer;
      const shown = rows.slice(0, rows.indexOf(found.row) + 1);
      return shown.flatMap((row) => keptRow(row, originals.get(row)));
    }
    const boundary = first?.kind === "summary" ? chain[at - 1] : first;
    return (boundary?.kind === "boundary" ? graph.keptBy(boundary) : []).flatMap((entry) => {
      const kept = answers.get(entry);
      return kept === undefined ? keptRow(entry, entry) : keptRow(kept.row, kept.answer.originals.get(kept.row));
    });
  }
}

interface KeptRow {
  readonly row: LineEntry;
  readonly original: LineEntry;
}

function keptRow(row: LineEntry, original: LineEntry | undefined): readonly KeptRow[] {
  return original === undefined ? [] : [{ row, original }];
}
