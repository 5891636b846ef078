// Checks the files of a branch against each other: turns follow one another, ids are used once, results have calls, compactions
// cover turns that exist, payloads exist and are used.
import { JpgError } from "../errors.ts";
import { appendAll } from "../lists.ts";
import { attachmentPath, attachmentsOf } from "./attachment.ts";
import { createFinding, type Finding, type RecordFolder } from "./branch-files.ts";
import { type Compaction, compareCompactions } from "./compaction.ts";
import { parseCompactionLine, parseRecordLine, recordPath } from "./compaction-line.ts";
import { type Event, previousTurn, type Turn } from "./event.ts";
import { type EventRange, eventRangeOf, extendEventRange, replacesTurns } from "./range-location.ts";
import { pairCalls } from "./tool-pairing.ts";
import { parseEventLine, turnPath } from "./turn-file.ts";

/** A turn with the object id of its file. */
export interface StoredTurn extends CheckedTurn {
  readonly oid: string;
}

/** How many things one finding lists. */
const MOST_NAMED = 5;

/** Checks turns against each other. The turn after a missing one is not blamed for the gap. */
export function checkTurns(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  return [...checkChain(turns), ...checkIds(turns), ...checkResults(turns)];
}

function checkChain(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  return turns.flatMap((turn, index) => {
    const before = turns[index - 1];
    if (turn?.previous == null || (index > 0 && before === undefined) || turn.previous === before?.oid) return [];
    const found = index === 0 ? "there is no turn before it" : `turn ${index - 1} is ${before?.oid.slice(0, 9)}`;
    return [
      createFinding("chain_broken", {
        path: turnPath(index),
        message: `turn ${index} was said after turn file ${turn.previous.slice(0, 9)}, but ${found}: no model ever saw these turns in a row`,
        hint: `\`jpg git log --merges -- turns\` shows the merge that put them together; the commits before it have each side whole`,
      }),
    ];
  });
}

function checkIds(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  const seen = new Map<string, number>();
  const findings: Finding[] = [];
  for (const [index, turn] of turns.entries())
    for (const { id } of turn?.events ?? []) {
      const first = seen.get(id);
      if (first === undefined) seen.set(id, index);
      else findings.push(repeated(id, first, index));
    }
  return findings.slice(0, MOST_NAMED);
}

function repeated(id: string, first: number, index: number): Finding {
  const where = first === index ? `twice in turn ${index}` : `in turn ${first} and in turn ${index}`;
  return createFinding("id_repeated", {
    path: turnPath(index),
    message: `the event id ${id} occurs ${where}: a compaction that names it is ambiguous`,
    hint: `\`jpg git log -p -- ${turnPath(index)}\` shows the commit that copied it; revert it`,
  });
}

function checkResults(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  const whole = turns.map((turn, index): Turn => ({ index, events: turn?.events ?? [] }));
  const pairs = pairCalls(whole, () => false);
  const alone = whole.flatMap(({ index, events }) =>
    events.flatMap((event) => (event.type === "tool_call_response" && !pairs.has(event) ? [{ index, event }] : [])),
  );
  return alone.slice(0, MOST_NAMED).map(({ index, event }) =>
    createFinding("result_without_call", {
      path: turnPath(index),
      message: `the result ${event.id} answers no call (${event.call_id})`,
      hint: "it is not sent to models; if the session had it like that, nothing is wrong",
    }),
  );
}

export function checkCompactions(
  compactions: readonly CheckedCompaction[],
  turns: readonly (StoredTurn | undefined)[],
): readonly Finding[] {
  return [...compactions.flatMap((each) => checkBounds(each, turns)), ...checkOverlaps(compactions, turns)];
}

function checkBounds(
  { path, compaction }: CheckedCompaction,
  turns: readonly (StoredTurn | undefined)[],
): readonly Finding[] {
  const { from_turn, to_turn } = compaction;
  if (from_turn >= turns.length || from_turn > to_turn)
    return [
      createFinding("range_beyond_end", {
        path,
        message: `it covers turns ${from_turn}..${to_turn}, and the branch has ${turns.length}: it does nothing`,
        hint: `\`jpg revert ${compaction.id}\` undoes it`,
      }),
    ];
  const bounds = [
    { turn: from_turn, event: compaction.from_event },
    { turn: to_turn, event: compaction.to_event },
  ];
  return bounds.flatMap(({ turn, event }) => {
    const events = turns[turn]?.events;
    if (event === undefined || events === undefined || events.some(({ id }) => id === event)) return [];
    return [
      createFinding("event_missing", {
        path,
        message: `it begins or ends at event ${event}, which is not in turn ${turn}`,
        hint: `\`jpg show ${compaction.id}\` shows what it does; \`jpg revert ${compaction.id}\` undoes it`,
      }),
    ];
  });
}

