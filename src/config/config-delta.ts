// The conversation's layer: one file per change under config/, one line each. A damaged or foreign file never keeps a
// conversation from being read; it comes as a delta with a problem and is reported.
import { compareTimestamps } from "../core/conversation/compaction.ts";
import { isFields } from "../core/conversation/event.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../core/json.ts";

/** A config delta as read from its file. */
export interface StoredDelta {
  readonly file: string;
  /** Turn position from which it holds, 0-based; 0 when the file names none. */
  readonly at_turn: number;
  readonly timestamp: string;
  readonly id: string;
  readonly delta: unknown;
  /** Why the file could not be read as a delta; then `delta` is undefined. */
  readonly problem?: string;
}

/** Parses the content of a delta's file; a content that is none gives a delta with a `problem`. */
export function parseConfigDelta(text: string, file: string): StoredDelta {
  const record = parseRecord(text);
  if (record === null) return damaged(file, "expected one line of JSON, an object");
  const { type, id, timestamp, at_turn: atTurn = 0, delta } = record;
  if (type !== "config_delta") return damaged(file, 'expected the type "config_delta"');
  if (typeof id !== "string" || typeof timestamp !== "string")
    return damaged(file, "expected the texts id and timestamp");
  if (typeof atTurn !== "number" || !Number.isInteger(atTurn) || atTurn < 0) {
    return damaged(file, "expected at_turn to be a turn position, 0 or more");
  }
  return { file, at_turn: atTurn, timestamp, id, delta };
}

/**
 * Selects the deltas that hold at a turn (0-based; absent = the newest), oldest first: the later one wins. A `null` takes back
 * what older ones set there, key or table: neither it nor these are in what is given.
 */
export function selectDeltas(deltas: readonly StoredDelta[], turn: number = Number.POSITIVE_INFINITY): StoredDelta[] {
  const taken: Taken = new Map();
  const newestFirst = deltas.filter(({ at_turn }) => at_turn <= turn).sort((a, b) => compareDeltas(b, a));
  const held = newestFirst.map((stored) => {
    const delta = withoutTaken(stored.delta, taken);
    takeBack(stored.delta, taken);
    return { ...stored, delta };
  });
  return held.reverse();
}

/** What newer deltas take back, by name; null = all that stands there. */
type Taken = Map<string, Taken | null>;

function withoutTaken(table: unknown, taken: Taken): unknown {
  if (!isFields(table)) return table;
  const kept = Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const inner = taken.get(name);
    if (inner === null || value === null) return [];
    const left = withoutTaken(value, inner ?? new Map());
    return isEmpty(left) && !isEmpty(value) ? [] : [[name, left]];
  });
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  return isFields(value) && Object.keys(value).length === 0;
}

function takeBack(table: unknown, taken: Taken): void {
  for (const [name, value] of isFields(table) ? Object.entries(table) : []) {
    const known = taken.get(name);
    if (value === null) taken.set(name, null);
    if (known === null || !isFields(value)) continue;
    const inner = known ?? new Map();
    takeBack(value, inner);
    if (inner.size > 0) taken.set(name, inner);
  }
}

function compareDeltas(a: StoredDelta, b: StoredDelta): number {
  const byTime = compareTimestamps(a.timestamp, b.timestamp);
  if (byTime !== 0) return byTime;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function damaged(file: string, problem: string): StoredDelta {
  return { file, at_turn: 0, timestamp: "", id: "", delta: undefined, problem };
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && !isTooDeep(text, value, MAX_RECORD_DEPTH) ? { ...value } : null;
  } catch {
    return null; // reported by the caller as a damaged file
  }
}
