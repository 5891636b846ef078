// Parses the answer of a model that was asked for tangents: positions of turns with reasons, as JSON. Models wrap, abbreviate and invent:
// whatever can be read without guessing is read, and a position that may not be left out never gets through.
import type { Compaction } from "../conversation/compaction.ts";
import { fieldsOf, rangesIntersect, type Turn, type TurnRange } from "../conversation/event.ts";
import { gather } from "./gather.ts";
import { cutEnd, cutMiddle, oneLine, spokenLine } from "./passages.ts";

/** A turn that is off the task. */
export interface Tangent {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly reason: string;
}

export interface TangentAnswer {
  /** Each turn once, in order; may be empty. */
  readonly tangents: readonly Tangent[];
  /** What was dropped from the answer, as sentences. */
  readonly problems: readonly string[];
}

const REASON_CHARS = 300;
const LISTS = ["tangents", "tangential_turns", "turns", "result"] as const;
const POSITIONS = ["turn", "turns", "turn_index", "index", "position", "id"] as const;
const REASONS = ["reason", "why", "explanation"] as const;
/** Most turns that one entry may name as a range. */
const MOST_OF_ENTRY = 1000;

/** Reads an answer; `mayGo` = whether a turn may be left out. Null when there is no list of turns. */
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
      if (!mayGo(turn)) problems.push(`turn ${turn} was named, but may not be left out`);
      else if (!reasons.has(turn)) reasons.set(turn, reasonOf(entry));
    }
  }
  const tangents = [...reasons].map(([turn, reason]) => ({ turn, reason })).sort((a, b) => a.turn - b.turn);
  return { tangents, problems: [...new Set(problems)] };
}

/** The texts that may be JSON: the whole text, fenced blocks, an object or a list of objects amid words. */
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
    return undefined; // the next candidate is tried
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

// How separate turns are left out: by as few compactions as possible. One covers from the first to the last of them and keeps what lies
// between by name (`keep`). But `keep` also ends what older compactions say about an event: if one of them shortens something in between,
// it would come back whole, so the compaction ends there and another begins.

/** One compaction that leaves turns out. Positions 0-based, inclusive. */
interface Omission extends TurnRange {
  /** Ids of the events of the turns inside the range that stay; empty when it has no gap. */
  readonly keep: readonly string[];
}

/** Most events that one compaction keeps by name: compactions are read with each view. */
const MOST_KEPT = 2000;

/**
 * Plans the omission of runs of turns (0-based, inclusive, ascending, not adjacent), oldest first. `turns` must contain those between them.
 */
export function planOmissions(
  runs: readonly TurnRange[],
  { turns, compactions }: { readonly turns: ReadonlyMap<number, Turn>; readonly compactions: readonly Compaction[] },
): readonly Omission[] {
  const omissions: Omission[] = [];
  for (const run of runs) {
    const last = omissions.at(-1);
    const gap = last === undefined ? null : { from: last.to + 1, to: run.from - 1 };
    const kept = gap === null || isTouched(gap, compactions) ? null : eventsIn(gap, turns);
    if (last === undefined || kept === null || last.keep.length + kept.length > MOST_KEPT) {
      omissions.push({ from: run.from, to: run.to, keep: [] });
    } else {
      omissions[omissions.length - 1] = { from: last.from, to: run.to, keep: [...last.keep, ...kept] };
    }
  }
  return omissions;
}

function isTouched(gap: TurnRange, compactions: readonly Compaction[]): boolean {
  return compactions.some(({ from_turn, to_turn }) => rangesIntersect(gap, { from: from_turn, to: to_turn }));
}

/** Null when a turn is not loaded: only events with a known id can be kept. */
function eventsIn(gap: TurnRange, turns: ReadonlyMap<number, Turn>): readonly string[] | null {
  const ids: string[] = [];
  for (let position = gap.from; position <= gap.to; position += 1) {
    const turn = turns.get(position);
    if (turn === undefined) return null;
    for (const { id } of turn.events) ids.push(id);
  }
  return ids;
}

// The turns of a conversation as a model reads them to find tangents: numbered, each with what was asked, answered and worked on, short
// enough for all to fit. Text of the conversation follows labels on lines of its own.

/** Longest and shortest text of one turn, characters. */
const MOST_CHARS = 900;
const LEAST_CHARS = 120;
/** Share of it for the request, then for the answer; the rest is for files and tools. */
const REQUEST_SHARE = 0.45;
const ANSWER_SHARE = 0.35;
/** The newest turns show what the task is now and have this much more. */
const NEWEST_TURNS = 3;
const NEWEST_FACTOR = 3;

/**
 * Renders turns in about `chars` characters; null when they are too many for even the shortest form. `isOpen` = whether a turn may be left
 * out: the others are marked.
 */
export function renderTurns(
  turns: readonly Turn[],
  { chars, isOpen }: { readonly chars: number; readonly isOpen: (turn: number) => boolean },
): string | null {
  const share = chars / (turns.length + NEWEST_TURNS * (NEWEST_FACTOR - 1));
  if (turns.length > 0 && share < LEAST_CHARS) return null;
  const limit = Math.min(MOST_CHARS, share);
  return turns
    .map((turn, at) => {
      const isNewest = at >= turns.length - NEWEST_TURNS;
      return renderTurn(turn, { limit: isNewest ? limit * NEWEST_FACTOR : limit, isOpen: isOpen(turn.index) });
    })
    .join("\n");
}

function renderTurn(turn: Turn, { limit, isOpen }: { readonly limit: number; readonly isOpen: boolean }): string {
  const found = gather(turn.events.map((event) => ({ turn: turn.index, event })));
  const request = oneLine(found.requests.map(({ text }) => text).join(" / "));
  const answer = spokenLine(found.answers.at(-1)?.text ?? "");
  const work = [...found.modified, ...found.read].join(", ");
  return [
    `turn ${turn.index}${isOpen ? "" : " (stays)"}`,
    `  request: ${cutEnd(request, Math.floor(limit * REQUEST_SHARE)) || "none"}`,
    ...(answer === "" ? [] : [`  answer: ${cutMiddle(answer, Math.floor(limit * ANSWER_SHARE))}`]),
    ...(found.tools.length === 0 ? [] : [`  tools: ${cutEnd(found.tools.join(", "), 80)}`]),
    ...(work === "" ? [] : [`  files: ${cutEnd(work, Math.floor(limit * (1 - REQUEST_SHARE - ANSWER_SHARE)))}`]),
  ].join("\n");
}