/** Summaries contain each other or are disjoint; merges and reverts can leave others, and then the newest wins where they overlap. */
function checkOverlaps(
  compactions: readonly CheckedCompaction[],
  turns: readonly (StoredTurn | undefined)[],
): readonly Finding[] {
  const whole = new Map(
    turns.flatMap((turn, index) => (turn ? [[index, { index, events: turn.events }] as const] : [])),
  );
  const facts = { turnCount: turns.length, turns: whole };
  const summaries = compactions.flatMap(({ path, compaction }) => {
    const range = replacesTurns(compaction) ? eventRangeOf(compaction, facts) : null;
    return range === null ? [] : [{ path, compaction, range }];
  });
  return summaries.flatMap(({ path, compaction, range }, index) => {
    const isOverlapped = (other: Compaction): boolean => !isSameRange(extendEventRange(range, [other], facts), range);
    const other = summaries.slice(0, index).find((each) => isOverlapped(each.compaction));
    return other === undefined ? [] : [overlap(path, compaction, other.compaction)];
  });
}

function isSameRange(a: EventRange, b: EventRange): boolean {
  return a.from === b.from && a.fromIndex === b.fromIndex && a.to === b.to && a.toIndex === b.toIndex;
}

function overlap(path: string, compaction: Compaction, other: Compaction): Finding {
  const range = ({ from_turn, to_turn }: Compaction): string => `${from_turn}..${to_turn}`;
  return createFinding("summaries_overlap", {
    path,
    message: `the summary of turns ${range(compaction)} overlaps that of ${range(other)} (${other.id}) in part: both are shown`,
    hint: `\`jpg revert ${compaction.id} ${other.id}\`, then \`jpg compact\` over both ranges`,
  });
}

/** Checks attachments; `used` = the names that events, records or sources refer to. */
export function checkAttachments(present: ReadonlySet<string>, used: ReadonlySet<string>): readonly Finding[] {
  const missing = [...used].filter((name) => !present.has(name));
  const unused = [...present].filter((name) => !used.has(name));
  return [
    ...missing.slice(0, MOST_NAMED).map((name) =>
      createFinding("attachment_missing", {
        path: attachmentPath(name),
        message: "an event refers to it, but it is missing",
        hint: `\`jpg git log --diff-filter=D -- ${attachmentPath(name)}\` shows the commit that removed it; revert that commit`,
      }),
    ),
    ...unused.slice(0, MOST_NAMED).map((name) =>
      createFinding("attachment_unused", {
        path: attachmentPath(name),
        message: "nothing refers to it",
        hint: `it costs space only; \`jpg git log -- ${attachmentPath(name)}\` shows who added it`,
      }),
    ),
  ];
}

interface RecordText {
  readonly folder: RecordFolder;
  readonly path: string;
  readonly text: string;
}

interface CheckedCompaction {
  readonly path: string;
  readonly compaction: Compaction;
}

