// Contexts that a program in the running agent, such as jpg, put in place of the agent's own. The agent writes a boundary without a
// summary, then the whole new context as rows: copies of rows under new ids, and rows built from what the program said. These rows
// repeat or shorten what the file has already, so they are no turns.
import { appendAll } from "../../core/lists.ts";
import { isRecord, type ParsedLines, type RawLine } from "../session-source.ts";
import { type LineEntry, messageBlocks, type SessionIndex } from "./session-index.ts";

/** A new context. */
export interface Answer {
  readonly boundary: LineEntry;
  /** Its rows as indexed, in file order, with what the agent wrote between them. Never empty. */
  readonly rows: readonly LineEntry[];
  /** The line with jpg's mark that announces it. */
  readonly mark?: LineEntry;
  /** Whether the file goes on after it. Otherwise more rows of it may follow. */
  readonly isWhole: boolean;
  /** The row that each copied row repeats. */
  readonly originals: ReadonlyMap<LineEntry, LineEntry>;
}

export interface AnsweredIndex {
  /** The index, in which rows of answers are `repeated`. */
  readonly index: SessionIndex;
  /** The answers by their rows in that index, each with the row as it was indexed before. */
  readonly answers: ReadonlyMap<LineEntry, { readonly answer: Answer; readonly row: LineEntry }>;
}

/** Finds the answers of a session. Only rows that are shown to repeat something, or to be built, count. */
export function findAnswers(lines: ParsedLines, index: SessionIndex): AnsweredIndex {
  const drafts = findDrafts(index);
  if (drafts.length === 0) return { index, answers: new Map() };
  const said = findSaid(lines, index, drafts);
  const found = drafts.flatMap((draft) => checkDraft(lines, said, draft) ?? []);
  return markRepeated(index, found);
}

/** A boundary without a summary, and the rows after it that are no younger: those of an answer, and perhaps others. */
interface AnswerDraft {
  readonly boundary: LineEntry;
  readonly mark?: LineEntry;
  readonly rows: readonly LineEntry[];
  /** Whether the file goes on after the rows. */
  readonly isFollowed: boolean;
}

function findDrafts(index: SessionIndex): readonly AnswerDraft[] {
  if (!index.entries.some(({ kind, kept }) => kind === "boundary" && kept === undefined)) return [];
  const entries = [...index.entries].filter(({ isSidechain }) => !isSidechain);
  entries.sort((a, b) => a.firstLine - b.firstLine);
  const drafts: AnswerDraft[] = [];
  let mark: LineEntry | undefined;
  let hasMessages = false;
  for (const [position, entry] of entries.entries()) {
    if (entry.kind === "boundary") {
      if (hasMessages && entry.kept === undefined) appendAll(drafts, draftAt(entries, position, mark));
      mark = undefined;
    } else if (entry.mark !== undefined) mark = entry;
    else if (entry.isMessage) {
      mark = undefined;
      hasMessages = true;
    }
  }
  return drafts;
}

/** The agent writes an answer at one time: neither a younger row nor side data is in between. */
function draftAt(entries: readonly LineEntry[], position: number, mark: LineEntry | undefined): readonly AnswerDraft[] {
  const boundary = entries[position] as LineEntry;
  const isOwn = ({ uuid, kind, timestamp }: LineEntry): boolean =>
    uuid !== undefined && kind !== "boundary" && kind !== "summary" && timestamp <= boundary.timestamp;
  let end = position + 1;
  for (let entry = entries[end]; entry !== undefined && isOwn(entry); entry = entries[end]) end++;
  const rows = entries.slice(position + 1, end);
  return rows.length === 0 ? [] : [{ boundary, mark, rows, isFollowed: end < entries.length }];
}

/** What was said before an answer. */
interface Said {
  /** The first row with these words and this time. */
  readonly rows: ReadonlyMap<string, LineEntry>;
  /** By call: the first line with its result. */
  readonly results: ReadonlyMap<string, number>;
}

/** Reads the rows that have the time of a row after a boundary: a copy keeps it. */
function findSaid(lines: ParsedLines, { entries }: SessionIndex, drafts: readonly AnswerDraft[]): Said {
  const times = new Set(drafts.flatMap(({ rows }) => rows.map(({ timestamp }) => timestamp)));
  const messages = entries.filter(({ isMessage, isSidechain }) => isMessage && !isSidechain);
  const inOrder = messages.sort((a, b) => b.firstLine - a.firstLine);
  const named = inOrder.filter(({ timestamp }) => times.has(timestamp));
  const results = inOrder.filter(({ kind }) => kind === "result");
  // Of several with one name the first in the file is set last.
  return {
    rows: new Map(named.map((entry) => [nameOfRow(lines, entry), entry])),
    results: new Map(results.flatMap(({ calls = [], firstLine }) => calls.map((call) => [call, firstLine] as const))),
  };
}

