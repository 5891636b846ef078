// Copilot CLI's own compactions as overlays. It then sends one message: the words of the user's messages so far and the summary. What was
// said since the compaction began, in the background, stays.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { deriveName, plainValues } from "../imported-session.ts";
import { addMilliseconds, type RawLine, stringOf } from "../session-source.ts";
import { type CopilotReading, readCopilotEntry, sentSummary } from "./events.ts";
import { dataOf } from "./lines.ts";
import type { CopilotEntry } from "./session-index.ts";

/** A compaction and the turn during or after which it was made. */
interface CopilotCompaction {
  readonly compaction: Compaction;
  readonly turn: number;
}

/** Characters of messages that all compactions of a session repeat together; more than any real session has. */
const MOST_LISTED = 32 * 1024 * 1024;

/** State of the walk along the compactions. */
interface Progress {
  readonly reading: CopilotReading;
  readonly turnOf: ReadonlyMap<CopilotEntry, number>;
  /** What `endOf` found, by position. */
  readonly ends: Map<number, End>;
  listed: number;
  last: string | undefined;
}

/** Reads the compactions of a session, oldest first, with rising timestamps. */
export function readCopilotCompactions(reading: CopilotReading): readonly CopilotCompaction[] {
  const { entries, turns } = reading.index;
  const changes = entries.flatMap((entry, position) => (isChange(entry) ? [{ entry, position }] : []));
  if (changes.length === 0 || turns.length === 0) return [];
  const turnOf = new Map(turns.flatMap((turn, at) => turn.entries.map((entry) => [entry, at] as const)));
  const progress: Progress = { reading, turnOf, ends: new Map(), listed: 0, last: undefined };
  return changes.flatMap(({ entry, position }) => placeCompaction(progress, entry, position));
}

function isChange({ kind }: CopilotEntry): boolean {
  return kind === "compaction" || kind === "clearing";
}

function placeCompaction(progress: Progress, entry: CopilotEntry, position: number): readonly CopilotCompaction[] {
  const { reading, turnOf } = progress;
  const end = endOf(progress, entry, Math.min(entry.keptFrom ?? position, position));
  const line = reading.lines.at(entry.line);
  const turn = turnOf.get(entry);
  const last = turnOf.get(end.entry);
  if (line === null || typeof line === "string" || turn === undefined || last === undefined) return [];
  const isLater = progress.last === undefined || compareTimestamps(entry.timestamp, progress.last) > 0;
  const timestamp = isLater || progress.last === undefined ? entry.timestamp : addMilliseconds(progress.last, 1);
  progress.last = timestamp;
  const compaction: Compaction = {
    type: "compaction",
    id: deriveName(`${entry.id}.${entry.kind}`),
    timestamp,
    from_turn: 0,
    to_turn: last,
    to_event: end.event,
    ...changeOf(progress, dataOf(line), entry),
    source: "import",
    metadata: { ...numbersOf(dataOf(line)), line: entry.id },
  };
  return [{ compaction, turn }];
}

/** The last event that a compaction covers. */
interface End {
  readonly entry: CopilotEntry;
  readonly event: string;
}

/** Finds it; a session that begins with a compaction has only the compaction's note. */
function endOf({ reading, ends }: Progress, own: CopilotEntry, position: number): End {
  const known = ends.get(position);
  if (known !== undefined) return known;
  const { entries } = reading.index;
  let found: End = { entry: own, event: own.id };
  for (let at = position - 1; at >= 0; at--) {
    const entry = entries[at];
    const event = entry === undefined ? undefined : readCopilotEntry(reading, entry).at(-1)?.id;
    if (entry === undefined || event === undefined) continue;
    found = { entry, event };
    break;
  }
  ends.set(position, found);
  return found;
}

function changeOf(progress: Progress, data: RawLine, entry: CopilotEntry): Partial<Compaction> {
  if (entry.kind === "clearing") return { turns: "omit", reason: "context-cleared" };
  const summary = sentSummary(listedWords(progress, entry), stringOf(data, "summaryContent") ?? "");
  return { summary: { summary, source: "imported", inject: "request" } };
}

/** The words of the messages before a compaction; none once a session of a strange size repeats too much. */
function listedWords(progress: Progress, { listed }: CopilotEntry): readonly string[] {
  const { lines, index } = progress.reading;
  if (listed === undefined || progress.listed > MOST_LISTED) return [];
  const words: string[] = [];
  for (let at = listed.from; at < listed.to && progress.listed <= MOST_LISTED; at++) {
    const line = lines.at(index.listed[at] ?? 0);
    const text = line === null || typeof line === "string" ? "" : (stringOf(dataOf(line), "content") ?? "");
    progress.listed += text.length + 1;
    words.push(text);
  }
  return words;
}

/** The numbers and short names of a compaction's line. */
function numbersOf(data: RawLine): RawLine {
  const { summaryContent: _, ...plain } = plainValues(data);
  return plain;
}
