// The answer of a model that was asked for tangents: positions of turns with reasons, as JSON. Models wrap, abbreviate and invent;
// what can be read without guessing is read, and a position that may not be left out never gets through.
import { fieldsOf } from "../event/fields.ts";
import { cutEnd, oneLine } from "../extract/short-text.ts";

/** A turn that is off the task. */
export interface Tangent {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly reason: string;
}

export interface TangentAnswer {
  /** Each turn once, in order; may be empty: there need be no tangents. */
  readonly tangents: readonly Tangent[];
  /** What was left out of the answer, as sentences. */
  readonly problems: readonly string[];
}

const REASON_CHARS = 300;
const LISTS = ["tangents", "tangential_turns", "turns", "result"] as const;
const POSITIONS = ["turn", "turns", "turn_index", "index", "position", "id"] as const;
const REASONS = ["reason", "why", "explanation"] as const;
/** Turns that one entry may name as a range. */
const MOST_OF_ENTRY = 1000;

/** Reads an answer; `mayGo` tells which turns may be left out. Null when it holds no list of turns. */
export function parseTangentAnswer(text: string, mayGo: (turn: number) => boolean): TangentAnswer | null {
  const list = candidates(text)
    .map((candidate) => listIn(parseJson(candidate)))
    .find((found) => found !== null);
  if (list === undefined) return null;
  const reasons = new Map<number, string>();
  const problems: string[] = [];
  for (const entry of list) {
    const positions = positionsOf(entry);
    if (positions === null) problems.push(`not understood: ${cutEnd(oneLine(JSON.stringify(entry)), 80)}`);
    for (const turn of positions ?? []) {
      if (!mayGo(turn)) problems.push(`turn ${turn} was named, but is none that may be left out`);
      else if (!reasons.has(turn)) reasons.set(turn, reasonOf(entry));
    }
  }
  const tangents = [...reasons].map(([turn, reason]) => ({ turn, reason })).sort((a, b) => a.turn - b.turn);
  return { tangents, problems: [...new Set(problems)] };
}

/** The places where JSON may stand: the whole text, fenced blocks, an object or a list of objects amid words. */
function candidates(text: string): readonly string[] {
  const plain = text.replace(/^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/, "");
  const fenced = [...plain.matchAll(/```(?:json)?[^\S\n]*\n([\s\S]*?)```/g)].map(([, inner]) => inner ?? "");
  const amid = [/\{[\s\S]*\}/, /\[\s*\{[\s\S]*\]/].map((pattern) => pattern.exec(plain)?.[0] ?? "");
  return [plain, ...fenced.reverse(), ...amid].filter((part) => part.trim() !== "");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the next place is tried
  }
}

function listIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  const fields = fieldsOf(value);
  return LISTS.map((name) => fields[name]).find((list) => Array.isArray(list)) ?? null;
}

/** The turns that an entry names: a number, a text such as `5`, `turn 5` or `5-7`, or an object with one of these. */
function positionsOf(entry: unknown): readonly number[] | null {
  if (typeof entry === "number") return Number.isSafeInteger(entry) && entry >= 0 ? [entry] : null;
  if (typeof entry === "string") return rangeIn(entry);
  if (Array.isArray(entry)) {
    const all = entry.map(positionsOf);
    return entry.length > 0 && all.every((positions) => positions !== null) ? all.flat() : null;
  }
  const fields = fieldsOf(entry);
  const key = POSITIONS.find((name) => fields[name] !== undefined);
  return key === undefined ? null : positionsOf(fields[key]);
}

function rangeIn(text: string): readonly number[] | null {
  const match = /^\s*(?:turns?\s*)?#?(\d{1,9})(?:\s*(?:-|–|\.\.|to)\s*(\d{1,9}))?\s*$/i.exec(text);
  if (match === null) return null;
  const from = Number(match[1]);
  const to = match[2] === undefined ? from : Number(match[2]);
  if (to < from || to - from >= MOST_OF_ENTRY) return null;
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

function reasonOf(entry: unknown): string {
  const fields = fieldsOf(entry);
  const reason = REASONS.map((name) => fields[name]).find((value) => typeof value === "string");
  return cutEnd(oneLine(reason ?? ""), REASON_CHARS);
}