/** A row's time and words. */
function nameOfRow(lines: ParsedLines, entry: LineEntry): string {
  const raw = rawOf(lines, entry);
  return JSON.stringify([entry.timestamp, raw["type"], messageBlocks(raw) ?? raw["message"]]);
}

function rawOf(lines: ParsedLines, entry: LineEntry): RawLine {
  const raw = lines.at(entry.line);
  return isRecord(raw) ? raw : {};
}

/** The rows of a draft that are the answer's; null = it is none. */
function checkDraft(lines: ParsedLines, said: Said, draft: AnswerDraft): Answer | null {
  const { boundary, mark, rows, isFollowed } = draft;
  const originals = new Map<LineEntry, LineEntry>();
  const most = mark?.mark?.rows ?? Number.POSITIVE_INFINITY;
  let messages = 0;
  let isSure = true;
  const isOther = (row: LineEntry): boolean => {
    if (!row.isMessage) return false;
    const original = said.rows.get(nameOfRow(lines, row));
    const isCopy = original !== undefined && original.firstLine < boundary.firstLine;
    const isOwn = isCopy || isBuiltRow(rawOf(lines, row)) || repeatsResult(said, boundary, row);
    // The agent never shows a program its own words, so no answer names them: their copies come along with the row before them.
    if (isCopy && row.isMeta === true) {
      originals.set(row, original);
      return false;
    }
    // Versions before 2.1.332 do not say of all rows that they are built. jpg's mark counts them.
    if (messages === most || !(isOwn || (mark !== undefined && mayBeBuilt(row)))) return true;
    if (isCopy) originals.set(row, original);
    isSure &&= isOwn;
    messages++;
    return false;
  };
  const other = rows.findIndex(isOther);
  const own = other < 0 ? rows : rows.slice(0, other);
  const isAnnounced = mark !== undefined && messages === most;
  if (messages === 0 || !(isSure || isAnnounced)) return null;
  return { boundary, rows: own, mark: isAnnounced ? mark : undefined, isWhole: isFollowed || other >= 0, originals };
}

/** The line of a `/command` after a boundary is the agent's own; its caveat before it may be built, as long as the mark still counts. */
function mayBeBuilt({ kind }: LineEntry): boolean {
  return kind !== "command";
}

/** Whether the agent says that it built a row from what a program said. */
function isBuiltRow(raw: RawLine): boolean {
  return raw["type"] === "assistant" ? raw["madeBy"] === "other" : raw["rowSource"] === "hook";
}

/** Whether a row has only results that were there before. */
function repeatsResult({ results }: Said, boundary: LineEntry, { kind, calls = [] }: LineEntry): boolean {
  return kind === "result" && calls.every((call) => (results.get(call) ?? boundary.firstLine) < boundary.firstLine);
}

/**
 * Rows of answers as nodes that say nothing. What follows the last row of an answer follows its boundary. What follows an earlier
 * one went back: it follows what was said before the next prompt that the answer kept.
 */
function markRepeated(index: SessionIndex, found: readonly Answer[]): AnsweredIndex {
  const repeated = new Map<LineEntry, LineEntry>();
  const answers = new Map<LineEntry, { readonly answer: Answer; readonly row: LineEntry }>();
  for (const answer of found) {
    let parent = answer.boundary.uuid;
    for (const row of answer.rows.toReversed()) {
      const { line, firstLine, uuid, timestamp } = row;
      const node = { line, firstLine, uuid, timestamp, parent, answers: answer.boundary.uuid };
      const entry: LineEntry = { ...node, kind: "repeated", isMessage: false, isSidechain: false };
      repeated.set(row, entry);
      answers.set(entry, { answer, row });
      const original = row.kind === "prompt" ? answer.originals.get(row) : undefined;
      parent = original?.parent ?? parent;
    }
  }
  const entries = index.entries.map((entry) => repeated.get(entry) ?? entry);
  const nodes = new Map([...index.nodes].map(([uuid, entry]) => [uuid, repeated.get(entry) ?? entry] as const));
  return { index: { ...index, entries, nodes }, answers };
}
