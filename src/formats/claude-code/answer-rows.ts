// What Claude Code sends for an answer when it resumes the session. It is the answer, unless copies of an assistant message's rows
// or of a tool's result are in it: the agent finds the rows that they were copied from, too. Found by watching it.
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { createGraph, type SessionGraph, startsNewContext } from "./active-path.ts";
import type { Answer } from "./answers.ts";
import { readLineEvents, type TurnPlan } from "./events.ts";
import { findEmptyMessages, isSent, type LineEntry, type SessionIndex } from "./session-index.ts";

/** The rows that stand for what came before a place in an answer. */
export interface AnswerRows {
  /** Those that a resumed session sends, in order. */
  readonly rows: readonly LineEntry[];
  /** Whether the running agent sent others. */
  readonly differs: boolean;
}

/** Returns the rows for an answer up to one of its rows. All calls together take a number of steps that rises with the file's size. */
export type AnswerReader = (answer: Answer, last: LineEntry) => AnswerRows;

/** Creates the reader of a session's answers; `index` is the one without `repeated` rows. */
export function createAnswerReader(index: SessionIndex): AnswerReader {
  let reading: ResumeReading | undefined;
  return (answer, last) => {
    const rows = answer.rows.slice(0, answer.rows.indexOf(last) + 1);
    const live = rows.filter(({ kind }) => isSent(kind));
    if (!mayDiffer(answer, rows)) return { rows: live, differs: false };
    reading ??= createResumeReading(index);
    const resumed = readResumed(reading, last);
    return resumed === null ? { rows: live, differs: true } : { rows: resumed, differs: !isSameList(live, resumed) };
  };
}

/** Whether an answer has a copied row of an assistant message, or a row that follows one outside of it. */
function mayDiffer({ boundary, originals }: Answer, rows: readonly LineEntry[]): boolean {
  const own = new Set([boundary.uuid, ...rows.map(({ uuid }) => uuid)]);
  return rows.some((row) => (row.messageId !== undefined && originals.has(row)) || !own.has(row.parent));
}

function isSameList(a: readonly LineEntry[], b: readonly LineEntry[]): boolean {
  return a.length === b.length && a.every((entry, at) => entry === b[at]);
}

/** What resuming looks up in the whole file. */
interface ResumeReading {
  readonly graph: SessionGraph;
  /** Rows of each assistant message, in file order. */
  readonly messages: ReadonlyMap<string, readonly LineEntry[]>;
  /** Results by the uuid of the row that they follow, in file order. */
  readonly results: ReadonlyMap<string, readonly LineEntry[]>;
  /** Steps that are left: a hostile file must not take a square of its lines. */
  steps: number;
}

/** Steps for each line of the file: more than the sessions of a program that answers often need. */
const STEPS_PER_LINE = 50;

function createResumeReading(index: SessionIndex): ResumeReading {
  const messages = new Map<string, LineEntry[]>();
  const results = new Map<string, LineEntry[]>();
  const add = (map: Map<string, LineEntry[]>, key: string, entry: LineEntry): void => {
    const list = map.get(key);
    if (list === undefined) map.set(key, [entry]);
    else list.push(entry);
  };
  for (const entry of index.entries) {
    if (entry.isSidechain) continue;
    if (entry.messageId !== undefined) add(messages, entry.messageId, entry);
    if (entry.kind === "result" && entry.parent !== undefined) add(results, entry.parent, entry);
  }
  return { graph: createGraph(index), messages, results, steps: STEPS_PER_LINE * index.entries.length };
}

/** The rows from the newest boundary above a row to the row, and what the agent finds to them. Null = the steps are used up. */
function readResumed(reading: ResumeReading, last: LineEntry): readonly LineEntry[] | null {
  const chain = chainTo(reading, last);
  if (chain === null) return null;
  const onChain = new Set(chain);
  const done = new Set<string>();
  const rows: LineEntry[] = [];
  for (const entry of chain) {
    const id = entry.kind === "assistant" ? entry.messageId : undefined;
    if (id === undefined) rows.push(entry);
    else if (!done.has(id)) {
      done.add(id);
      const found = findMessage(reading, id, last);
      if (reading.steps < 0) return null;
      appendAll(rows, joinMessage(found.rows, onChain));
      appendAll(
        rows,
        found.results.filter((result) => !onChain.has(result)),
      );
    }
  }
  return firstResults(rows).filter(({ kind }) => isSent(kind) || kind === "summary");
}