export interface CheckedRecords {
  /** The readable ones, oldest first. */
  readonly compactions: readonly CheckedCompaction[];
  /** Names of the attachments that settings refer to: definitions of tools. */
  readonly attachments: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

export function checkRecords(records: readonly RecordText[]): CheckedRecords {
  const findings: Finding[] = [];
  const compactions: CheckedCompaction[] = [];
  const attachments = new Set<string>();
  const paths = new Map<string, string>();
  for (const { folder, path, text } of records) {
    const record = parseOrReport({ folder, path, text }, findings);
    if (record === null) continue;
    if (folder === "compactions") compactions.push({ path, compaction: record as unknown as Compaction });
    if (folder === "config") for (const name of attachmentsNamed(record)) attachments.add(name);
    appendAll(findings, checkName(folder, path, record));
    appendAll(findings, checkType(folder, path, record));
    const key = `${folder} ${String(record["id"])}`;
    const other = paths.get(key);
    if (other !== undefined) findings.push(repeatedRecord(path, other));
    paths.set(key, path);
  }
  compactions.sort((a, b) => compareCompactions(a.compaction, b.compaction));
  return { compactions, attachments, findings };
}

/** Lists the attachments that a record refers to; none if a name is malformed. */
function attachmentsNamed(record: Fields): readonly string[] {
  try {
    return attachmentsOf(record as unknown as Event);
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parseOrReport({ folder, path, text }: RecordText, findings: Finding[]): Fields | null {
  try {
    if (folder === "compactions") return parseCompactionLine(text, path) as unknown as Fields;
    return parseRecordLine(text, path);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    findings.push(
      createFinding("record_malformed", {
        path,
        message: `it is not a ${folder === "compactions" ? "compaction" : "record"}: ${String(error.data["reason"] ?? error.message)}`,
        hint: `it has no effect; \`jpg git log -p -- ${path}\` shows who changed it, \`jpg git rm -- ${path}\` and a commit remove it`,
      }),
    );
    return null;
  }
}

function checkName(folder: RecordFolder, path: string, record: Fields): readonly Finding[] {
  const expected = nameOf(folder, record);
  if (expected === path) return [];
  return [
    createFinding("record_misnamed", {
      path,
      message:
        expected === null ? "its id or time does not fit a file name" : `from its id and time it should be ${expected}`,
      hint: "only the content counts, but with a different name two records could have the same id",
    }),
  ];
}

function nameOf(folder: RecordFolder, record: Fields): string | null {
  try {
    return recordPath(folder, String(record["timestamp"]), String(record["id"]));
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}

function checkType(folder: RecordFolder, path: string, record: Fields): readonly Finding[] {
  if (folder !== "config" || record["type"] === "config_delta") return [];
  return [
    createFinding("record_malformed", {
      path,
      message: `its type is ${JSON.stringify(record["type"])}, expected config_delta`,
      hint: `it has no effect; \`jpg git log -- ${path}\` shows who added it`,
    }),
  ];
}

function repeatedRecord(path: string, other: string): Finding {
  return createFinding("record_repeated", {
    path,
    message: `it has the id of ${other}`,
    hint: "of two records with one id the later counts; remove the one that was copied: `jpg git rm -- PATH` and a commit",
  });
}

// Checks one turn file by itself, and collects what the checks of the whole conversation need. Continues after a malformed
// line.

/** The checked content of a turn file: a function of the file's bytes and position alone. */
interface CheckedTurn {
  readonly events: readonly Event[];
  /** Object id of the turn file before it when it was written; null when it does not say. */
  readonly previous: string | null;
  /** Names of payloads that its events refer to. */
  readonly attachments: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?$/;

/** Checks the lines of a turn file (with or without their line ends); `path` names it in findings. */
export function checkTurnFile(lines: Iterable<string>, path: string): CheckedTurn {
  const findings: Finding[] = [];
  const events: Event[] = [];
  const attachments = new Set<string>();
  let line = 0;
  for (const text of lines) {
    line += 1;
    const event = parseEventOrReport(text, { path, line }, findings);
    if (event === null) continue;
    events.push(event);
    appendAll(findings, checkEvent(event, { path, line, isFirst: events.length === 1 && line === 1 }));
    for (const name of namesOf(event, { path, line }, findings)) attachments.add(name);
  }
  const [first] = events;
  if (line === 0 || (first !== undefined && first.type !== "turn_start")) findings.push(withoutStart(path, line));
  return { events, previous: previousTurn(events), attachments, findings };
}

interface Place {
  readonly path: string;
  readonly line: number;
}

function parseEventOrReport(text: string, { path, line }: Place, findings: Finding[]): Event | null {
  try {
    return parseEventLine(text, { file: path, line });
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    const reason = String(error.data["reason"] ?? error.message);
    findings.push(
      createFinding("turn_malformed", {
        path,
        line,
        message: `line ${line} is not an event: ${reason}`,
        hint: `\`jpg git log -p -- ${path}\` shows who changed it; \`jpg git checkout COMMIT -- ${path}\` and a commit restore it`,
      }),
    );
    return null;
  }
}

function checkEvent(event: Event, { path, line, isFirst }: Place & { readonly isFirst: boolean }): readonly Finding[] {
  const findings: Finding[] = [];
  if (event.type === "turn_start" && !isFirst)
    findings.push(
      createFinding("turn_start_missing", {
        path,
        line,
        message: `line ${line} opens another turn: a turn is a file`,
        hint: `\`jpg git log -p -- ${path}\` shows which commit joined two turns; revert it`,
      }),
    );
  if (typeof event.timestamp === "string" && !TIME.test(event.timestamp))
    findings.push(
      createFinding("time_malformed", {
        path,
        line,
        message: `the time of event ${event.id} is ${JSON.stringify(event.timestamp.slice(0, 40))}, not RFC 3339 in UTC`,
        hint: "bounds by time skip it; nothing else needs it",
      }),
    );
  return findings;
}

function namesOf(event: Event, { path, line }: Place, findings: Finding[]): readonly string[] {
  try {
    return attachmentsOf(event);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    findings.push(
      createFinding("turn_malformed", {
        path,
        line,
        message: error.message,
        hint: `\`jpg git log -p -- ${path}\` shows who changed it`,
      }),
    );
    return [];
  }
}

function withoutStart(path: string, lines: number): Finding {
  return createFinding("turn_start_missing", {
    path,
    message: lines === 0 ? "the file is empty" : "the first event is not a turn_start",
    hint: `\`jpg git log -p -- ${path}\` shows which commit changed it; revert it`,
  });
}