/** The rows of an assistant message and the results that follow them, as far as the file had them with a row. */
function findMessage(
  reading: ResumeReading,
  id: string,
  last: LineEntry,
): { readonly rows: readonly LineEntry[]; readonly results: readonly LineEntry[] } {
  const isThere = ({ firstLine }: LineEntry): boolean => firstLine <= last.firstLine;
  const all = reading.messages.get(id) ?? [];
  const rows = all.filter(isThere);
  const found = rows.flatMap(({ uuid }) => reading.results.get(uuid ?? "") ?? []);
  reading.steps -= all.length + found.length;
  return { rows, results: found.filter(isThere) };
}

/** Rows without results of a call for which the file has an earlier one among them. */
function firstResults(rows: readonly LineEntry[]): readonly LineEntry[] {
  const first = new Map<string, LineEntry>();
  for (const row of rows) {
    for (const call of row.kind === "result" ? (row.calls ?? []) : []) {
      const other = first.get(call);
      if (other === undefined || row.firstLine < other.firstLine) first.set(call, row);
    }
  }
  return rows.filter((row) => row.kind !== "result" || (row.calls ?? []).some((call) => first.get(call) === row));
}

/** From the newest boundary above a row, without it, to the row; what the boundary keeps follows its summary. */
function chainTo(reading: ResumeReading, last: LineEntry): readonly LineEntry[] | null {
  const { graph } = reading;
  const seen = new Set<LineEntry>();
  let at: LineEntry | undefined = last;
  for (; at !== undefined && !seen.has(at) && !startsNewContext(at); at = graph.parentOf(at)) {
    seen.add(at);
    if (--reading.steps < 0) return null;
  }
  const rows = [...seen].reverse();
  if (at?.kind !== "summary") return rows;
  const boundary = graph.parentOf(at);
  const kept = boundary?.kind === "boundary" ? graph.keptBy(boundary) : [];
  reading.steps -= kept.length;
  return [at, ...kept.filter((entry) => !seen.has(entry)), ...rows];
}

/**
 * All rows of an assistant message of which the path has some: a row that it lacks follows the row of the message before it that
 * it has, or its first. The calls come last, each once.
 */
function joinMessage(group: readonly LineEntry[], onChain: ReadonlySet<LineEntry>): readonly LineEntry[] {
  const own = group.filter((row) => onChain.has(row));
  if (own.length === group.length) return group;
  const after = new Map<LineEntry, LineEntry[]>(own.map((row) => [row, []]));
  let place = own[0];
  for (const row of group) {
    if (onChain.has(row)) place = row;
    else if (place !== undefined) after.get(place)?.push(row);
  }
  const joined = own.flatMap((row) => [row, ...(after.get(row) ?? [])]);
  const calls = new Map(joined.flatMap((row) => (row.calls ?? []).map((call) => [call, row] as const)));
  const last = new Set(calls.values());
  return [...joined.filter(({ calls: made }) => made === undefined), ...joined.filter((row) => last.has(row))];
}

/** Reads rows as the events of a replacement, named after its compaction. */
export function eventsOfRows(plan: TurnPlan, rows: readonly LineEntry[], compaction: string): readonly Event[] {
  const summaries = rows.filter(({ kind }) => kind === "summary");
  const reading: TurnPlan = {
    ...plan,
    requests: new Set([...plan.requests, ...summaries]),
    notes: new Set(),
    empty: findEmptyMessages(rows),
  };
  const events = rows.flatMap((row) => readLineEvents(reading, row)).filter((event) => traitsOf(event).providerVisible);
  return events.map((event, at) => ({ ...withoutUsage(event), id: `${compaction}.${at}` }));
}

/** The tokens of an answer are counted where it was given. */
function withoutUsage(event: Event): Event {
  if (event.metadata?.["usage"] === undefined) return event;
  const { usage: _, ...metadata } = event.metadata;
  return { ...event, metadata } as Event;
}
